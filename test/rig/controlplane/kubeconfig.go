// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// identity is a user that the API server knows by its certificate.
type identity struct {
	// file is the base name of the kubeconfig file.
	file   string
	user   string
	groups []string
}

func adminIdentity() identity {
	return identity{file: "admin", user: "kubernetes-admin", groups: []string{"system:masters"}}
}

func controllerManagerIdentity() identity {
	return identity{file: "controller-manager", user: "system:kube-controller-manager"}
}

// access makes kubeconfig files for one API server.
type access struct {
	server string
	pki    *pki
	layout layout
}

func (a access) config(who identity) (*clientcmdapi.Config, error) {
	pair, err := a.pki.client(who.user, who.groups...)
	if err != nil {
		return nil, err
	}
	ca, err := encode(a.pki.cert.Raw, a.pki.key)
	if err != nil {
		return nil, err
	}
	const name = "lockstep-rig"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: a.server, CertificateAuthorityData: ca.cert}
	config.AuthInfos[who.user] = &clientcmdapi.AuthInfo{ClientCertificateData: pair.cert, ClientKeyData: pair.key}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: who.user, Namespace: "default"}
	config.CurrentContext = name
	return config, nil
}

// write makes the kubeconfig file of a user and returns its path.
func (a access) write(who identity) (string, error) {
	config, err := a.config(who)
	if err != nil {
		return "", err
	}
	path := a.layout.kubeconfig(who.file)
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return "", fmt.Errorf("writing the kubeconfig of %s: %w", who.user, err)
	}
	return path, nil
}

// rest returns a client configuration that never throttles itself: the rig's
// clients talk to an API server of their own.
func (a access) rest(who identity) (*rest.Config, error) {
	config, err := a.config(who)
	if err != nil {
		return nil, err
	}
	restConfig, err := clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("making the client configuration of %s: %w", who.user, err)
	}
	restConfig.QPS = -1
	return restConfig, nil
}

// fileName turns a user name, which may hold colons and slashes, into the base
// name of a file.
func fileName(user string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			return r
		}
		return '_'
	}, user)
}
