// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/observe"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// reportSecret says that the cluster cannot be asked for want of a Secret.
func reportSecret(cluster *rocketmqv1alpha1.BrokerCluster, missing *secretError, now time.Time) {
	set := conditionSet{cluster.Generation, now, &cluster.Status.Conditions}
	v := no(missing.reason, missing.message)
	rec := yes(missing.reason, missing.message)
	set.set(rocketmqv1alpha1.ConditionReady, v)
	set.set(rocketmqv1alpha1.ConditionAuthenticated, unknown(missing.reason, missing.message))
	set.progress(&rec, nil)
	cluster.Status.ObservedGeneration = cluster.Generation
}

// reportCluster writes what a sweep saw. Before the first sweep it says so and
// leaves the rest as it was.
func reportCluster(cluster *rocketmqv1alpha1.BrokerCluster, sweep *snapshot.Cluster, rival *rocketmqv1alpha1.BrokerCluster, now time.Time) {
	set := conditionSet{cluster.Generation, now, &cluster.Status.Conditions}
	if sweep.Seq == 0 {
		rec := yes(rocketmqv1alpha1.ReasonProgressing, "the cluster is being asked for the first time since the operator started or the spec changed")
		set.progress(&rec, nil)
		if cluster.Status.ObservedGeneration != cluster.Generation {
			set.set(rocketmqv1alpha1.ConditionReady, unknown(rocketmqv1alpha1.ReasonProgressing, rec.Message))
		}
		return
	}
	status := &cluster.Status
	status.ObservedGeneration = cluster.Generation
	status.LastHandledReconcileRequest = rocketmqv1alpha1.ReconcileRequest(cluster)
	status.Brokers = brokerStatuses(status.Brokers, sweep, now)
	status.NameServers = nameServerStatuses(sweep)
	status.Proxies = proxyStatuses(sweep)
	heartbeat, _ := cluster.Spec.Heartbeat()
	status.Counts = clusterCounts(sweep, heartbeat)
	claimCluster(cluster, sweep, rival)

	set.set(rocketmqv1alpha1.ConditionNameServersAgree, verdictOn(sweep, nameServerTroubles(), yes(rocketmqv1alpha1.ReasonAgree,
		fmt.Sprintf("%s and show the same brokers", answering(len(sweep.NameServers), "name server")))))
	set.set(rocketmqv1alpha1.ConditionBrokersReachable, brokersReachable(sweep))
	set.set(rocketmqv1alpha1.ConditionAuthenticated, authenticated(cluster, sweep))
	set.set(rocketmqv1alpha1.ConditionRoutesAgree, routesVerdict(sweep))
	ready, reconciling := clusterReady(sweep, rival)
	set.set(rocketmqv1alpha1.ConditionReady, ready)
	set.progress(reconciling, nil)
}

func clusterReady(sweep *snapshot.Cluster, rival *rocketmqv1alpha1.BrokerCluster) (ready verdict, reconciling *verdict) {
	if len(sweep.Problems) > 0 {
		p := sweep.Problems[0]
		message := p.Sentence
		if more := len(sweep.Problems) - 1; more > 0 {
			message += fmt.Sprintf(" (and %s)", plural(more, "more problem"))
		}
		reason := troubleReason(p.Trouble)
		rec := yes(reason, message)
		return no(reason, message), &rec
	}
	message := fmt.Sprintf("%s and %s answer", plural(len(sweep.Brokers), "broker"), plural(len(sweep.NameServers), "name server"))
	if rival != nil {
		message += fmt.Sprintf("; BrokerCluster %s/%s is older and leads to the same RocketMQ, and a topic is held by the oldest Topic of either", rival.Namespace, rival.Name)
	}
	return yes(rocketmqv1alpha1.ReasonReachable, message), nil
}

func claimCluster(cluster *rocketmqv1alpha1.BrokerCluster, sweep *snapshot.Cluster, rival *rocketmqv1alpha1.BrokerCluster) {
	identity, known := observe.IdentityOf(sweep)
	if !known {
		return
	}
	held := cluster
	if rival != nil {
		held = rival
	}
	cluster.Status.Claim = &rocketmqv1alpha1.Claim{Identity: identity.String(), Namespace: held.Namespace, Name: held.Name, UID: held.UID}
}

// verdictOn is the given verdict unless the sweep has a problem of these kinds.
func verdictOn(sweep *snapshot.Cluster, kinds []snapshot.Trouble, fine verdict) verdict {
	var sentences []string
	reason := ""
	for _, p := range sweep.Problems {
		if slices.Contains(kinds, p.Trouble) {
			sentences = append(sentences, p.Sentence)
			reason = first(reason, troubleReason(p.Trouble))
		}
	}
	if len(sentences) == 0 {
		return fine
	}
	return no(reason, strings.Join(sentences, "; "))
}

func nameServerTroubles() []snapshot.Trouble {
	return []snapshot.Trouble{
		snapshot.NameServerUnreachable, snapshot.NameServerWarmUp, snapshot.NameServersDisagree,
		snapshot.NameServerNotDeclared, snapshot.Unresolvable, snapshot.AddressesMissing, snapshot.ClusterNotFound,
		snapshot.WrongEndpoint, snapshot.Untrusted, snapshot.TopicsUnrouted,
	}
}

func brokerTroubles() []snapshot.Trouble {
	return []snapshot.Trouble{
		snapshot.BrokerUnreachable, snapshot.BrokerGone, snapshot.BrokerWithoutMaster, snapshot.WrongIdentity,
		snapshot.ClusterNotFound, snapshot.Undecodable,
	}
}

