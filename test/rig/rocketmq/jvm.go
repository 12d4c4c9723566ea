// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"path/filepath"
	"strings"
)

// brokerModules opens what a broker reaches into on Java 17 (rocketmq.md 9.1).
func brokerModules() []string {
	return []string{
		"--add-opens=java.base/java.nio=ALL-UNNAMED",
		"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
		"--add-opens=java.base/java.lang=ALL-UNNAMED",
		"--add-opens=java.base/java.util=ALL-UNNAMED",
		"--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
		"--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
		"--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
		"--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
	}
}

// memoryFlags are limits, not reservations: an idle server stays far below them
// (rocketmq-live.md 9). With less than 512 MiB of direct memory a 5.x broker in
// use stops delivering late messages while it still answers other calls.
func memoryFlags(kind Kind) []string {
	switch kind {
	case NameServer:
		return []string{"-Xms16m", "-Xmx128m"}
	case Broker:
		return []string{"-Xms32m", "-Xmx256m", "-XX:MaxDirectMemorySize=512m"}
	default:
		return []string{"-Xms32m", "-Xmx160m", "-XX:MaxDirectMemorySize=256m"}
	}
}

// mainClass is the program of a kind (rocketmq.md 9.1).
func mainClass(kind Kind) string {
	switch kind {
	case NameServer:
		return "org.apache.rocketmq.namesrv.NamesrvStartup"
	case Broker:
		return "org.apache.rocketmq.broker.BrokerStartup"
	default:
		return "org.apache.rocketmq.proxy.ProxyStartup"
	}
}

// javaArgs is the command line of a server after "java".
func (c *Cluster) javaArgs(s *Server) []string {
	args := []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"}
	args = append(args, c.archives.flags(s.Kind)...)
	args = append(args, memoryFlags(s.Kind)...)
	args = append(args, brokerModules()...)
	args = append(args,
		"-Djava.net.preferIPv4Stack=true",
		// Everything that a server writes unasked goes below user.home.
		"-Duser.home="+s.Dir,
		"-Drocketmq.home.dir="+s.Dir,
		"-Djava.io.tmpdir="+filepath.Join(s.Dir, "tmp"),
		// A machine whose disk is nearly full must not make brokers refuse
		// messages or delete them early.
		"-Drocketmq.broker.diskSpaceWarningLevelRatio=0.99",
		"-Drocketmq.broker.diskSpaceCleanForciblyRatio=0.98",
	)
	args = append(args, c.tlsFlags()...)
	args = append(args, c.options.JVMFlags[s.Kind]...)
	args = append(args, "-cp", filepath.Join(c.lib, "*"), mainClass(s.Kind))
	switch s.Kind {
	case Proxy:
		return append(args, "-pc", s.config(), "-pm", "cluster", "-n", c.NameServerAddress())
	default:
		return append(args, "-c", s.config())
	}
}

// environment gives a server nothing of the rig's own settings but the PATH.
func environment(dir, path string) []string {
	return []string{"PATH=" + path, "HOME=" + dir, "ROCKETMQ_HOME=" + dir, "RMQ_PROXY_HOME=" + dir, "LANG=C.UTF-8"}
}

// bindFailed tells from a server's output that another program has its port.
func bindFailed(output string) bool {
	return strings.Contains(output, "Failed to bind") || strings.Contains(output, "Address already in use") ||
		strings.Contains(output, "BindException")
}
