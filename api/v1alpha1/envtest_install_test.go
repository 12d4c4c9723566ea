// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestInstall installs what a user installs. The namespace enforces the restricted pod standard and
// warns about a Deployment whose pods it would refuse.
func TestInstall(t *testing.T) {
	g := NewWithT(t)
	directory := filepath.Join("..", "..", "config", "default")
	for _, again := range []bool{false, true} {
		out, err := kubectl(t, "", "apply", "--server-side", "-k", directory)
		g.Expect(err).NotTo(HaveOccurred(), out)
		g.Expect(out).NotTo(ContainSubstring("Warning"))
		g.Expect(out).To(ContainSubstring("deployment.apps/lockstep-manager serverside-applied"), "again: %v", again)
	}

	// A pod that is not restricted shows that the warning would have come.
	out, err := kubectl(t, "", "create", "deployment", "careless", "--image=x", "-n", "lockstep-system", "--dry-run=server")
	g.Expect(err).NotTo(HaveOccurred(), out)
	g.Expect(out).To(ContainSubstring(`would violate PodSecurity "restricted`))
}

// TestOperatorRights: what the operator's ServiceAccount may do, and what it may not.
func TestOperatorRights(t *testing.T) {
	out, err := kubectl(t, "", "apply", "--server-side", "-k", filepath.Join("..", "..", "config", "default"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), out)
	const group = "rocketmq.lockstep.dev"
	for name, row := range map[string]struct {
		verb, group, resource, subresource, namespace string
		want                                          bool
	}{
		"reads topics everywhere":     {"list", group, "topics", "", "shop", true},
		"writes their status":         {"patch", group, "topics", "status", "shop", true},
		"sets finalizers":             {"update", group, "topics", "", "shop", true},
		"makes no topics":             {"create", group, "topics", "", "shop", false},
		"deletes no topics":           {"delete", group, "topics", "", "shop", false},
		"reads clusters":              {"watch", group, "brokerclusters", "", "shop", true},
		"makes no clusters":           {"create", group, "brokerclusters", "", "shop", false},
		"reads a Secret":              {"get", "", "secrets", "", "shop", true},
		"lists no Secrets":            {"list", "", "secrets", "", "shop", false},
		"keeps notes at home":         {"create", "", "configmaps", "", "lockstep-system", true},
		"has no ConfigMaps elsewhere": {"get", "", "configmaps", "", "shop", false},
		"holds the lease":             {"update", "coordination.k8s.io", "leases", "", "lockstep-system", true},
		"holds no leases elsewhere":   {"update", "coordination.k8s.io", "leases", "", "shop", false},
		"asks who reads its metrics":  {"create", "authentication.k8s.io", "tokenreviews", "", "", true},
		"writes no workloads":         {"patch", "apps", "deployments", "", "shop", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: "system:serviceaccount:lockstep-system:lockstep-manager",
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Verb: row.verb, Group: row.group, Resource: row.resource, Subresource: row.subresource, Namespace: row.namespace,
				},
			}}
			// The authorizer learns of new roles by its own watch.
			g.Eventually(func(g Gomega) {
				r := review.DeepCopy()
				g.Expect(api(t).client.Create(testContext(t), r)).To(Succeed())
				g.Expect(r.Status.Allowed).To(Equal(row.want), r.Status.Reason)
			}).Should(Succeed())
		})
	}
}

// TestK43_ClustersAreForAdministrators: a BrokerCluster decides where the operator connects, so the roles
// that every namespace's editors have do not include it; topics are a team's own matter.
func TestK43_ClustersAreForAdministrators(t *testing.T) {
	g := NewWithT(t)
	out, err := kubectl(t, "", "apply", "--server-side", "-k", filepath.Join("..", "..", "config", "default"))
	g.Expect(err).NotTo(HaveOccurred(), out)
	for name, row := range map[string]struct {
		verbs      []string
		aggregated []string
	}{
		"lockstep-topic-viewer":         {[]string{"get", "list", "watch"}, []string{"view"}},
		"lockstep-topic-editor":         {[]string{"get", "list", "watch", "create", "update", "patch", "delete"}, []string{"edit", "admin"}},
		"lockstep-brokercluster-viewer": {[]string{"get", "list", "watch"}, nil},
		"lockstep-brokercluster-editor": {[]string{"get", "list", "watch", "create", "update", "patch", "delete"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			role := &rbacv1.ClusterRole{}
			g.Expect(api(t).client.Get(testContext(t), client.ObjectKey{Name: name}, role)).To(Succeed())
			var aggregated []string
			for label := range role.Labels {
				if into, found := strings.CutPrefix(label, "rbac.authorization.k8s.io/aggregate-to-"); found {
					aggregated = append(aggregated, into)
				}
			}
			g.Expect(aggregated).To(ConsistOf(row.aggregated))
			for _, rule := range role.Rules {
				for _, resource := range rule.Resources {
					if strings.HasSuffix(resource, "/status") {
						g.Expect(rule.Verbs).To(ConsistOf("get"), resource)
						continue
					}
					g.Expect(rule.Verbs).To(ConsistOf(row.verbs), resource)
				}
			}
		})
	}
}
