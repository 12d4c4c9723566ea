// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"net"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

func troubleCases() []testCase {
	five := func(e *env) bool { return e.five }
	guarded := func(e *env) bool { return e.credentials != nil }
	return []testCase{
		{name: "a wrong port is named, with what to check", run: wrongPort},
		{name: "P07 a gRPC port is told from a name server", needs: five, run: grpcPort},
		{name: "a name that does not resolve is named", run: unresolvable},
		{name: "O30 wrong credentials are told, and their correction is noticed", needs: guarded, run: wrongCredentials},
		{name: "O30 missing credentials are told", needs: guarded, run: noCredentials},
		{name: "a Secret that is missing is named", run: noSecret},
	}
}

// says declares a BrokerCluster and waits until its Ready condition is False for
// the reason, with a sentence that has all the parts.
func (s *scene) says(c *v1alpha1.BrokerCluster, reason string, parts ...string) {
	s.Helper()
	s.Expect(s.w.Client.Create(s.Context(), c)).To(Succeed())
	said := s.is(c, v1alpha1.ConditionReady, metav1.ConditionFalse, reason)
	for _, part := range parts {
		s.Expect(said.Message).To(ContainSubstring(part))
	}
	s.Logf("%s: %s", said.Reason, said.Message)
	s.is(c, v1alpha1.ConditionReconciling, metav1.ConditionTrue, reason)
}

// nobody is an address at which nothing listens.
func (s *scene) nobody() string {
	s.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(listener.Close()).To(Succeed())
	return listener.Addr().String()
}

func wrongPort(s *scene) {
	c := s.declared("wrong-port")
	address := s.nobody()
	c.Spec.NameServers = []v1alpha1.Endpoint{v1alpha1.Endpoint(address)}
	s.says(c, v1alpha1.ReasonUnreachable, address, "refused", "check spec.nameServers")
}

func grpcPort(s *scene) {
	c := s.declared("grpc-port")
	address := s.w.RocketMQ.Proxies[0].GRPCAddr
	c.Spec.NameServers = []v1alpha1.Endpoint{v1alpha1.Endpoint(address)}
	s.says(c, v1alpha1.ReasonWrongEndpoint, address, "gRPC", "name servers listen on 9876")
}

func unresolvable(s *scene) {
	c := s.declared("unresolvable")
	c.Spec.NameServers = []v1alpha1.Endpoint{"rocketmq-namesrv.invalid:9876"}
	s.says(c, v1alpha1.ReasonUnresolvable, "rocketmq-namesrv.invalid", "leads to no address", "DNS")
}

func wrongCredentials(s *scene) {
	const name = "wrong-credentials"
	wrong := credentialSecret(name, s.credentials.AccessKey, "not-the-secret")
	s.Expect(s.w.Client.Create(s.Context(), wrong)).To(Succeed())
	c := s.brokerCluster(name)
	c.Spec.Credentials = &v1alpha1.Credentials{SecretRef: v1alpha1.SecretReference{Name: name}}
	s.says(c, v1alpha1.ReasonAuthFailed, "check the Secret that spec.credentials names")
	s.is(c, v1alpha1.ConditionAuthenticated, metav1.ConditionFalse, v1alpha1.ReasonAuthFailed)
	for _, condition := range c.Status.Conditions {
		s.Expect(condition.Message).NotTo(ContainSubstring("not-the-secret"))
	}
	wrong.StringData = map[string]string{"secretKey": s.credentials.SecretKey}
	s.Expect(s.w.Client.Update(s.Context(), wrong)).To(Succeed())
	s.is(c, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReachable)
}

func noCredentials(s *scene) {
	c := s.brokerCluster("no-credentials")
	s.says(c, v1alpha1.ReasonAuthFailed, "spec.credentials")
}

func noSecret(s *scene) {
	c := s.brokerCluster("no-secret")
	c.Spec.Credentials = &v1alpha1.Credentials{SecretRef: v1alpha1.SecretReference{Name: "nowhere"}}
	s.says(c, v1alpha1.ReasonSecretNotFound, platform+"/nowhere", "spec.credentials.secretRef", "create it")
}
