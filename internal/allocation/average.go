// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

// Averagely is AllocateMessageQueueAveragely, the default of all clients, and
// AllocateByAveragely of rocketmq-client-go: each member takes consecutive
// queues, and the first members take the remainder.
type Averagely struct{}

// Name is "AVG".
func (Averagely) Name() string { return NameAveragely }

// Allocate implements Strategy. The result is a part of queues.
func (Averagely) Allocate(self string, queues []Queue, clients []string) ([]Queue, error) {
	i, err := check(self, queues, clients)
	if err != nil || i < 0 {
		return nil, err
	}
	return averagely(queues, len(clients), i), nil
}

func averagely(queues []Queue, clients, i int) []Queue {
	r := rangeAt(int64(len(queues)/clients), int64(len(queues)%clients), int64(i))
	return queues[r.Start:r.End:r.End]
}

func (Averagely) share(queues []Queue, clients []string) ([][]Queue, error) {
	if err := checkAll(queues, clients); err != nil {
		return nil, err
	}
	shares := make([][]Queue, len(clients))
	for i, first := range firsts(clients) {
		shares[i] = averagely(queues, len(clients), first)
	}
	return shares, nil
}

// AveragelyByCircle is AllocateMessageQueueAveragelyByCircle, and
// AllocateByAveragelyCircle of rocketmq-client-go: the queues are dealt out one
// by one, so a member gets every c-th.
type AveragelyByCircle struct{}

// Name is "AVG_BY_CIRCLE".
func (AveragelyByCircle) Name() string { return NameAveragelyByCircle }

// Allocate implements Strategy.
func (AveragelyByCircle) Allocate(self string, queues []Queue, clients []string) ([]Queue, error) {
	i, err := check(self, queues, clients)
	if err != nil || i < 0 {
		return nil, err
	}
	return everyFrom(make([]Queue, 0, len(queues)/len(clients)+1), queues, i, len(clients)), nil
}

func everyFrom(to, queues []Queue, i, step int) []Queue {
	for ; i < len(queues); i += step {
		to = append(to, queues[i])
	}
	return to
}

func (AveragelyByCircle) share(queues []Queue, clients []string) ([][]Queue, error) {
	if err := checkAll(queues, clients); err != nil {
		return nil, err
	}
	shares := make([][]Queue, len(clients))
	// All shares together are the queues in another order: one piece of memory.
	dealt := make([]Queue, 0, len(queues))
	for i, first := range firsts(clients) {
		if first != i {
			shares[i] = shares[first]
			continue
		}
		from := len(dealt)
		dealt = everyFrom(dealt, queues, i, len(clients))
		shares[i] = dealt[from:len(dealt):len(dealt)]
	}
	return shares, nil
}
