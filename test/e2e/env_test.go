// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	rig "github.com/lockstep-dev/lockstep/test/rig/rocketmq"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// The namespaces and names that cases share.
const (
	platform = "rocketmq"
	shop     = "shop"
	cluster  = "shop"
	secret   = "rocketmq-admin"
)

// The waits of the declared BrokerCluster, in seconds. They are as short as the
// clients of these tests allow: producers ask for their route every second and
// give a send four, and proxies hand a message out for ten.
const (
	routeAge    = 5
	settle      = 3
	invisible   = 10
	sendTimeout = "--send-timeout-ms=4000"
	routePeriod = "--route-ms=1000"
)

// env is the world of one version, shared by its cases.
type env struct {
	w        *world.World
	version  string
	five     bool
	programs world.Programs
	// credentials are nil where access control is off.
	credentials *rig.Credentials

	wire   *remoting.Client
	mq     *rocketmq.Client
	serial atomic.Int64
}

// options are those of the world. Access control is on for the oldest and the
// newest version, which have ACL 1.0 and ACL 2.0; between them it is off.
func (e *env) options(dir, manager string) world.Options {
	servers := rig.Options{Version: e.version, ClusterName: cluster, BrokerProperties: rig.ShortDelays()}
	// Half messages are asked about twice, then discarded (see lateCases).
	maps.Copy(servers.BrokerProperties, map[string]string{"transactionCheckMax": "2"})
	if e.five {
		servers.Proxies = 1
		servers.ProxyConfig = map[string]any{"defaultInvisibleTimeMills": invisible * 1000}
	}
	if e.version != "5.3.3" {
		e.credentials = &rig.Credentials{AccessKey: "lockstep", SecretKey: "lockstep-secret"}
		servers.ACL = e.credentials
	}
	return world.Options{Dir: dir, Manager: manager, RocketMQ: servers}
}

// prepare makes what every case uses: namespaces, a Secret and a BrokerCluster,
// and a client of our own.
func (e *env) prepare(ctx context.Context) error {
	options := remoting.Options{}
	if c := e.credentials; c != nil {
		options.Credentials = func(context.Context) (remoting.Credentials, error) {
			return remoting.Credentials{AccessKey: c.AccessKey, SecretKey: c.SecretKey}, nil
		}
	}
	e.wire = remoting.NewClient(options)
	e.mq = rocketmq.New(e.wire)
	if err := errors.Join(e.w.Namespace(ctx, platform, nil), e.w.Namespace(ctx, shop, map[string]string{"rocketmq": "shop"})); err != nil {
		return err
	}
	if c := e.credentials; c != nil {
		if err := e.w.Client.Create(ctx, credentialSecret(secret, c.AccessKey, c.SecretKey)); err != nil {
			return err
		}
	}
	return e.w.Client.Create(ctx, e.declared(cluster))
}

// declared is the world's RocketMQ with the credentials that it asks for.
func (e *env) declared(name string) *v1alpha1.BrokerCluster {
	c := e.brokerCluster(name)
	if e.credentials != nil {
		c.Spec.Credentials = &v1alpha1.Credentials{SecretRef: v1alpha1.SecretReference{Name: secret}}
	}
	return c
}

func credentialSecret(name, access, key string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: platform, Name: name},
		StringData: map[string]string{"accessKey": access, "secretKey": key},
	}
}

// brokerCluster is the world's RocketMQ without credentials.
func (e *env) brokerCluster(name string) *v1alpha1.BrokerCluster {
	c := &v1alpha1.BrokerCluster{ObjectMeta: metav1.ObjectMeta{Namespace: platform, Name: name}}
	c.Spec.ClusterName = cluster
	for _, address := range e.w.RocketMQ.NameServerAddresses() {
		c.Spec.NameServers = append(c.Spec.NameServers, v1alpha1.Endpoint(address))
	}
	for _, proxy := range e.w.RocketMQ.Proxies {
		c.Spec.Proxies = append(c.Spec.Proxies, v1alpha1.Endpoint(proxy.Addr))
	}
	c.Spec.Access = []v1alpha1.AccessRule{{
		Namespaces: v1alpha1.AccessNamespaces{From: v1alpha1.NamespacesFromSelector, Selector: &v1alpha1.NamespaceSelector{MatchLabels: map[string]v1alpha1.LabelValue{"rocketmq": "shop"}}},
		Topics:     []v1alpha1.NamePattern{"TOPIC_*"},
	}}
	c.Spec.Timings = &v1alpha1.Timings{
		LongestRouteAgeSeconds: ptr.To(int32(routeAge)), SettleSeconds: ptr.To(int32(settle)),
		LongestInvisibleSeconds: ptr.To(int32(invisible)), SweepSeconds: ptr.To(int32(2)), CallTimeoutSeconds: ptr.To(int32(10)),
	}
	return c
}

// master is the master of that name.
func (e *env) master(name string) rocketmq.Master {
	return rocketmq.Master{Addr: e.w.RocketMQ.Server(name).Addr, Name: name, Cluster: cluster}
}

// name makes a name that no other case of the world uses.
func (e *env) name(prefix string) string {
	return fmt.Sprintf("%s_%d", prefix, e.serial.Add(1))
}

// logs are the files that tell what happened.
func (e *env) logs() []string {
	paths := []string{e.w.Operator.LogFile()}
	for _, server := range e.w.RocketMQ.Servers() {
		paths = append(paths, server.OutputFile())
	}
	pods, err := filepath.Glob(filepath.Join(e.w.Dir, "node", "logs", "*", "*", "*.log"))
	if err == nil {
		paths = append(paths, pods...)
	}
	return paths
}

func errorsOf(errs ...error) error { return errors.Join(errs...) }

// objectName is the name of the object for a topic.
func objectName(topic string) string { return strings.ToLower(strings.ReplaceAll(topic, "_", "-")) }
