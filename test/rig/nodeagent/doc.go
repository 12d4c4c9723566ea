// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodeagent makes this machine a Kubernetes node without containers: it
// schedules Pods and runs their containers as local processes. With package
// controlplane, Deployments, StatefulSets, rollouts, kubectl scale, kubectl
// delete pod and kubectl logs are real.
//
// # How a container runs
//
// Images are ignored: command and args run as they are, found in the PATH of the
// agent. Each Pod has
//
//   - an address of its own in 127.10.0.0/16, its status.podIP. All Pods share
//     the network of the machine, so a program must listen on, and should
//     connect from, its Pod's address (take it by fieldRef status.podIP); one
//     that listens on 0.0.0.0 takes the port from every other Pod.
//   - the Pod's host name, in a UTS namespace of its own, when the agent runs as
//     root; HOSTNAME is always set.
//   - a working folder, which is HOME and the current folder unless the container
//     sets them, and which is removed with the Pod.
//   - a file per start of a container that takes its output, see Agent.LogDir.
//     These stay when the Pod goes.
//
// The environment holds what the Pod says (value, fieldRef, configMapKeyRef,
// secretKeyRef, envFrom) and Options.Env; nothing else is inherited but PATH.
//
// # Volumes
//
// Processes share the file system, so nothing appears at a mountPath. Instead
// the agent writes each volume into a folder and replaces the mount path by that
// folder wherever it occurs in command, args, workingDir, the values of
// variables (also those from ConfigMaps and Secrets), and the commands of probes
// and hooks: with a volume mounted at /etc/app the argument
// --config=/etc/app/x.yaml becomes --config=DIR/x.yaml. Two more paths count as
// mounted in every container: /etc/hosts, a hosts file that knows the Pod's name
// (for example -Djdk.net.hosts.file=/etc/hosts), and terminationMessagePath.
// Paths in the content of a mounted file are not replaced. A mount at a folder
// like /tmp also catches other paths below it, such as that of the program.
//
// ConfigMap, Secret, projected and downward API volumes follow their sources
// within a moment, by the same swap of a symbolic link as in a kubelet (here for
// subPath mounts too). emptyDir and hostPath work. For a Pod with a service
// account token the agent writes a kubeconfig file and sets KUBECONFIG, because
// clients look for the token at a fixed path.
//
// # Like a kubelet
//
// Init containers in order, restart policies with back-off, startup, readiness
// and liveness probes (http, tcp, exec), preStop hooks, SIGTERM, grace and
// SIGKILL, termination messages, readiness gates, scheduling gates, events, and
// a status as a kubelet writes it. The grace ends in the removal of the Pod from
// the API with its UID as precondition. A readiness probe that has not yet
// succeeded is made at least four times a second.
//
// # Not there
//
// Images, resource limits, security contexts, network policies, Services and
// cluster DNS, kubectl exec, attach and port-forward, sidecar init containers,
// postStart hooks, gRPC probes, persistent volumes. A Pod that asks for one of
// the last four kinds stays pending and its status says why.
//
// # Nothing is left behind
//
// When the agent's program ends, however it ends, its Pods' processes are
// killed; see package process. The Pods stay in the API as on a lost node.
//
// The package is for Linux.
package nodeagent
