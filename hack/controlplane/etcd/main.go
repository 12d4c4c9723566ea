// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Command etcd is the released etcd server. The module go.etcd.io/etcd/v3
// itself cannot be built by version, because its go.mod replaces its own
// nested modules; the server module, which holds all of the code, can.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
