// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations that Lockstep reads. They ask for one act, where a field of the spec would ask for a state.
const (
	// AnnotationPaused stops every write to the brokers for the object, deletion included, while its
	// value is not empty and not "false". Observation goes on.
	AnnotationPaused = GroupName + "/paused"
	// AnnotationConfirmDelete confirms that a topic is deleted from the brokers although members are
	// connected or messages unread. Its value is the topic's name.
	AnnotationConfirmDelete = GroupName + "/confirm-delete"
	// AnnotationApprove approves one cut. Its value is status.change.approval; any other value does
	// nothing, so an approval cannot outlive the step it was given for.
	AnnotationApprove = GroupName + "/approve"
	// AnnotationReconcileRequest asks for a fresh look now. Its value is any text that differs from the
	// last one, for example the time.
	AnnotationReconcileRequest = GroupName + "/reconcile-requested-at"
	// AnnotationAbandon releases an object that is being deleted although something that Lockstep began
	// is not finished. Its value is the object's UID. What is left undone is said in an event.
	AnnotationAbandon = GroupName + "/abandon"
	// AnnotationSetOffset sets committed offsets that are larger than a queue's end, which block a
	// drain. Its value is a list of OffsetEntry, separated by commas.
	AnnotationSetOffset = GroupName + "/set-offset"
	// AnnotationForgetBroker, on a BrokerCluster, says that a broker which registers with no name server
	// any more is gone for good, with what it held. Its value is ForgetBrokerValue of the broker's status;
	// any other value does nothing, so it cannot outlive the absence it was given for.
	AnnotationForgetBroker = GroupName + "/forget-broker"
)

// Finalizer keeps an object until Lockstep has done, or left in order, what it began on the brokers.
const Finalizer = GroupName + "/finalizer"

// IsPaused reports whether the object carries AnnotationPaused.
func IsPaused(object metav1.Object) bool {
	value := object.GetAnnotations()[AnnotationPaused]
	return value != "" && value != "false"
}

// ReconcileRequest returns the value of AnnotationReconcileRequest, cut to the 128 bytes that
// status.lastHandledReconcileRequest holds.
func ReconcileRequest(object metav1.Object) string {
	const limit = 128
	value := object.GetAnnotations()[AnnotationReconcileRequest]
	if len(value) > limit {
		return strings.ToValidUTF8(value[:limit], "")
	}
	return value
}

// IsAbandoned reports whether AnnotationAbandon carries the object's own UID.
func IsAbandoned(object metav1.Object) bool {
	uid := string(object.GetUID())
	return uid != "" && object.GetAnnotations()[AnnotationAbandon] == uid
}

// IsDeleteConfirmed reports whether AnnotationConfirmDelete carries the topic's name.
func (t *Topic) IsDeleteConfirmed() bool {
	name := t.EffectiveName()
	return name != "" && t.Annotations[AnnotationConfirmDelete] == name
}

// IsApproved reports whether AnnotationApprove carries what the running change waits for. Without a
// change that waits for approval nothing is approved.
func (t *Topic) IsApproved() bool {
	change := t.Status.Change
	return change != nil && change.Approval != "" && t.Annotations[AnnotationApprove] == change.Approval
}

// ForgetBrokerValue is what AnnotationForgetBroker has to be for a broker to be forgotten: its name and
// the second since which it is gone. It is empty for a broker that is not gone.
func ForgetBrokerValue(b BrokerStatus) string {
	if b.State != PeerGone || b.Since == nil {
		return ""
	}
	return b.Name + "@" + strconv.FormatInt(b.Since.Unix(), 10)
}

// OffsetEntry is one entry of AnnotationSetOffset, written group@broker/queue=offset.
type OffsetEntry struct {
	// Group is the consumer group.
	Group string
	// Broker is the broker's name.
	Broker string
	// Queue is the queue's id on that broker.
	Queue int32
	// Offset is the committed offset to set, at least 0.
	Offset int64
}

// OffsetEntries parses AnnotationSetOffset. Without the annotation it returns nothing; if any entry
// cannot be read it returns none of them and an error that names the entry.
func OffsetEntries(object metav1.Object) ([]OffsetEntry, error) {
	value := strings.TrimSpace(object.GetAnnotations()[AnnotationSetOffset])
	if value == "" {
		return nil, nil
	}
	var out []OffsetEntry
	for _, text := range strings.Split(value, ",") {
		entry, err := parseOffsetEntry(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("annotation %s: %w", AnnotationSetOffset, err)
		}
		out = append(out, entry)
	}
	return out, nil
}

func parseOffsetEntry(text string) (OffsetEntry, error) {
	fail := func(why string) (OffsetEntry, error) {
		return OffsetEntry{}, fmt.Errorf("entry %q: %s; write group@broker/queue=offset, for example CG_SHOP_POINTS@broker-a/97=1200", text, why)
	}
	group, rest, found := strings.Cut(text, "@")
	if !found || group == "" {
		return fail("the group is missing")
	}
	place, offsetText, found := strings.Cut(rest, "=")
	if !found {
		return fail("the offset is missing")
	}
	slash := strings.LastIndexByte(place, '/')
	if slash <= 0 {
		return fail("the broker is missing")
	}
	queue, err := strconv.ParseInt(place[slash+1:], 10, 32)
	if err != nil || queue < 0 {
		return fail("the queue is not a number")
	}
	offset, err := strconv.ParseInt(offsetText, 10, 64)
	if err != nil || offset < 0 {
		return fail("the offset is not a number")
	}
	return OffsetEntry{Group: group, Broker: place[:slash], Queue: int32(queue), Offset: offset}, nil
}
