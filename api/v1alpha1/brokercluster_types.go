// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BrokerCluster says where one RocketMQ cluster is, how to reach it, and which namespaces may declare
// topics and consumer groups on it.
//
// Lockstep connects to the addresses that stand here, so the right to create BrokerClusters belongs to
// the platform's administrators.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=rmqc,categories=rocketmq;lockstep
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterName`,description="Name of the RocketMQ cluster"
// +kubebuilder:printcolumn:name="Brokers",type=integer,JSONPath=`.status.counts.brokers`,description="Master brokers that the name servers show; blank is unknown"
// +kubebuilder:printcolumn:name="Answering",type=integer,JSONPath=`.status.counts.brokersAnswering`,description="Master brokers that answer; blank is unknown"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether Lockstep can read and change this cluster"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the cluster is ready or not"
// +kubebuilder:printcolumn:name="Topics",type=integer,priority=1,JSONPath=`.status.counts.topics`,description="Topics on the brokers, system topics left out"
// +kubebuilder:printcolumn:name="Guard",type=string,priority=1,JSONPath=`.spec.scaleGuard.mode`,description="Mode of the scale guard; blank is Warn"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,description="The sentence of the Ready condition"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type BrokerCluster struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the RocketMQ cluster as declared.
	//
	// +required
	Spec BrokerClusterSpec `json:"spec,omitzero"`

	// status is what Lockstep last observed of the cluster.
	//
	// +optional
	// +default={"observedGeneration":-1,"conditions":[{"type":"Ready","status":"Unknown","reason":"NotSeen","message":"Lockstep has not looked at this object yet","lastTransitionTime":"1970-01-01T00:00:00Z"}]}
	Status BrokerClusterStatus `json:"status,omitzero"`
}

// BrokerClusterList is a list of BrokerClusters.
//
// +kubebuilder:object:root=true
type BrokerClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BrokerCluster `json:"items"`
}

// Endpoint is a host name or an IP address (IPv6 in brackets), a colon and a port.
//
// +kubebuilder:validation:MinLength=3
// +kubebuilder:validation:MaxLength=261
// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|\\\\[[0-9A-Fa-f:.]+\\\\]):([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$')",message="write host:port without a scheme, for example rocketmq-namesrv.rocketmq.svc:9876; the port is 1 to 65535 and an IPv6 address stands in brackets"
type Endpoint string

// BrokerClusterSpec is the RocketMQ cluster as declared.
type BrokerClusterSpec struct {
	// nameServers are the name servers, each as host:port. All of them are asked, each time, and
	// compared: a change waits until they agree. A host is resolved again at every use, and every
	// address that a host resolves to is asked (a headless Service is a good entry).
	//
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	NameServers []Endpoint `json:"nameServers,omitempty"`

	// clusterName is the RocketMQ cluster's own name (brokerClusterName in the brokers'
	// configuration). It cannot be changed: every Topic that refers to this object would move to other
	// brokers. Declare another BrokerCluster for another cluster.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=127
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="clusterName cannot change, because every Topic that refers to this BrokerCluster would move to other brokers; declare another BrokerCluster"
	ClusterName string `json:"clusterName,omitempty"`

	// proxies are the remoting ports of the RocketMQ 5 proxies, each as host:port (8080 unless
	// configured otherwise; not the gRPC port 8081). Through them consumers that use the gRPC SDKs are
	// seen, which no broker lists. Leave it out when the cluster has no proxy.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	Proxies []Endpoint `json:"proxies,omitempty"`

	// heartbeatTopic is the topic in which proxies tell each other which gRPC members they serve.
	// Absent means DefaultHeartBeatSyncerTopic in the cluster clusterName, as proxies use it unless
	// configured otherwise.
	//
	// +optional
	HeartbeatTopic *HeartbeatTopic `json:"heartbeatTopic,omitempty"`

	// credentials are the access key and secret key with which requests are signed (ACL). Absent
	// means that requests are not signed.
	//
	// +optional
	Credentials *Credentials `json:"credentials,omitempty"`

	// tls makes every connection to name servers, brokers and proxies use TLS. Absent means plain
	// TCP.
	//
	// +optional
	TLS *TLS `json:"tls,omitempty"`

	// access says which namespaces may declare which topics and consumer groups here. A declaration
	// is allowed if at least one rule allows it. Without any rule only the namespace of this
	// BrokerCluster may declare, and it may declare every name; as soon as there is a rule, only the
	// rules count.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Access []AccessRule `json:"access,omitempty"`

	// scaleGuard says what happens when a workload is scaled past the number of replicas that can get
	// a queue.
	//
	// +optional
	ScaleGuard *ScaleGuard `json:"scaleGuard,omitempty"`

	// timings are the waiting times and intervals for this cluster. Each has a default that suits
	// clients with default settings.
	//
	// +optional
	Timings *Timings `json:"timings,omitempty"`
}

// HeartbeatTopic is the topic in which proxies tell each other which gRPC members they serve.
type HeartbeatTopic struct {
	// name is the topic's name (heartbeatSyncerTopicName in the proxies' configuration). Absent means
	// DefaultHeartBeatSyncerTopic.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=127
	// +kubebuilder:validation:XValidation:rule="self.matches('^[%|a-zA-Z0-9_-]+$')",message="RocketMQ allows letters, digits, _ - | % in a topic name"
	Name string `json:"name,omitempty"`

	// cluster is the RocketMQ cluster on whose brokers the topic lives (heartbeatSyncerTopicClusterName
	// in the proxies' configuration). Absent means spec.clusterName.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=127
	Cluster string `json:"cluster,omitempty"`
}

// Credentials are the access key and secret key with which requests are signed.
type Credentials struct {
	// secretRef names a Secret in the namespace of this BrokerCluster with the keys accessKey and
	// secretKey, and securityToken where the brokers ask for one. The user it names must be allowed to
	// read and change topics and consumer groups.
	//
	// +required
	SecretRef SecretReference `json:"secretRef,omitzero"`
}

// TLSVerification says how the certificate of a server is checked.
//
// +kubebuilder:validation:Enum=Full;None
type TLSVerification string

const (
	// TLSVerificationFull checks the chain and the server's name.
	TLSVerificationFull TLSVerification = "Full"
	// TLSVerificationNone accepts every certificate.
	TLSVerificationNone TLSVerification = "None"
)

// TLS is how connections are encrypted.
//
// +kubebuilder:validation:XValidation:rule="!has(self.verification) || self.verification != 'None' || (!has(self.caSecretRef) && !has(self.serverName))",message="verification None accepts every certificate, so caSecretRef and serverName would do nothing; remove them, or set verification to Full"
type TLS struct {
	// verification says how the certificate of a server is checked: Full checks the chain and the
	// name; None accepts every certificate, so that anybody on the way can read and change what is
	// sent. Absent means Full.
	//
	// +optional
	Verification TLSVerification `json:"verification,omitempty"`

	// serverName is the name that the certificates of all servers must carry. Set it where brokers are
	// reached by address, as in most clusters, and their certificates name no address. Absent means the
	// host that is connected to.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ServerName string `json:"serverName,omitempty"`

	// caSecretRef names a Secret in the namespace of this BrokerCluster whose key ca.crt holds the
	// certificate authorities to trust, in PEM. Absent means those of the operator's image.
	//
	// +optional
	CASecretRef *SecretReference `json:"caSecretRef,omitempty"`

	// clientSecretRef names a Secret of type kubernetes.io/tls in the namespace of this BrokerCluster
	// with the client certificate, where the servers ask for one.
	//
	// +optional
	ClientSecretRef *SecretReference `json:"clientSecretRef,omitempty"`
}

// ScaleGuardMode says what happens to a scale-up past the useful number of replicas.
//
// +kubebuilder:validation:Enum=Enforce;Warn;Off
type ScaleGuardMode string

const (
	// ScaleGuardEnforce refuses it from people and lowers it from autoscalers.
	ScaleGuardEnforce ScaleGuardMode = "Enforce"
	// ScaleGuardWarn lets it pass with a warning.
	ScaleGuardWarn ScaleGuardMode = "Warn"
	// ScaleGuardOff does not judge it.
	ScaleGuardOff ScaleGuardMode = "Off"
)

// ScaleGuard says what happens when a workload is scaled past the number of replicas that can get a
// queue.
type ScaleGuard struct {
	// mode is Enforce (refuse the request of a person or a pipeline, lower that of an autoscaler), Warn
	// (let it pass with a warning) or Off. Absent means Warn, the right first step where workloads run
	// already.
	//
	// +optional
	Mode ScaleGuardMode `json:"mode,omitempty"`
}
