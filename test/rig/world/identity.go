// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
)

// tokenSeconds is how long the operator's token is good for: longer than any
// world lives.
const tokenSeconds = 24 * 60 * 60

// kubeconfigOf writes a kubeconfig file with a token of the ServiceAccount, so
// that a process outside the cluster has its identity and no more than its
// rights.
func (w *World) kubeconfigOf(ctx context.Context, namespace, account string) (string, error) {
	clientset, err := kubernetes.NewForConfig(w.Config)
	if err != nil {
		return "", fmt.Errorf("making a client: %w", err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(tokenSeconds))}}
	token, err := clientset.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("asking for a token of ServiceAccount %s/%s: %w", namespace, account, err)
	}
	// Loads the authority from its file where the configuration names one.
	config := rest.CopyConfig(w.Config)
	if err := rest.LoadTLSFiles(config); err != nil {
		return "", fmt.Errorf("reading the cluster's authority: %w", err)
	}
	out := clientcmdapi.NewConfig()
	out.Clusters["world"] = &clientcmdapi.Cluster{
		Server: config.Host, CertificateAuthorityData: config.CAData,
		InsecureSkipTLSVerify: config.Insecure, TLSServerName: config.ServerName,
	}
	out.AuthInfos[account] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	out.Contexts["world"] = &clientcmdapi.Context{Cluster: "world", AuthInfo: account, Namespace: namespace}
	out.CurrentContext = "world"
	path := filepath.Join(w.Dir, "kubeconfig", account+".kubeconfig")
	if err := clientcmd.WriteToFile(*out, path); err != nil {
		return "", fmt.Errorf("writing the kubeconfig of %s: %w", account, err)
	}
	return path, nil
}
