// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// entry is a line of a ledger.
func entry(event, key, group string, queue int) string {
	return strings.Join([]string{"1700000000000", event, key, topicName, group, "broker-a", fmt.Sprint(queue), "0", "", "", "0", "", "client", ""}, "\t") + "\n"
}

// ledgers writes a file per client.
func ledgers(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		NewWithT(t).Expect(os.WriteFile(filepath.Join(dir, name+".ledger"), []byte(text), 0o600)).To(Succeed())
	}
	return dir
}

// all is what every group noted of a message.
func all(key string, queue int) map[string]string {
	out := map[string]string{"producer": entry("sent-ok", key, "PG", queue)}
	for _, group := range groups() {
		out[group] = entry("consumed", key, group, queue)
	}
	return out
}

func TestTally(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files func() map[string]string
		want  string
		fails string
	}{
		{"everything arrived", func() map[string]string { return all("k1", 3) },
			"sent 1   consumed at least once by each of 3 groups 1   lost 0   duplicates 0   restarts of your pods 0", ""},
		{"one group missed one", func() map[string]string {
			files := all("k1", 3)
			files["producer"] += entry("sent-ok", "k2", "PG", 70)
			files[groupPoints] += entry("consumed", "k2", groupPoints, 70)
			files[groupMail] += entry("consumed", "k2", groupMail, 70)
			return files
		}, "sent 2   consumed at least once by each of 3 groups 1   lost 1   duplicates 0   restarts of your pods 0", "1 messages were lost"},
		{"one came twice", func() map[string]string {
			files := all("k1", 3)
			files[groupMail] += entry("consumed", "k1", groupMail, 3)
			return files
		}, "sent 1   consumed at least once by each of 3 groups 1   lost 0   duplicates 1 (redeliveries during rebalance)   restarts of your pods 0", ""},
		{"nothing was sent", func() map[string]string { return map[string]string{"producer": ""} },
			"sent 0   consumed at least once by each of 3 groups 0   lost 0   duplicates 0   restarts of your pods 0", "no message was sent"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			r, err := tally(ledgers(t, tc.files()))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.String()).To(Equal(tc.want))
			if tc.fails == "" {
				g.Expect(r.verdict()).To(Succeed())
				r.restarts = 1
				g.Expect(r.verdict()).To(MatchError(ContainSubstring("restarted")))
			} else {
				g.Expect(r.verdict()).To(MatchError(ContainSubstring(tc.fails)))
			}
		})
	}
}

func TestBook_FollowsGrowingLedgers(t *testing.T) {
	g := NewWithT(t)
	dir := ledgers(t, map[string]string{"producer": entry("sent-ok", "k1", "PG", 3) + entry("sent-ok", "k2", "PG", 64)})
	b := newBook(dir)
	g.Expect(b.update()).To(Succeed())
	left, of := b.left(groupAudit)
	g.Expect([]int{left, of, len(b.sent)}).To(Equal([]int{1, 1, 2}), "only queue 64 retires")

	line := entry("consumed", "k2", groupAudit, 64)
	path := filepath.Join(dir, "audit.ledger")
	g.Expect(os.WriteFile(path, []byte(line[:20]), 0o600)).To(Succeed())
	g.Expect(b.update()).To(Succeed())
	left, _ = b.left(groupAudit)
	g.Expect(left).To(Equal(1), "half a line says nothing yet")
	g.Expect(os.WriteFile(path, []byte(line), 0o600)).To(Succeed())
	g.Expect(b.update()).To(Succeed())
	left, of = b.left(groupAudit)
	g.Expect([]int{left, of}).To(Equal([]int{0, 1}))
}

func TestRender(t *testing.T) {
	g := NewWithT(t)
	p := places{Platform: "platform", Shop: "myshop", NameServers: []string{"127.0.0.1:1", "127.0.0.1:2"}, Proxy: "127.0.0.1:3"}
	for _, name := range []string{"brokercluster.yaml", "topic.yaml"} {
		text, path, err := render(p, name, t.TempDir())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(path).To(BeAnExistingFile())
		g.Expect(string(text)).NotTo(ContainSubstring("{{"))
		g.Expect(string(text)).To(ContainSubstring("platform"))
	}
}
