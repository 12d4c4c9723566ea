// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BrokerClusterStatus is what Lockstep last observed of a cluster.
type BrokerClusterStatus struct {
	// conditions say in sentences how the cluster is: Ready, Reconciling, Stalled, NameServersAgree,
	// BrokersReachable, RoutesAgree, Authenticated, Paused.
	//
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`

	// observedGeneration is the metadata.generation of the spec that this status speaks about; -1
	// means that no status was written yet.
	//
	// +optional
	// +default=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// claim says which BrokerCluster stands for this physical cluster. A second one for the same name
	// servers and brokers is a conflict and changes nothing.
	//
	// +optional
	Claim *Claim `json:"claim,omitempty"`

	// counts are totals. A number that is not known is absent.
	//
	// +optional
	Counts *BrokerClusterCounts `json:"counts,omitempty"`

	// brokers are the master brokers that the name servers show, by name.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Brokers []BrokerStatus `json:"brokers,omitempty"`

	// nameServers are the addresses that spec.nameServers resolved to.
	//
	// +optional
	// +listType=map
	// +listMapKey=address
	// +kubebuilder:validation:MaxItems=64
	NameServers []NameServerStatus `json:"nameServers,omitempty"`

	// proxies are the addresses that spec.proxies resolved to.
	//
	// +optional
	// +listType=map
	// +listMapKey=address
	// +kubebuilder:validation:MaxItems=64
	Proxies []ProxyStatus `json:"proxies,omitempty"`

	// lastHandledReconcileRequest is the value of the annotation
	// rocketmq.lockstep.dev/reconcile-requested-at that was last acted upon.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=128
	LastHandledReconcileRequest string `json:"lastHandledReconcileRequest,omitempty"`
}

// BrokerClusterCounts are totals over one cluster. A number that is not known is absent.
type BrokerClusterCounts struct {
	// brokers is the number of broker names that the name servers show.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Brokers *int32 `json:"brokers,omitempty"`

	// brokersAnswering is the number of those whose master answered in the last sweep.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	BrokersAnswering *int32 `json:"brokersAnswering,omitempty"`

	// nameServers is the number of addresses that spec.nameServers resolved to.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	NameServers *int32 `json:"nameServers,omitempty"`

	// nameServersAgreeing is the number of those that answered and show the same cluster.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	NameServersAgreeing *int32 `json:"nameServersAgreeing,omitempty"`

	// topics is the number of topics on the brokers; system, retry and dead-letter topics are left out.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Topics *int32 `json:"topics,omitempty"`

	// groups is the number of consumer groups on the brokers; built-in groups are left out.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Groups *int32 `json:"groups,omitempty"`
}

// PeerState says how a server stood when it was last asked: Answering, Unreachable, Unresolvable,
// Denied, WrongEndpoint, WrongBroker, WarmingUp, Disagreeing, Gone or Unknown. Later versions may add values.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z]*$`
type PeerState string

const (
	// PeerAnswering is a server that answered everything it was asked.
	PeerAnswering PeerState = "Answering"
	// PeerUnreachable is a server that does not accept connections or does not answer in time.
	PeerUnreachable PeerState = "Unreachable"
	// PeerUnresolvable is a host name that no DNS server knows.
	PeerUnresolvable PeerState = "Unresolvable"
	// PeerDenied is a server that refuses the credentials.
	PeerDenied PeerState = "Denied"
	// PeerWrongEndpoint is a port that speaks something other than the remoting protocol.
	PeerWrongEndpoint PeerState = "WrongEndpoint"
	// PeerWrongBroker is a server that is not the broker that the route says (safety R03).
	PeerWrongBroker PeerState = "WrongBroker"
	// PeerWarmingUp is a name server that has not yet heard from every broker since its start.
	PeerWarmingUp PeerState = "WarmingUp"
	// PeerDisagreeing is a server that answers but shows something else than its peers.
	PeerDisagreeing PeerState = "Disagreeing"
	// PeerGone is a broker that was seen before and is registered with no name server now.
	PeerGone PeerState = "Gone"
	// PeerUnknown is a server that has not been asked, or whose answer could not be understood.
	PeerUnknown PeerState = "Unknown"
)

// BrokerStatus is one broker name and its master.
type BrokerStatus struct {
	// name is the broker's name (brokerName); a master and its slaves share it.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=127
	Name string `json:"name,omitempty"`

	// address is where the master listens, as the name servers show it. Absent means that no master is
	// registered.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=261
	Address string `json:"address,omitempty"`

	// version is the RocketMQ version that the broker reports, for example 5.3.3.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`

	// state says how the master stood when it was last asked: Answering, Unreachable, Denied,
	// WrongEndpoint, WrongBroker, Gone (registered with no name server) or Unknown.
	//
	// +required
	State PeerState `json:"state,omitempty"`

	// since is when the state was first seen to be what it is.
	//
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// message says what is wrong and what to do. Absent means that nothing is.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=160
	Message string `json:"message,omitempty"`
}

// NameServerStatus is one address of a name server.
type NameServerStatus struct {
	// address is the address that was asked, as IP and port, or the entry of the spec if it could not
	// be resolved.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=261
	Address string `json:"address,omitempty"`

	// endpoint is the entry of spec.nameServers that led to this address.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=261
	Endpoint string `json:"endpoint,omitempty"`

	// state says how the name server stood when it was last asked: Answering, Unreachable,
	// Unresolvable, WrongEndpoint, WarmingUp, Disagreeing or Unknown.
	//
	// +required
	State PeerState `json:"state,omitempty"`

	// message says what is wrong and what to do. Absent means that nothing is.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=160
	Message string `json:"message,omitempty"`
}

// ProxyStatus is one address of a proxy.
type ProxyStatus struct {
	// address is the address that was asked, as IP and port, or the entry of the spec if it could not
	// be resolved.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=261
	Address string `json:"address,omitempty"`

	// state says how the proxy stood when it was last asked: Answering, Unreachable, Unresolvable,
	// Denied, WrongEndpoint or Unknown.
	//
	// +required
	State PeerState `json:"state,omitempty"`

	// message says what is wrong and what to do. Absent means that nothing is.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=160
	Message string `json:"message,omitempty"`
}
