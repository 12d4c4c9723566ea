// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// defaultSettings are the broker's configuration as far as anybody here reads
// it (rocketmq.md 9.4).
func (b *Broker) defaultSettings() map[string]string {
	s := map[string]string{
		"brokerName": b.name, "brokerId": strconv.FormatInt(b.id, 10),
		"brokerClusterName": b.cluster, "brokerPermission": "6",
		"brokerIP1": "127.0.0.1", "listenPort": b.addr[strings.LastIndexByte(b.addr, ':')+1:],
		"autoCreateTopicEnable": "true", "autoCreateSubscriptionGroup": "true",
		"defaultTopicQueueNums": "8", "fileReservedTime": "72", "aclEnable": "false",
		"messageDelayLevel": "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h",
		"brokerRole":        "ASYNC_MASTER", "deleteWhen": "04", "maxMessageSize": "4194304",
		"registerNameServerPeriod": "30000", "transactionCheckMax": "15",
		"transactionTimeOut": "6000", "transactionCheckInterval": "30000",
	}
	if b.id > 0 {
		s["brokerRole"] = "SLAVE"
	}
	if !b.version.five() {
		s["transactionCheckInterval"] = "60000"
		return s
	}
	maps.Copy(s, map[string]string{
		"storeType": "default", "timerWheelEnable": "true", "timerMaxDelaySec": "259200",
		"useServerSideResetOffset": "true", "channelExpiredTimeout": "120000",
		"enableMixedMessageType": "false", "popConsumerKVServiceEnable": "false",
		"enableRetryTopicV2": "false",
	})
	if b.version.since540() {
		maps.Copy(s, map[string]string{
			"timerRocksDBEnable": "false", "transRocksDBEnable": "false", "indexRocksDBEnable": "false",
			"enableSplitMetadata": "true",
		})
	}
	return s
}

func (b *Broker) truth(setting string) bool { return b.settings[setting] == "true" }

func (b *Broker) number(setting string) int64 {
	n, err := strconv.ParseInt(b.settings[setting], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// SetSetting changes the broker's configuration, as its file or call 25 does.
func (b *Broker) SetSetting(key, value string) {
	b.c.enter()
	defer b.c.mu.Unlock()
	b.settings[key] = value
	if key == "brokerPermission" {
		b.topicVersion.next(b.c.now())
		b.registerAll()
	}
}

// updateConfig is call 25: any key is taken.
func (b *Broker) updateConfig(rq *request) *reply {
	for _, line := range strings.Split(rq.Body, "\n") {
		if k, v, found := strings.Cut(line, "="); found {
			b.settings[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	return ok(nil)
}

// config is call 26: Java properties as text.
func (b *Broker) config() *reply {
	var text strings.Builder
	for _, k := range slices.Sorted(maps.Keys(b.settings)) {
		text.WriteString(k + "=" + b.settings[k] + "\n")
	}
	r := ok([]byte(text.String()))
	r.ext = map[string]string{"version": string(fastjson(b.json(b.topicVersion)))}
	return r
}

// runtime is call 28: every value is a string.
func (b *Broker) runtime() *reply {
	t := jObject{
		"brokerVersion": strconv.Itoa(int(b.version)), "brokerVersionDesc": b.version.Desc(),
		"bootTimestamp":       strconv.FormatInt(b.booted.UnixMilli(), 10),
		"dispatchBehindBytes": strconv.FormatInt(b.store.behind(), 10),
		"commitLogMinOffset":  "0", "commitLogMaxOffset": strconv.FormatInt(b.store.tail, 10),
		"startAcceptSendRequestTimeStamp": "0", "remainHowManyDataToFlush": "0 B",
		"runtime": fmt.Sprintf("[ 0 days, 0 hours, %d minutes, 0 seconds ]", int(b.c.now().Sub(b.booted).Minutes())),
	}
	if b.version.five() {
		t["brokerActive"] = strconv.FormatBool(b.id == 0)
		t["timerReadBehind"], t["timerOffsetBehind"] = "0", strconv.FormatInt(b.store.late.timersUnread(), 10)
		t["timerCongestNum"], t["timerEnqueueTps"], t["timerDequeueTps"] = "0", "0.0", "0.0"
	}
	for level, p := range b.scheduleProgress() {
		t[fmt.Sprintf("scheduleMessageOffset_%d", level)] = fmt.Sprintf("%d,%d", p.delivered, p.max)
	}
	return ok(fastjson(jObject{"table": t}))
}

// delayOffsets is call 45: what is delivered of each level.
func (b *Broker) delayOffsets() *reply {
	table := jInts{}
	for level, p := range b.scheduleProgress() {
		table[int64(level)] = p.delivered
	}
	body := jObject{"offsetTable": table}
	if b.version.five() {
		body["dataVersion"] = b.json(b.offsetVersion)
	}
	return ok(fastjson(body))
}

// timerMetrics is call 61: messages in the timer wheel by real topic.
func (b *Broker) timerMetrics() *reply {
	counts := jObject{}
	for topic, n := range b.store.late.timerCounts() {
		counts[topic] = jObject{"count": n, "timeStamp": b.c.now().UnixMilli()}
	}
	return ok(fastjson(jObject{"dataVersion": b.json(b.offsetVersion), "timingCount": counts}))
}
