// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// TestSignVectors holds requests that a broker with aclEnable=true accepted
// (rocketmq.md 2.1).
func TestSignVectors(t *testing.T) {
	for _, tc := range []struct {
		name string
		cmd  Command
		want string
	}{
		{"UPDATE_AND_CREATE_TOPIC", Command{Code: 17, ExtFields: map[string]string{
			"topic": "T", "defaultTopic": "TBW102", "readQueueNums": "8", "writeQueueNums": "8", "perm": "6",
			"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
		}}, "lXBPFRbnKlXBaWppirmXnvasKGg="},
		{"UPDATE_AND_CREATE_SUBSCRIPTIONGROUP", Command{Code: 200, Body: []byte(`{"groupName": "GX", "consumeEnable": true}`)},
			"isNtLQ9ntmpnqP/NYjcJOC/04AA="},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			given := maps.Clone(tc.cmd.ExtFields)
			shared := tc.cmd.ExtFields
			Sign(&tc.cmd, Credentials{AccessKey: "rocketmq2", SecretKey: "12345678"})
			g.Expect(tc.cmd.ExtFields).To(HaveKeyWithValue("Signature", tc.want))
			g.Expect(tc.cmd.ExtFields).To(HaveKeyWithValue("AccessKey", "rocketmq2"))
			g.Expect(tc.cmd.ExtFields).NotTo(HaveKey("SecurityToken"))
			g.Expect(shared).To(Equal(given), "the map of the caller is not touched")

			again := tc.cmd
			Sign(&again, Credentials{AccessKey: "rocketmq2", SecretKey: "12345678"})
			g.Expect(again.ExtFields).To(Equal(tc.cmd.ExtFields), "a second signature replaces the first")
		})
	}
}

func TestSignToken(t *testing.T) {
	g := NewWithT(t)
	var with, without Command
	Sign(&without, Credentials{AccessKey: "a", SecretKey: "s"})
	Sign(&with, Credentials{AccessKey: "a", SecretKey: "s", SecurityToken: "t"})
	g.Expect(with.ExtFields).To(HaveKeyWithValue("SecurityToken", "t"))
	g.Expect(with.ExtFields["Signature"]).NotTo(Equal(without.ExtFields["Signature"]), "the token is signed")
	Sign(&with, Credentials{AccessKey: "a", SecretKey: "s"})
	g.Expect(with.ExtFields).To(Equal(without.ExtFields), "an old token goes")
}

func TestSignNothingWithoutAccessKey(t *testing.T) {
	g := NewWithT(t)
	c := Command{ExtFields: map[string]string{"topic": "T"}}
	Sign(&c, Credentials{SecretKey: "s"})
	g.Expect(c.ExtFields).To(Equal(map[string]string{"topic": "T"}))
}

func TestSignCoversFieldsAndBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		c := drawCommand(t)
		Sign(c, Credentials{AccessKey: "a", SecretKey: "s"})
		want := c.ExtFields["Signature"]
		g.Expect(Signature(c, "s")).To(Equal(want))
		g.Expect(Signature(c, "other")).NotTo(Equal(want))
		changed := *c
		changed.Body = append([]byte{'x'}, c.Body...)
		g.Expect(Signature(&changed, "s")).NotTo(Equal(want))
		changed = *c
		changed.Opaque, changed.Code, changed.Version = 1, 2, 3
		g.Expect(Signature(&changed, "s")).To(Equal(want), "only fields and body are signed")
		changed.ExtFields = maps.Clone(c.ExtFields)
		changed.ExtFields["AccessKey"] = "b"
		g.Expect(Signature(&changed, "s")).NotTo(Equal(want))
	})
}

// TestO30_RotatedSecret lets the server deny the old secret and accept the new
// one: the call after the rotation works, on the same connection.
func TestO30_RotatedSecret(t *testing.T) {
	g := NewWithT(t)
	s := startServer(t, nil, func(c *serverConn, req *Command) {
		if req.ExtFields["Signature"] != Signature(req, "new") {
			c.send(t, NewResponse(req, RespNoPermission, "check signature failed."))
			return
		}
		c.send(t, NewResponse(req, RespSuccess, ""))
	})
	var secret atomic.Value
	secret.Store("old")
	c := newTestClient(t, Options{Credentials: func(context.Context) (Credentials, error) {
		return Credentials{AccessKey: "op", SecretKey: secret.Load().(string)}, nil
	}})
	req := &Command{Code: ReqUpdateAndCreateTopic, ExtFields: map[string]string{"topic": "T"}}
	_, err := c.Invoke(t.Context(), s.addr, req)
	g.Expect(err).To(MatchError(Denied))
	g.Expect(err.Error()).To(ContainSubstring("check signature failed."))
	g.Expect(err.Error()).NotTo(ContainSubstring("old"))
	generation := c.Generation(s.addr)

	secret.Store("new")
	_, err = c.Invoke(t.Context(), s.addr, req)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Generation(s.addr)).To(Equal(generation))
	g.Expect(req.ExtFields).To(Equal(map[string]string{"topic": "T"}), "the request of the caller carries no signature")
}

func TestO30_NoCredentials(t *testing.T) {
	g := NewWithT(t)
	s := startServer(t, nil, nil)
	missing := errors.New("secret \"rocketmq/op\" not found")
	c := newTestClient(t, Options{Credentials: func(context.Context) (Credentials, error) { return Credentials{}, missing }})
	_, err := c.Invoke(t.Context(), s.addr, &Command{Code: ReqUpdateAndCreateTopic})
	g.Expect(err).To(MatchError(Denied))
	g.Expect(err).To(MatchError(missing))
	g.Expect(asError(t, err).Sent).To(BeFalse())
	g.Expect(s.dials()).To(BeZero(), "an unsigned request does not leave")
}

func TestCredentialsThatTakeTooLong(t *testing.T) {
	g := NewWithT(t)
	c := newTestClient(t, Options{Credentials: func(ctx context.Context) (Credentials, error) {
		<-ctx.Done()
		return Credentials{}, ctx.Err()
	}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Invoke(ctx, "127.0.0.1:1", &Command{Code: 17})
	g.Expect(err).To(MatchError(Canceled))
}