// brokersReachable is not known where no name server showed a broker.
func brokersReachable(sweep *snapshot.Cluster) verdict {
	v := verdictOn(sweep, brokerTroubles(), yes(rocketmqv1alpha1.ReasonReachable, answering(len(sweep.Brokers), "broker")))
	if v.Status == metav1.ConditionTrue && len(sweep.Brokers) == 0 {
		reason := rocketmqv1alpha1.ReasonNoBrokers
		if len(sweep.Problems) > 0 {
			reason = troubleReason(sweep.Problems[0].Trouble)
		}
		return unknown(reason, "no name server showed a broker, so whether the brokers answer is not known")
	}
	return v
}

func denied(sweep *snapshot.Cluster) bool {
	return slices.ContainsFunc(sweep.Problems, func(p snapshot.Problem) bool { return p.Trouble == snapshot.AuthFailed })
}

func authenticated(cluster *rocketmqv1alpha1.BrokerCluster, sweep *snapshot.Cluster) verdict {
	fine := yes(rocketmqv1alpha1.ReasonAccepted, "the brokers accept the credentials")
	if cluster.Spec.Credentials == nil {
		fine = yes(rocketmqv1alpha1.ReasonNoCredentials, "no credentials are set and the brokers ask for none")
	}
	v := verdictOn(sweep, []snapshot.Trouble{snapshot.AuthFailed}, fine)
	if v.Status == metav1.ConditionTrue && !anyBrokerAnswers(sweep) {
		return unknown(rocketmqv1alpha1.ReasonUnreachable, "no broker answers, so whether the credentials are accepted is not known")
	}
	return v
}

func anyBrokerAnswers(sweep *snapshot.Cluster) bool {
	for _, b := range sweep.Brokers {
		if b.Topics.IsKnown() {
			return true
		}
	}
	return false
}

// routesVerdict compares the routes that were checked lately with what the
// brokers have.
func routesVerdict(sweep *snapshot.Cluster) verdict {
	checked := 0
	for _, topic := range slices.Sorted(maps.Keys(sweep.Routes)) {
		asked, agreeing, why := routesAgree(topic, sweep, sweep.Routes[topic])
		checked++
		if asked != agreeing {
			return no(rocketmqv1alpha1.ReasonRoutesDiffer, fmt.Sprintf("topic %s: %s", topic, why))
		}
	}
	if checked == 0 {
		return unknown(rocketmqv1alpha1.ReasonProgressing, "no route was checked yet; routes of declared topics are checked in turn")
	}
	return yes(rocketmqv1alpha1.ReasonAgree, "the routes checked lately are as the brokers have them")
}

func troubleReason(t snapshot.Trouble) string {
	switch t {
	case snapshot.AuthFailed:
		return rocketmqv1alpha1.ReasonAuthFailed
	case snapshot.WrongEndpoint:
		return rocketmqv1alpha1.ReasonWrongEndpoint
	case snapshot.Untrusted:
		return rocketmqv1alpha1.ReasonUntrusted
	case snapshot.TopicsUnrouted:
		return rocketmqv1alpha1.ReasonTopicsUnrouted
	case snapshot.Unresolvable, snapshot.AddressesMissing:
		return rocketmqv1alpha1.ReasonUnresolvable
	case snapshot.NameServerWarmUp:
		return rocketmqv1alpha1.ReasonNameServerWarmingUp
	case snapshot.NameServersDisagree:
		return rocketmqv1alpha1.ReasonNameServersDiffer
	case snapshot.NameServerNotDeclared:
		return rocketmqv1alpha1.ReasonNameServerUndeclared
	case snapshot.ClusterNotFound:
		return rocketmqv1alpha1.ReasonClusterNotFound
	case snapshot.BrokerWithoutMaster:
		return rocketmqv1alpha1.ReasonMasterMissing
	case snapshot.WrongIdentity:
		return rocketmqv1alpha1.ReasonWrongBroker
	case snapshot.Undecodable:
		return rocketmqv1alpha1.ReasonIncompleteAnswer
	default:
		return rocketmqv1alpha1.ReasonUnreachable
	}
}

// sameClusterNews says that two statuses differ in counts only.
func sameClusterNews(was, is *rocketmqv1alpha1.BrokerClusterStatus) bool {
	a, b := was.DeepCopy(), is.DeepCopy()
	for _, s := range []*rocketmqv1alpha1.BrokerClusterStatus{a, b} {
		if s.Counts != nil {
			s.Counts.Topics, s.Counts.Groups = nil, nil
		}
	}
	return equality.Semantic.DeepEqual(a, b)
}

// announceCluster sends one event when Ready changes.
func announceCluster(r recorder, cluster *rocketmqv1alpha1.BrokerCluster, was *rocketmqv1alpha1.BrokerClusterStatus) {
	before := meta.FindStatusCondition(was.Conditions, rocketmqv1alpha1.ConditionReady)
	now := meta.FindStatusCondition(cluster.Status.Conditions, rocketmqv1alpha1.ConditionReady)
	if now == nil || same(before, now) {
		return
	}
	kind := corev1.EventTypeNormal
	if now.Status == metav1.ConditionFalse {
		kind = corev1.EventTypeWarning
	}
	r.Eventf(cluster, nil, kind, now.Reason, "Observe", "%s", rocketmqv1alpha1.Cut(now.Message, maxEventNote))
}
