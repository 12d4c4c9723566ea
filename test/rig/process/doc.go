// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process runs other programs for the test rig in such a way that
// none of them outlives the program that started it, however that one ends.
//
// Three things see to that:
//
//   - Each program is the leader of a process group of its own. A Ctrl-C in the
//     terminal therefore reaches only the rig, which then stops its programs in
//     the right order. When the leader ends, whatever is left of its group is
//     killed, as a container engine does when the first process of a container
//     ends.
//   - Each program is started with a parent death signal (SIGKILL). The kernel
//     sends it when the thread that forked the program ends, not the process,
//     so every program has a goroutine locked to its thread until it is gone.
//   - The death signal does not reach grandchildren. A guard, one small shell
//     per Supervisor, knows the process groups and reads from a pipe whose other
//     end only the rig holds. When the rig dies, even by SIGKILL, the kernel
//     closes the pipe and the guard kills every group it still knows.
//
// A program that leaves its process group on purpose (setsid, a daemon) escapes
// the second and the third; none that the rig runs does.
//
// The package is for Linux.
package process
