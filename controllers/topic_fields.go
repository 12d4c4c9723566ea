// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// attributeMessageType is the topic attribute behind spec.messageType.
const attributeMessageType = "message.type"

// withDeclared is a broker's config with everything that the spec declares
// beside queue counts; what the spec leaves out stays as it is (case Q28).
func withDeclared(spec *rocketmqv1alpha1.TopicSpec, have snapshot.TopicConfig) snapshot.TopicConfig {
	want := have.Clone()
	want.Perm = snapshot.Perm(spec.Permission.Wire())
	switch spec.Order {
	case rocketmqv1alpha1.OrderOrdered:
		want.Order = true
	case rocketmqv1alpha1.OrderUnordered:
		want.Order = false
	}
	declared := map[string]string{}
	if t := spec.MessageType.Wire(); t != "" {
		declared[attributeMessageType] = t
	}
	for _, a := range spec.Attributes {
		declared[a.Name] = a.Value
	}
	if len(declared) > 0 && want.Attributes == nil {
		want.Attributes = map[string]string{}
	}
	maps.Copy(want.Attributes, declared)
	return want
}

// newTopic is the config of a topic that does not exist yet.
func newTopic(spec *rocketmqv1alpha1.TopicSpec, name string) snapshot.TopicConfig {
	n := int(spec.Queues.PerBroker)
	return withDeclared(spec, snapshot.TopicConfig{
		Name: name, ReadQueues: n, WriteQueues: n, FilterType: "SINGLE_TAG",
	})
}

// storable takes away what a broker of this version does not keep, so that it
// is neither compared nor sent (rocketmq.md 10).
func storable(want, have snapshot.TopicConfig, version int) snapshot.TopicConfig {
	can := rocketmq.CapabilityOf(version)
	if !can.Attributes {
		want.Attributes = have.Attributes
	}
	if !can.OrderFlag {
		want.Order = have.Order
	}
	return want
}

// notStored says what a broker of this version cannot keep of the declaration;
// empty when it keeps all.
func notStored(spec *rocketmqv1alpha1.TopicSpec, version int) string {
	can := rocketmq.CapabilityOf(version)
	var lost []string
	if !can.Attributes && (spec.MessageType != "" || len(spec.Attributes) > 0) {
		lost = append(lost, "message types and attributes")
	}
	if !can.OrderFlag && spec.Order == rocketmqv1alpha1.OrderOrdered {
		lost = append(lost, "the order flag")
	}
	if len(lost) == 0 {
		return ""
	}
	return "RocketMQ 4 keeps no " + strings.Join(lost, " and not ") + " of a topic; all else is as declared"
}

// fieldDrift says field by field what differs beside queue counts (case Q27);
// empty when nothing does.
func fieldDrift(have, want snapshot.TopicConfig) string {
	var parts []string
	differ := func(name string, have, want any) {
		parts = append(parts, fmt.Sprintf("%s is %v, declared %v", name, have, want))
	}
	if have.Perm != want.Perm {
		differ("permission", int(have.Perm), int(want.Perm))
	}
	if have.Order != want.Order {
		differ("order", have.Order, want.Order)
	}
	for _, key := range slices.Sorted(maps.Keys(want.Attributes)) {
		if h, ok := have.Attributes[key]; !ok {
			differ(key, "not set", want.Attributes[key])
		} else if h != want.Attributes[key] {
			differ(key, h, want.Attributes[key])
		}
	}
	return strings.Join(parts, ", ")
}
