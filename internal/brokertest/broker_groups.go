// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
)

// updateGroup is call 200 (rocketmq.md 3.10).
func (b *Broker) updateGroup(rq *request) *reply {
	if r := b.refuseSlave(); r != nil {
		return r
	}
	var w wireGroup
	if err := json.Unmarshal([]byte(rq.Body), &w); err != nil {
		return answer(systemError, "syntax error, "+err.Error())
	}
	g := w.config()
	if why := b.version.checkGroupName(g.Name); why != "" {
		return answer(b.version.invalid(), why)
	}
	if err := b.changeGroup(g); err != nil {
		return answer(systemError, "java.lang.RuntimeException: "+err.Error())
	}
	return ok(nil)
}

// updateGroupList is call 225.
func (b *Broker) updateGroupList(rq *request) *reply {
	var body struct {
		GroupConfigList []wireGroup `json:"groupConfigList"`
	}
	if err := json.Unmarshal([]byte(rq.Body), &body); err != nil {
		return answer(systemError, "syntax error, "+err.Error())
	}
	for _, w := range body.GroupConfigList {
		if why := b.version.checkGroupName(w.config().Name); why != "" {
			return answer(b.version.invalid(), why)
		}
	}
	for _, w := range body.GroupConfigList {
		if err := b.changeGroup(w.config()); err != nil {
			return answer(systemError, "java.lang.RuntimeException: "+err.Error())
		}
	}
	return ok(nil)
}

// changeGroup replaces a group, except for its attributes, which are merged
// (rocketmq-live.md 3).
func (b *Broker) changeGroup(g *GroupConfig) error {
	var current map[string]string
	old := b.groups[g.Name]
	if old != nil {
		current = old.Attributes
	}
	if b.version.five() {
		merged, err := b.version.groupAttributes().alter(old == nil, current, g.Attributes)
		if err != nil {
			return err
		}
		g.Attributes = merged
	} else {
		g.Attributes = nil
	}
	b.groups[g.Name] = g
	b.groupVersion.next(b.c.now())
	return nil
}

// findGroup is the broker's lookup, which creates the group where that is
// switched on (autoCreateSubscriptionGroup).
func (b *Broker) findGroup(name string) *GroupConfig {
	if g := b.groups[name]; g != nil {
		return g
	}
	if !b.truth("autoCreateSubscriptionGroup") && !strings.HasPrefix(name, "CID_RMQ_SYS_") {
		return nil
	}
	if b.version.five() && (len(name) > 255 || strings.Trim(name, nameCharacters) != "") ||
		b.version.checkGroupName(name) != "" {
		return nil
	}
	g := DefaultGroup(name)
	b.groups[name] = &g
	b.groupVersion.next(b.c.now())
	return &g
}

// groupConfig is call 352, which creates the group it is asked for: then the
// call is recorded as changing (rocketmq.md 3.11).
func (b *Broker) groupConfig(rq *request) *reply {
	name := rq.Args["group"]
	if b.groups[name] == nil {
		rq.Kind = Changing
	}
	g := b.findGroup(name)
	if g == nil {
		return answer(groupNotExist, "No group in this broker")
	}
	return ok(fastjson(b.groupJSON(g)))
}

// allGroups is call 201 (rocketmq.md 3.12).
func (b *Broker) allGroups() *reply {
	table := jObject{}
	for name, g := range b.groups {
		table[name] = b.groupJSON(g)
	}
	body := jObject{"dataVersion": b.json(b.groupVersion), "subscriptionGroupTable": table}
	if b.version.five() {
		body["forbiddenTable"] = jObject{}
	}
	r := ok(fastjson(body))
	if b.version.since540() {
		r.ext = map[string]string{"totalGroupNum": strconv.Itoa(len(b.groups))}
	}
	return r
}

// deleteGroup is call 207 (rocketmq.md 3.13). It leaves the group's retry and
// dead-letter topics alone, and its offsets unless told otherwise. Unless it
// cleans offsets, 5.5.0 looks the group up once more after it is gone, which
// creates it again with defaults where groups are created by asking.
func (b *Broker) deleteGroup(rq *request) *reply {
	if r := b.refuseSlave(); r != nil {
		return r
	}
	name := rq.Args["groupName"]
	if _, has := b.groups[name]; has {
		delete(b.groups, name)
		b.groupVersion.next(b.c.now())
	}
	clean := rq.Args["cleanOffset"]
	if !b.version.five() {
		clean = rq.Args["removeOffset"]
	}
	if !strings.EqualFold(clean, "true") && b.version >= V550 {
		b.findGroup(name)
	}
	if strings.EqualFold(clean, "true") {
		for _, table := range []map[string]map[int]int64{b.offsets, b.pulled, b.resets} {
			maps.DeleteFunc(table, func(key string, _ map[int]int64) bool {
				_, group, isEntry := splitOffsetKey(key)
				return isEntry && group == name
			})
		}
	}
	return ok(nil)
}
