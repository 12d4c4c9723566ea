// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the API of Lockstep: BrokerCluster says where a RocketMQ is and who may use
// it, Topic declares one topic on it.
//
// The rules that the schema cannot hold (uniqueness over namespaces, what the brokers allow) are
// reported in conditions; their types and reasons are constants of this package.
//
// +kubebuilder:object:generate=true
// +groupName=rocketmq.lockstep.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of all kinds of Lockstep.
const GroupName = "rocketmq.lockstep.dev"

// GroupVersion is the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"} //nolint:gochecknoglobals // every API package has this variable

// AddToScheme registers the kinds of this package with a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&BrokerCluster{}, &BrokerClusterList{},
		&Topic{}, &TopicList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
