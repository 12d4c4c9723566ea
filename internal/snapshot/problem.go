// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

// Trouble is what kind of thing is wrong, for a condition's reason.
type Trouble string

// Troubles, each something that a person can act on.
const (
	// AuthFailed: the credentials are missing, wrong, or allowed too little
	// (case O30). What was observed before is kept, nothing is retried faster.
	AuthFailed Trouble = "AuthFailed"
	// WrongEndpoint: the port speaks gRPC, HTTP or TLS (case P07).
	WrongEndpoint Trouble = "WrongEndpoint"
	// Untrusted: TLS comes to nothing because a certificate is not accepted.
	Untrusted Trouble = "Untrusted"
	// Unresolvable: a host name leads to no address.
	Unresolvable Trouble = "Unresolvable"
	// AddressesMissing: a host name leads to fewer addresses than a moment
	// ago, as while name servers are being replaced (case O19).
	AddressesMissing Trouble = "AddressesMissing"
	// NameServerUnreachable: a name server does not answer.
	NameServerUnreachable Trouble = "NameServerUnreachable"
	// NameServerWarmUp: a name server does not list all topics of a broker, as
	// after its start (case O25).
	NameServerWarmUp Trouble = "NameServerWarmUp"
	// NameServersDisagree: they show different masters (cases A15, O19).
	NameServersDisagree Trouble = "NameServersDisagree"
	// NameServerNotDeclared: a broker registers with a name server that the
	// BrokerCluster does not name, so its routes go unseen (rule R03).
	NameServerNotDeclared Trouble = "NameServerNotDeclared"
	// ClusterNotFound: no name server shows any broker of the cluster.
	ClusterNotFound Trouble = "ClusterNotFound"
	// BrokerUnreachable: a broker's advertised address does not answer (case
	// O33).
	BrokerUnreachable Trouble = "BrokerUnreachable"
	// BrokerGone: a broker that was seen before registers with no name server.
	BrokerGone Trouble = "BrokerGone"
	// BrokerWithoutMaster: only slaves are registered (case P02).
	BrokerWithoutMaster Trouble = "BrokerWithoutMaster"
	// WrongIdentity: another broker answers at the advertised address (rule
	// R03).
	WrongIdentity Trouble = "WrongIdentity"
	// TopicsUnrouted: a name server has lacked topics of a broker for longer
	// than a start explains; clients that ask it do not find them.
	TopicsUnrouted Trouble = "TopicsUnrouted"
	// ProxyUnreachable: a proxy does not answer, so gRPC members are unknown.
	ProxyUnreachable Trouble = "ProxyUnreachable"
	// Undecodable: an answer was malformed, too large or half.
	Undecodable Trouble = "Undecodable"
)

// Problem is one thing that is wrong with a cluster.
type Problem struct {
	Trouble Trouble
	// Subject is the broker name, or the address of a name server or proxy.
	Subject string
	// Sentence says what is wrong and what to do about it, in one line.
	Sentence string
}
