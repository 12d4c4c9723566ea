// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "k8s.io/apimachinery/pkg/types"

// ClusterReference names a BrokerCluster.
type ClusterReference struct {
	// name is the name of the BrokerCluster object.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// namespace is the namespace of the BrokerCluster. Absent means the namespace of the object that
	// refers to it. A BrokerCluster of another namespace must allow this in its spec.access.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// SecretReference names a Secret in the namespace of the BrokerCluster. Secrets of other namespaces
// are never read.
type SecretReference struct {
	// name is the name of the Secret.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// Claim records which object holds a name on one physical RocketMQ cluster.
//
// Two objects can declare the same topic, in different namespaces and even through different
// BrokerClusters that lead to the same servers. The oldest one holds it; the others say Conflict and
// change nothing. When the holder is deleted, the next one takes over and nothing is deleted.
type Claim struct {
	// identity stands for the physical cluster, as its name servers show it (cluster name and master
	// brokers), not as a BrokerCluster calls it.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Identity string `json:"identity,omitempty"`

	// namespace is the namespace of the object that holds the name.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name is the name of the object that holds the name.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// uid is the UID of the object that holds the name. It tells a restored or recreated object from
	// the one that held the name before.
	//
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID types.UID `json:"uid,omitempty"`
}

// HeldBy reports whether the claim is held by the object with this UID. A nil claim is held by nobody.
func (c *Claim) HeldBy(uid types.UID) bool {
	return c != nil && uid != "" && c.UID == uid
}
