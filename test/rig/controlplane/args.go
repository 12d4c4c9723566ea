// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"strconv"
	"strings"
)

const loopback = "127.0.0.1"

func httpURL(port int) string  { return fmt.Sprintf("http://%s:%d", loopback, port) }
func httpsURL(port int) string { return fmt.Sprintf("https://%s:%d", loopback, port) }

// etcdArgs take two ports: for clients and for peers.
func etcdArgs(l layout, ports []int) []string {
	client, peer := httpURL(ports[0]), httpURL(ports[1])
	return []string{
		"--data-dir=" + l.etcd(),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
		"--unsafe-no-fsync", // the data do not outlive the rig
		"--log-level=warn",
	}
}

// apiServerArgs take one port.
func apiServerArgs(o Options, p *pki, etcd string, ports []int) []string {
	args := []string{
		"--etcd-servers=" + etcd,
		"--bind-address=" + loopback, "--secure-port=" + strconv.Itoa(ports[0]),
		"--advertise-address=" + loopback,
		// With any other type a loopback address is refused.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=" + ServiceCIDR,
		"--tls-cert-file=" + p.certFile(pairAPIServer), "--tls-private-key-file=" + p.keyFile(pairAPIServer),
		"--client-ca-file=" + p.certFile("ca"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + p.serviceAccountKey(),
		"--service-account-signing-key-file=" + p.serviceAccountKey(),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true", "--profiling=false",
		"--kubelet-client-certificate=" + p.certFile(pairKubeletClient),
		"--kubelet-client-key=" + p.keyFile(pairKubeletClient),
		"--kubelet-preferred-address-types=InternalIP",
		"--requestheader-client-ca-file=" + p.certFile("ca"),
		"--requestheader-allowed-names=" + frontProxyName,
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User",
		"--proxy-client-cert-file=" + p.certFile(pairFrontProxy),
		"--proxy-client-key-file=" + p.keyFile(pairFrontProxy),
	}
	return append(args, o.APIServerArgs...)
}

// disabledControllers would write loopback addresses into EndpointSlices and
// Endpoints, which the API server refuses, and would try again for ever.
func disabledControllers() []string {
	return []string{"endpointslice-controller", "endpoints-controller", "endpointslice-mirroring-controller"}
}

// controllerManagerArgs take one port.
func controllerManagerArgs(o Options, p *pki, kubeconfig string, ports []int) []string {
	args := []string{
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=" + loopback, "--secure-port=" + strconv.Itoa(ports[0]),
		"--leader-elect=false", "--profiling=false",
		"--controllers=*,-" + strings.Join(disabledControllers(), ",-"),
		// As in real clusters: each controller acts under its own name, which
		// policies and audit see.
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + p.serviceAccountKey(),
		"--root-ca-file=" + p.certFile("ca"),
		"--cluster-signing-cert-file=" + p.certFile("ca"), "--cluster-signing-key-file=" + p.keyFile("ca"),
		"--kube-api-qps=200", "--kube-api-burst=400",
	}
	if o.HPASyncPeriod > 0 {
		args = append(args, "--horizontal-pod-autoscaler-sync-period="+o.HPASyncPeriod.String())
	}
	if o.HPADownscaleStabilization > 0 {
		args = append(args, "--horizontal-pod-autoscaler-downscale-stabilization="+o.HPADownscaleStabilization.String())
	}
	return append(args, o.ControllerManagerArgs...)
}
