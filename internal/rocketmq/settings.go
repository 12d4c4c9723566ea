// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Settings asks a broker for its configuration (call 26, rocketmq.md 3.23, 9.4)
// and keeps what Lockstep needs of it. The rest, which includes passwords, is
// dropped here.
func (c *Client) Settings(ctx context.Context, addr string) (snapshot.Settings, error) {
	s, _, err := c.settings(ctx, addr)
	return s, err
}

func (c *Client) settings(ctx context.Context, addr string) (snapshot.Settings, uint64, error) {
	return read(ctx, c, addr, remoting.ReqGetBrokerConfig, nil, decodeSettings)
}

func decodeSettings(body []byte) (snapshot.Settings, error) {
	values, err := properties(body)
	if err != nil {
		return snapshot.Settings{}, err
	}
	t := table{values: values}
	s := snapshot.Settings{
		Cluster:           t.text("brokerClusterName"),
		Name:              t.text("brokerName"),
		BrokerID:          t.number("brokerId"),
		TimerMaxDelay:     time.Duration(t.optional("timerMaxDelaySec")) * time.Second,
		Retention:         time.Duration(t.number("fileReservedTime")) * time.Hour,
		AutoCreateTopic:   t.flag("autoCreateTopicEnable"),
		AutoCreateGroup:   t.flag("autoCreateSubscriptionGroup"),
		StoreType:         storeType(values),
		TimerOutsideWheel: t.optionalFlag("timerRocksDBEnable"),
		TransOutsideTopic: t.optionalFlag("transRocksDBEnable"),
		Permission:        snapshot.Perm(t.number("brokerPermission")),
		NameServers:       strings.FieldsFunc(values["namesrvAddr"], func(r rune) bool { return r == ';' || r == ' ' }),
	}
	s.DelayLevels, err = delayLevels(t.text("messageDelayLevel"))
	if err != nil {
		t.fail(err)
	}
	if t.err != nil {
		return snapshot.Settings{}, t.err
	}
	return s, nil
}

// defaultStore is the store whose behaviour the dossier describes.
const defaultStore = "default"

// storeType names the store, and a plug-in such as the tiered store if one is
// loaded: rule R04 holds every store but the default.
func storeType(values map[string]string) string {
	store := values["storeType"]
	if store == "" {
		store = defaultStore // 4.9 has no other
	}
	if plugin := values["messageStorePlugIn"]; plugin != "" {
		store += "+plugin"
	}
	return store
}

// properties splits Java properties text as brokers write it: one key=value a
// line, without escapes.
func properties(body []byte) (map[string]string, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("the settings are not text in UTF-8")
	}
	values := map[string]string{}
	for line := range strings.Lines(string(body)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		// A line without "=" continues the value before it: values are
		// written raw and may hold line breaks.
		if key, value, ok := strings.Cut(line, "="); ok {
			values[key] = value
		}
	}
	return values, nil
}

// delayLevels reads a table such as "1s 5s 10s 30s 1m 2h", level 1 first.
func delayLevels(text string) ([]time.Duration, error) {
	var levels []time.Duration
	for _, word := range strings.Fields(text) {
		d, err := delayLevel(word)
		if err != nil {
			return nil, fmt.Errorf("messageDelayLevel: level %d: %w", len(levels)+1, err)
		}
		levels = append(levels, d)
	}
	if len(levels) == 0 {
		return nil, errors.New("messageDelayLevel is empty")
	}
	return levels, nil
}

// maxLevel bounds a level so that no sum of levels overflows.
const maxLevel = 10 * 365 * 24 * time.Hour

func delayLevel(word string) (time.Duration, error) {
	unit, ok := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[word[len(word)-1]]
	if !ok {
		return 0, errors.New("the unit is not s, m, h or d")
	}
	n, err := strconv.ParseInt(word[:len(word)-1], 10, 64)
	if err != nil || n < 0 || n > int64(maxLevel/unit) {
		return 0, errors.New("the number is out of range")
	}
	return time.Duration(n) * unit, nil
}
