// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package resize plans changes of a topic's queue counts so that no message is
// lost or stranded. It is pure: what the user wants, what is remembered, one
// look and the time go in; one next step, or the holds that say why there is
// none, come out. It knows neither Kubernetes nor sockets.
//
// The invariant at every instant on every broker is read >= write >= 1.
//
// How a caller uses a [Decision], in this order:
//
//  1. Persist Next.Record (status) and Next.Note (a note outside status), if
//     either changed, before anything is sent. A cut whose note could not be
//     written is not sent.
//  2. Carry out Step. Before each changing call read the broker's config in
//     the same call chain; it must still show what the step expects, from the
//     process the step names (rules R03, R17, R18). Nothing is sent after
//     Step.NotAfter on the monotonic clock (rule R02).
//  3. Hand Next.Acted(time.Now()) to the next call of [Plan], with a look that
//     started after it (rule R01). A failed, lost or late step needs no
//     handling of its own: the next look shows what is true.
package resize
