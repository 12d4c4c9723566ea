// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func TestR04_DispatchAndTimersBehind(t *testing.T) {
	g := NewWithT(t)
	r, err := decodeRuntime([]byte(`{"table":{"brokerVersionDesc":"V5_3_1","brokerVersion":"475","scheduleMessageOffset_2":"1,4","scheduleMessageOffset_18":"7,7","timerReadBehind":"2","timerOffsetBehind":"3","timerCongestNum":"0","dispatchBehindBytes":"4096","bootTimestamp":"1796062259352"}}`), 0)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r).To(Equal(snapshot.Runtime{
		Version: 475, VersionText: "V5_3_1", Booted: time.UnixMilli(1796062259352), DispatchBehind: 4096,
		Delay:           map[int]snapshot.Progress{2: {Delivered: 1, Max: 4}, 18: {Delivered: 7, Max: 7}},
		TimerReadBehind: 2, TimerOffsetBehind: 3,
	}))
}

func TestRuntime_VersionOfReleasedBrokers(t *testing.T) {
	for version, want := range map[string]int{"4.9.7": 407, "5.3.3": 479, "5.5.0": 513} {
		t.Run(version, func(t *testing.T) {
			g := NewWithT(t)
			body, ok := captured(t, version, remoting.ReqGetBrokerRuntimeInfo)
			g.Expect(ok).To(BeTrue())
			// 5.5.0 has the ordinal in the header only.
			r, err := decodeRuntime(body, want)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.Version).To(Equal(want))
			g.Expect(r.VersionText).To(Equal("V" + strings.ReplaceAll(version, ".", "_")))
			g.Expect(r.Booted.Year()).To(Equal(2026))
			_, err = decodeRuntime(body, 0)
			g.Expect(err == nil).To(Equal(version != "5.5.0"))
		})
	}
}

func TestRuntime_FirstSecondOf49IsBusy(t *testing.T) {
	g := NewWithT(t)
	f := newFake(407)
	f.refuse(remoting.ReqGetBrokerRuntimeInfo, 1, "java.util.NoSuchElementException, java.base/java.util.LinkedList.getLast(LinkedList.java:261)")
	_, err := f.client().Identify(t.Context(), fakeAddr)
	g.Expect(err).To(MatchError(remoting.Busy))
}

func TestSettings_OfReleasedBrokers(t *testing.T) {
	for _, version := range versionsCaptured() {
		t.Run(version, func(t *testing.T) {
			g := NewWithT(t)
			body, ok := captured(t, version, remoting.ReqGetBrokerConfig)
			g.Expect(ok).To(BeTrue())
			s, err := decodeSettings(body)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(s.NameServers).To(HaveLen(1))
			s.NameServers = nil
			want := snapshot.Settings{
				Cluster: "DefaultCluster", Name: "broker-a", DelayLevels: s.DelayLevels, Retention: s.Retention,
				AutoCreateGroup: true, StoreType: "default", Permission: 6,
			}
			if version != "4.9.7" {
				want.TimerMaxDelay = 3 * 24 * time.Hour
			}
			g.Expect(s).To(Equal(want))
			// The rig runs short delays.
			g.Expect(s.DelayLevels).To(HaveLen(18))
			g.Expect(s.DelayLevels[17]).To(Equal(10 * time.Minute))
			g.Expect(s.Retention).To(BeNumerically(">=", time.Hour))
		})
	}
}

