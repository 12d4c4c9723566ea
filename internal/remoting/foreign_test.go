// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"bytes"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/net/http2"
)

func http2Frames(t *testing.T, write func(*http2.Framer) error) string {
	t.Helper()
	var buf bytes.Buffer
	if err := write(http2.NewFramer(&buf, nil)); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestP07_OtherProtocolsAreRecognised(t *testing.T) {
	for _, tc := range []struct{ name, bytes, protocol string }{
		{"HTTP/2 SETTINGS", http2Frames(t, func(f *http2.Framer) error {
			return f.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 20}, http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100})
		}), "HTTP/2"},
		{"HTTP/2 empty SETTINGS", http2Frames(t, func(f *http2.Framer) error { return f.WriteSettings() }), "HTTP/2"},
		{"HTTP/2 GOAWAY", http2Frames(t, func(f *http2.Framer) error {
			return f.WriteGoAway(0, http2.ErrCodeProtocol, []byte("HTTP/2 client preface string missing or corrupt"))
		}), "HTTP/2"},
		{"HTTP/2 client", http2.ClientPreface, "HTTP/2"},
		{"HTTP/1 answer", "HTTP/1.1 400 Bad Request\r\n\r\n", "HTTP/1"},
		{"HTTP/1 request", "GET / HTTP/1.1\r\n", "HTTP/1"},
		{"HTTP/1 post", "POST /x HTTP/1.1\r\n", "HTTP/1"},
		{"TLS 1.2 alert", "\x15\x03\x03\x00\x02\x02\x46", "TLS"},
		{"TLS 1.0 handshake", "\x16\x03\x01\x02\x00\x01\x00\x01", "TLS"},
		{"SSH", "SSH-2.0-OpenSSH_9.6\r\n", "text"},
		{"Redis", "-ERR unknown command\r\n", "text"},
		{"SMTP", "220 mail.example.com ESMTP\r\n", "text"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := ReadCommand(bytes.NewReader([]byte(tc.bytes)), 1<<30)
			g.Expect(err).To(MatchError(WrongEndpoint))
			var foreign *ForeignProtocolError
			g.Expect(errors.As(err, &foreign)).To(BeTrue())
			g.Expect(foreign.Protocol).To(Equal(tc.protocol))
			g.Expect(err.Error()).To(HavePrefix("wrong endpoint: this port "))
		})
	}
}

func TestP07_HintSaysWhatToDo(t *testing.T) {
	g := NewWithT(t)
	g.Expect(wrongEndpoint("HTTP/2").Error()).To(ContainSubstring("gRPC"))
	g.Expect(wrongEndpoint("HTTP/2").Error()).To(ContainSubstring("9876"))
	g.Expect(wrongEndpoint("TLS").Error()).To(ContainSubstring("TLS"))
	g.Expect(wrongEndpoint("HTTP/1").Error()).To(ContainSubstring("HTTP"))
}

// TestP07_FramesAreNotMistaken runs frames whose lengths look like other
// protocols at first sight.
func TestP07_FramesAreNotMistaken(t *testing.T) {
	g := NewWithT(t)
	for _, n := range []int{0x0404, 0x0407, 0x120004, 0x474554, 0x150303} {
		c := &Command{Language: "GO", Opaque: 1}
		frame, err := AppendCommand(nil, c)
		g.Expect(err).NotTo(HaveOccurred())
		c.Body = make([]byte, n-(len(frame)-4))
		frame, err = AppendCommand(nil, c)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(frame).To(HaveLen(n + 4))
		got, err := ReadCommand(bytes.NewReader(frame), 0)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(c))
	}
}
