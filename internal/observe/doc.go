// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package observe watches RocketMQ clusters: one [Observer] per BrokerCluster
// asks every name server and every broker, publishes what it saw as immutable
// snapshots, and wakes only the objects whose part changed.
//
// Three kinds of asking, from cheap to dear:
//
//   - A sweep asks each name server and each broker a fixed number of questions.
//     Its calls grow with servers, never with topics or manifests.
//   - A route check asks one name server for one topic (there is no call that
//     returns all routes). At rest only a fixed number of topics is checked per
//     sweep; see routeAudit.
//   - A look asks everything that a decision about one topic's queues rests on,
//     in the order that makes the answer a proof. Looks happen only while
//     somebody needs one, and share what they can; see [Observer.TopicLook].
//
// An observer never fails as a whole: what could not be asked is an unknown
// fact with a reason, and a [snapshot.Problem] when a person can do something
// about it.
package observe
