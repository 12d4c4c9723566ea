// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/observe"
)

// forgetBroker drops a broker that a person says is gone for good. Absence alone
// never proves it (case O33), and the word of a person counts only for the
// absence it was given for: a broker that came back meanwhile and is gone again
// has another time in status, and one that is back is not gone.
func (r *BrokerClusterReconciler) forgetBroker(observer *observe.Observer, cluster *rocketmqv1alpha1.BrokerCluster) {
	asked := cluster.Annotations[rocketmqv1alpha1.AnnotationForgetBroker]
	if asked == "" {
		return
	}
	i := slices.IndexFunc(cluster.Status.Brokers, func(b rocketmqv1alpha1.BrokerStatus) bool {
		return rocketmqv1alpha1.ForgetBrokerValue(b) == asked
	})
	if i < 0 {
		return
	}
	name := cluster.Status.Brokers[i].Name
	if master, there := observer.Cluster().Brokers[name]; !there || master.Master.IsKnown() {
		return
	}
	observer.ForgetBroker(name)
	r.Events.Eventf(cluster, nil, corev1.EventTypeNormal, rocketmqv1alpha1.ReasonBrokerForgotten, "Observe", "%s",
		fmt.Sprintf("%s is forgotten as the annotation %s asks; what it held is not counted any more, and if it registers again it counts again", name, rocketmqv1alpha1.AnnotationForgetBroker))
}
