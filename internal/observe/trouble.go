// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// said is an error as a reason for something unknown.
func said(err error) string { return err.Error() }

// troubleOf is the trouble an error points at; other when it is an ordinary
// failure to answer.
func troubleOf(err error, other snapshot.Trouble) snapshot.Trouble {
	var identity *rocketmq.IdentityError
	switch {
	case errors.Is(err, remoting.Denied):
		return snapshot.AuthFailed
	case errors.Is(err, remoting.WrongEndpoint):
		return snapshot.WrongEndpoint
	case errors.Is(err, remoting.Untrusted):
		return snapshot.Untrusted
	case errors.Is(err, remoting.Malformed), errors.Is(err, remoting.TooLarge):
		return snapshot.Undecodable
	case errors.As(err, &identity):
		return snapshot.WrongIdentity
	}
	return other
}

// remedy is what a person can do about a trouble.
func remedy(t snapshot.Trouble) string {
	switch t {
	case snapshot.AuthFailed:
		return "check the Secret that spec.credentials names, and that its user may read and change topics and groups"
	case snapshot.WrongEndpoint:
		return "name servers listen on 9876 and a proxy's remoting port is 8080 unless configured otherwise"
	case snapshot.Untrusted:
		return "check spec.tls against the servers' certificates"
	case snapshot.Undecodable:
		return "nothing is concluded from such an answer"
	case snapshot.NameServerUnreachable:
		return "check spec.nameServers and that the network lets the operator reach it"
	case snapshot.ProxyUnreachable:
		return "until it answers, members behind proxies are unknown; check spec.proxies"
	case snapshot.BrokerUnreachable:
		return "the operator must be able to reach the address a broker advertises; set brokerIP1 in the broker's configuration if it is the wrong one"
	}
	return ""
}

func problem(t snapshot.Trouble, subject, format string, args ...any) snapshot.Problem {
	sentence := fmt.Sprintf(format, args...)
	if r := remedy(t); r != "" {
		sentence = shorten(sentence, maxSentence-len(r)) + "; " + r
	}
	return snapshot.Problem{Trouble: t, Subject: subject, Sentence: sentence}
}

// maxSentence bounds a sentence, in bytes, so that where it is shown its end is
// not cut off: the end says what to do. What a server says can be long.
const maxSentence = 270

func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit - len("…")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

func missingAddress(a serverAddress) *snapshot.Problem {
	trouble := snapshot.AddressesMissing
	var unresolved *unresolvedError
	if a.unresolved || errors.As(a.missing, &unresolved) {
		trouble = snapshot.Unresolvable
	}
	p := problem(trouble, a.address, "name server %s: %v", a.entry, a.missing)
	return &p
}

func nameServerFailed(a serverAddress, err error) *snapshot.Problem {
	via := ""
	if a.entry != a.address {
		via = " (from " + a.entry + ")"
	}
	p := problem(troubleOf(err, snapshot.NameServerUnreachable), a.address, "name server%s %v", via, err)
	return &p
}

func clusterNotFound(cluster string, servers []string) snapshot.Problem {
	return problem(snapshot.ClusterNotFound, cluster,
		"no broker of a cluster named %s is registered with %s; check spec.clusterName against brokerClusterName of the brokers",
		cluster, strings.Join(servers, ", "))
}

func brokerGone(name string) snapshot.Problem {
	return problem(snapshot.BrokerGone, name,
		"%s was seen before and is registered with no name server now; what it holds is unknown until it is back or forgotten", name)
}

func brokerWithoutMaster(name string) snapshot.Problem {
	return problem(snapshot.BrokerWithoutMaster, name,
		"%s has no master registered; nothing is written to it until it has one", name)
}

func nameServersDisagree(broker string, views []string) snapshot.Problem {
	return problem(snapshot.NameServersDisagree, broker,
		"name servers disagree on the master of %s: %s; changes wait until they show the same", broker, strings.Join(views, ", "))
}

// brokerFailed says what is wrong with a broker's advertised address (case
// O33).
func brokerFailed(name, address string, err error) snapshot.Problem {
	return problem(troubleOf(err, snapshot.BrokerUnreachable), name, "%s advertises %s: %s", name, address,
		strings.TrimPrefix(err.Error(), address+": "))
}

func notDeclared(server string, brokers []string) snapshot.Problem {
	return problem(snapshot.NameServerNotDeclared, server,
		"%s registers with name server %s, which spec.nameServers lacks: routes there are not seen; add it",
		strings.Join(brokers, ", "), server)
}

// sortProblems brings problems into a stable order and drops repetitions. The
// first one is what a Ready condition quotes: what keeps only proxies from
// answering comes last, for it can follow from anything else.
func sortProblems(ps []snapshot.Problem) []snapshot.Problem {
	ofProxies := func(p snapshot.Problem) int {
		if p.Trouble == snapshot.ProxyUnreachable {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(ps, func(a, b snapshot.Problem) int {
		if c := ofProxies(a) - ofProxies(b); c != 0 {
			return c
		}
		if c := strings.Compare(string(a.Trouble), string(b.Trouble)); c != 0 {
			return c
		}
		return strings.Compare(a.Subject, b.Subject)
	})
	return slices.CompactFunc(ps, func(a, b snapshot.Problem) bool {
		return a.Trouble == b.Trouble && a.Subject == b.Subject
	})
}
