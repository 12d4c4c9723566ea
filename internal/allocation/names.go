// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"fmt"
	"strings"
)

// ByName is the strategy of that name with its default parameters. The error of
// a name whose parameters are in the application says which these are.
func ByName(name string) (Strategy, error) {
	switch name {
	case NameAveragely:
		return Averagely{}, nil
	case NameAveragelyByCircle:
		return AveragelyByCircle{}, nil
	case NameConsistentHash:
		return ConsistentHash{VirtualNodes: DefaultVirtualNodes}, nil
	case NameConfig:
		return nil, fmt.Errorf("the strategy %s needs the list of queues that each application configured", name)
	case NameMachineRoom:
		return nil, fmt.Errorf("the strategy %s needs the rooms (consumeridcs) that the application set", name)
	}
	if name == NameMachineRoomNearby || strings.HasPrefix(name, NameMachineRoomNearby+"-") {
		return nil, fmt.Errorf("the strategy %s needs the resolver of rooms and the inner strategy that the application set", name)
	}
	return nil, fmt.Errorf("%q is no strategy of the released clients: want %s, %s, %s, %s, %s or %s-INNER", name,
		NameAveragely, NameAveragelyByCircle, NameConfig, NameMachineRoom, NameConsistentHash, NameMachineRoomNearby)
}

// NameOfClass is the name of the strategy of a Java class, as running info shows
// it in the property allocateMessageQueueStrategy: the class, "@" and a number
// (rocketmq.md 3.15). The inner strategy of MACHINE_ROOM_NEARBY is not shown.
// False means that the class is none of the released clients' own.
func NameOfClass(property string) (string, bool) {
	class, _, _ := strings.Cut(property, "@")
	class, ours := strings.CutPrefix(class, "org.apache.rocketmq.client.consumer.rebalance.")
	if !ours {
		return "", false
	}
	switch class {
	case "AllocateMessageQueueAveragely":
		return NameAveragely, true
	case "AllocateMessageQueueAveragelyByCircle":
		return NameAveragelyByCircle, true
	case "AllocateMessageQueueByConfig":
		return NameConfig, true
	case "AllocateMessageQueueByMachineRoom":
		return NameMachineRoom, true
	case "AllocateMachineRoomNearby":
		return NameMachineRoomNearby, true
	case "AllocateMessageQueueConsistentHash":
		return NameConsistentHash, true
	}
	return "", false
}
