// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"fmt"
	"net/url"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// accountPath is where the token of its service account is mounted in a Pod.
const accountPath = "/var/run/secrets/kubernetes.io/serviceaccount"

// addKubeconfig lets a container talk to the API as its service account. In a
// container a client finds the token at accountPath; on the rig nothing is
// mounted there, so the agent writes a kubeconfig file that names the files of
// the volume and sets KUBECONFIG, which clients look at first.
func (w *podWorker) addKubeconfig(c *corev1.Container, v volumes, env map[string]string) error {
	if _, own := env["KUBECONFIG"]; own {
		return nil
	}
	for _, m := range c.VolumeMounts {
		if filepath.Clean(m.MountPath) != accountPath {
			continue
		}
		path := filepath.Join(w.dir, "kubeconfig")
		config := clientcmdapi.NewConfig()
		config.Clusters["rig"] = &clientcmdapi.Cluster{Server: w.agent.config.Host,
			CertificateAuthority: filepath.Join(v.path(m.Name), "ca.crt")}
		config.AuthInfos["pod"] = &clientcmdapi.AuthInfo{TokenFile: filepath.Join(v.path(m.Name), "token")}
		config.Contexts["rig"] = &clientcmdapi.Context{Cluster: "rig", AuthInfo: "pod", Namespace: v.env.pod.Namespace}
		config.CurrentContext = "rig"
		if err := clientcmd.WriteToFile(*config, path); err != nil {
			return fmt.Errorf("writing the kubeconfig of the Pod: %w", err)
		}
		env["KUBECONFIG"] = path
	}
	return nil
}

// apiAddress returns what a container finds in KUBERNETES_SERVICE_HOST and _PORT.
func apiAddress(server string) (host, port string, err error) {
	parsed, err := url.Parse(server)
	if err != nil {
		return "", "", fmt.Errorf("the address of the API server: %w", err)
	}
	port = parsed.Port()
	if port == "" {
		port = "443"
	}
	return parsed.Hostname(), port, nil
}