func TestSettings(t *testing.T) {
	g := NewWithT(t)
	s, err := decodeSettings([]byte(settingsBody + "timerMaxDelaySec=259200\ntimerRocksDBEnable=true\ntransRocksDBEnable=TRUE\nnamesrvAddr=a:9876;b:9876\n"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.DelayLevels).To(HaveLen(18))
	g.Expect(s.DelayLevels[17]).To(Equal(2 * time.Hour))
	g.Expect(s.Retention).To(Equal(72 * time.Hour))
	g.Expect(s.TimerMaxDelay).To(Equal(72 * time.Hour))
	g.Expect(s.TimerOutsideWheel).To(BeTrue())
	g.Expect(s.TransOutsideTopic).To(BeTrue())
	g.Expect(s.AutoCreateTopic).To(BeTrue())
	g.Expect(s.NameServers).To(Equal([]string{"a:9876", "b:9876"}))
}

// TestR04_OtherStores says which store a broker has, for all but the default are
// held.
func TestR04_OtherStores(t *testing.T) {
	for line, want := range map[string]string{
		"":                         "default",
		"storeType=default":        "default",
		"storeType=defaultRocksDB": "defaultRocksDB",
		"storeType=default\nmessageStorePlugIn=org.apache.rocketmq.tieredstore.TieredMessageStore": "default+plugin",
		"messageStorePlugIn=": "default",
	} {
		g := NewWithT(t)
		s, err := decodeSettings([]byte(settingsBody + line))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(s.StoreType).To(Equal(want), line)
	}
}

func TestSettings_MissingOrUnreadableIsAnError(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(settingsBody), "\n")
	for i, line := range lines[:len(lines)-1] {
		key, _, _ := strings.Cut(line, "=")
		t.Run(key, func(t *testing.T) {
			g := NewWithT(t)
			without := append(append([]string{}, lines[:i]...), lines[i+1:]...)
			_, err := decodeSettings([]byte(strings.Join(without, "\n")))
			g.Expect(err).To(MatchError(ContainSubstring(key)))
			if key == "brokerName" || key == "brokerClusterName" {
				return
			}
			unreadable := append([]string{}, lines...)
			unreadable[i] = key + "=secret?"
			_, err = decodeSettings([]byte(strings.Join(unreadable, "\n")))
			g.Expect(err).To(MatchError(ContainSubstring(key)))
			g.Expect(err).NotTo(MatchError(ContainSubstring("secret")), "an error shows no value of a broker's settings")
		})
	}
	for _, body := range []string{"", "\xff\xfe", "<html>", "null"} {
		_, err := decodeSettings([]byte(body))
		NewWithT(t).Expect(err).To(HaveOccurred(), body)
	}
}

func TestDelayLevels(t *testing.T) {
	for text, want := range map[string][]time.Duration{
		"1s 2m 3h 4d": {time.Second, 2 * time.Minute, 3 * time.Hour, 96 * time.Hour},
		"  1s\t 5s  ": {time.Second, 5 * time.Second},
		"0s":          {0},
	} {
		g := NewWithT(t)
		got, err := delayLevels(text)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(want), text)
	}
	for _, text := range []string{"", " ", "1", "s", "1w", "-1s", "1.5s", "1s 2x", "9999999999d", "99999999999999999999s"} {
		_, err := delayLevels(text)
		NewWithT(t).Expect(err).To(HaveOccurred(), text)
	}
}

func TestR03_Identify(t *testing.T) {
	g := NewWithT(t)
	f := newFake(479)
	id, err := f.client().Identify(t.Context(), fakeAddr)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(id.Process).To(Equal(snapshot.Process{
		Address: fakeAddr, Name: "broker-a", Cluster: "DefaultCluster", BrokerID: 0,
		Booted: time.UnixMilli(1796062259352), Connection: 1,
	}))
	g.Expect(id.Runtime.Version).To(Equal(479))
	g.Expect(f.codes()).To(Equal([]int{26, 28}))
}

// TestR03_IdentifyIsOneProcess has the peer replaced between the two questions.
func TestR03_IdentifyIsOneProcess(t *testing.T) {
	g := NewWithT(t)
	f := newFake(479)
	f.on(remoting.ReqGetBrokerConfig, func(*remoting.Command) *remoting.Command {
		f.generation = 2
		return &remoting.Command{Body: []byte(settingsBody)}
	})
	_, err := f.client().Identify(t.Context(), fakeAddr)
	g.Expect(err).To(MatchError(remoting.ErrOtherConnection))
	g.Expect(f.codes()).To(Equal([]int{26}))
}

func TestR01_OnReachesOneProcessOnly(t *testing.T) {
	g := NewWithT(t)
	f := newFake(479)
	f.ext(remoting.ReqGetMaxOffset, "offset", "5")
	c := f.client()
	id, err := c.Identify(t.Context(), fakeAddr)
	g.Expect(err).NotTo(HaveOccurred())
	pinned := c.On(id.Process)
	g.Expect(pinned.MaxOffset(t.Context(), fakeAddr, "T", 0)).To(BeEquivalentTo(5))

	f.reconnect(479)
	f.reset()
	_, err = pinned.MaxOffset(t.Context(), fakeAddr, "T", 0)
	g.Expect(err).To(MatchError(remoting.ErrOtherConnection))
	g.Expect(f.codes()).To(BeEmpty())
	g.Expect(pinned.MaxOffset(t.Context(), "10.0.0.2:10911", "T", 0)).To(BeEquivalentTo(5), "other addresses are not pinned")
	g.Expect(c.MaxOffset(t.Context(), fakeAddr, "T", 0)).To(BeEquivalentTo(5), "the client itself is not pinned")
}
