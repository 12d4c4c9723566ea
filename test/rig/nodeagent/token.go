// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"fmt"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// tokenSource gets tokens that prove the service account of a Pod.
type tokenSource interface {
	token(ctx context.Context, projection *corev1.ServiceAccountTokenProjection) (string, error)
}

// podTokens asks the API server for tokens bound to one Pod and keeps each until
// four fifths of its life are over, as the kubelet does.
type podTokens struct {
	client kubernetes.Interface
	pod    *corev1.Pod

	mu   sync.Mutex
	kept map[string]keptToken
}

type keptToken struct {
	token   string
	renewAt time.Time
}

func (p *podTokens) token(ctx context.Context, projection *corev1.ServiceAccountTokenProjection) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kept := p.kept[projection.Audience]; time.Now().Before(kept.renewAt) {
		return kept.token, nil
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: projection.ExpirationSeconds,
		BoundObjectRef: &authenticationv1.BoundObjectReference{
			APIVersion: "v1", Kind: "Pod", Name: p.pod.Name, UID: p.pod.UID},
	}}
	if projection.Audience != "" {
		request.Spec.Audiences = []string{projection.Audience}
	}
	account := p.pod.Spec.ServiceAccountName
	answer, err := p.client.CoreV1().ServiceAccounts(p.pod.Namespace).
		CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("asking for a token of service account %s: %w", account, err)
	}
	life := time.Until(answer.Status.ExpirationTimestamp.Time)
	if p.kept == nil {
		p.kept = map[string]keptToken{}
	}
	p.kept[projection.Audience] = keptToken{answer.Status.Token, time.Now().Add(life * 4 / 5)}
	return answer.Status.Token, nil
}
