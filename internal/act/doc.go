// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package act changes RocketMQ clusters, one small act at a time.
//
// Every act has the same shape. It takes the one writer of its (broker, topic);
// proves on the connection it will write on that the peer is the master that was
// meant, and the process whose answers the decision rests on (rule R03); reads
// the config and refuses if it is not what was expected (rules R17, R18); makes
// sure that it is not too late (rules R02, K11) and that no name server is
// warming up (case O25); sends; and reads back, because a success reply proves
// nothing and a timeout may have worked (live 8).
//
//   - [Actor.Do] carries out a step of the queue planner.
//   - [Actor.Amend] puts back fields of a topic that drifted, never counts.
//   - [Actor.Delete] deletes a topic and its routes.
//   - [Batcher] creates topics that exist nowhere yet, many at a time.
//
// Failures are typed: see errors.go. Nothing is retried here; the next look
// shows what is true.
package act
