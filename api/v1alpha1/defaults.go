// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Wire is the value of RocketMQ's topic attribute message.type (rocketmq.md 3.4); empty where the spec
// is silent.
func (m MessageType) Wire() string {
	switch m {
	case MessageTypeNormal:
		return "NORMAL"
	case MessageTypeFIFO:
		return "FIFO"
	case MessageTypeDelay:
		return "DELAY"
	case MessageTypeTransaction:
		return "TRANSACTION"
	case MessageTypeMixed:
		return "MIXED"
	case MessageTypePriority:
		return "PRIORITY"
	default:
		return ""
	}
}

// Wire is RocketMQ's perm: 4 for reading plus 2 for writing. Absent is both.
func (p Permission) Wire() int32 {
	switch p {
	case PermissionReadOnly:
		return 4
	case PermissionWriteOnly:
		return 2
	default:
		return 6
	}
}

// ResizeMode is spec.resize.mode or its default.
func (s *TopicSpec) ResizeMode() ResizeMode {
	if s.Resize == nil || s.Resize.Mode == "" {
		return ResizeAutomatic
	}
	return s.Resize.Mode
}

// AllowsOrderChange reports whether spec.resize.orderChange is Allow.
func (s *TopicSpec) AllowsOrderChange() bool {
	return s.Resize != nil && s.Resize.OrderChange == OrderChangeAllow
}

// KeepsHistory reports whether spec.resize.history is Keep.
func (s *TopicSpec) KeepsHistory() bool {
	return s.Resize != nil && s.Resize.History == HistoryKeep
}

// RescuesStranded reports whether spec.resize.stranded is Rescue.
func (s *TopicSpec) RescuesStranded() bool {
	return s.Resize != nil && s.Resize.Stranded == StrandedRescue
}

// DeletesTopic reports whether spec.deletionPolicy is Delete.
func (s *TopicSpec) DeletesTopic() bool {
	return s.DeletionPolicy == DeletionDelete
}

// Waives reports whether a waiver gives up what the group has not read when the topic goes to this
// number of queues per broker. The caller checks that the group has no member (safety R20).
func (s *TopicSpec) Waives(group string, toQueues int32) bool {
	if s.Resize == nil {
		return false
	}
	for _, waiver := range s.Resize.Waivers {
		if waiver.Group == group && waiver.ToQueues == toQueues {
			return true
		}
	}
	return false
}

// GuardMode is spec.scaleGuard.mode or its default.
func (s *BrokerClusterSpec) GuardMode() ScaleGuardMode {
	if s.ScaleGuard == nil || s.ScaleGuard.Mode == "" {
		return ScaleGuardWarn
	}
	return s.ScaleGuard.Mode
}
