// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package fastjson

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// javaBodies returns the bodies that RocketMQ's own encoder wrote (see
// ../testdata/README.md) and those of captured answers, by file name.
func javaBodies(t testing.TB) map[string][]byte {
	t.Helper()
	bodies := map[string][]byte{}
	for _, pattern := range []string{"testdata/java/*.body", "../testdata/live/*/*.frame"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files match %s: %v", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Ext(file) == ".frame" {
				c, err := remoting.ReadCommand(bytes.NewReader(data), 0)
				if err != nil {
					t.Fatal(err)
				}
				data = c.Body
			}
			if len(data) > 0 {
				bodies[file] = data
			}
		}
	}
	return bodies
}

func TestJavaBodies(t *testing.T) {
	for file, body := range javaBodies(t) {
		t.Run(file, func(t *testing.T) {
			g := NewWithT(t)
			text, err := ToJSON(body)
			if base := filepath.Base(file); base == "ref-self-4.9.7.body" || base == "ref-parent-4.9.7.body" {
				g.Expect(err).To(MatchError(ContainSubstring("forms a loop")))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(json.Valid(text)).To(BeTrue())
			var v map[string]any
			g.Expect(json.Unmarshal(text, &v)).To(Succeed())
			g.Expect(v).NotTo(BeEmpty())
		})
	}
}

type clusterInfo struct {
	BrokerAddrTable map[string]struct {
		BrokerAddrs map[int]string `json:"brokerAddrs" fastjson:"required"`
		Cluster     string         `json:"cluster"`
	} `json:"brokerAddrTable" fastjson:"required"`
	ClusterAddrTable map[string][]string `json:"clusterAddrTable" fastjson:"required"`
}

func TestP02_LiveClusterInfo(t *testing.T) {
	for _, version := range []string{"4.9.7", "5.5.0"} {
		t.Run(version, func(t *testing.T) {
			g := NewWithT(t)
			var info clusterInfo
			g.Expect(Unmarshal(javaBodies(t)["../testdata/live/"+version+"/cluster.frame"], &info)).To(Succeed())
			g.Expect(info.ClusterAddrTable).To(Equal(map[string][]string{"DefaultCluster": {"broker-a"}}))
			g.Expect(info.BrokerAddrTable).To(HaveLen(1))
			g.Expect(info.BrokerAddrTable["broker-a"].BrokerAddrs).To(HaveKeyWithValue(0, HavePrefix("127.0.0.1:")))
		})
	}
}

func TestP02_LiveOffsets(t *testing.T) {
	for _, version := range []string{"4.9.7", "5.5.0"} {
		t.Run(version, func(t *testing.T) {
			g := NewWithT(t)
			var offsets struct {
				OffsetTable map[string]map[int]int64 `json:"offsetTable" fastjson:"required"`
			}
			g.Expect(Unmarshal(javaBodies(t)["../testdata/live/"+version+"/offsets.frame"], &offsets)).To(Succeed())
			g.Expect(offsets.OffsetTable).To(Equal(map[string]map[int]int64{"Orders@orders_reader": {0: 1, 3: 0}}))
		})
	}
}

func TestP01_LiveTopicStats(t *testing.T) {
	for _, version := range []string{"4.9.7", "5.5.0"} {
		for _, file := range []string{"stats", "stats-binary"} {
			t.Run(version+" "+file, func(t *testing.T) {
				g := NewWithT(t)
				var stats topicStats
				g.Expect(Unmarshal(javaBodies(t)["../testdata/live/"+version+"/"+file+".frame"], &stats)).To(Succeed())
				want := ObjectMap[queue, topicOffset]{}
				for id := range 4 {
					want[queue{"Orders", "broker-a", id}] = topicOffset{MinOffset: 0, MaxOffset: 1}
				}
				g.Expect(stats.OffsetTable).To(Equal(want))
			})
		}
	}
}

type runningInfo struct {
	MQTable ObjectMap[queue, struct {
		CachedMsgCount int `json:"cachedMsgCount"`
	}] `json:"mqTable" fastjson:"required"`
	Properties map[string]string `json:"properties"`
}

// TestReferenceOfASharedObject reads what both generations of fastjson make of
// two queues that hold one object.
func TestReferenceOfASharedObject(t *testing.T) {
	for _, version := range []string{"4.9.7", "5.5.0"} {
		t.Run(version, func(t *testing.T) {
			g := NewWithT(t)
			var info runningInfo
			g.Expect(Unmarshal(javaBodies(t)["testdata/java/ref-running-info-"+version+".body"], &info)).To(Succeed())
			g.Expect(info.MQTable).To(HaveLen(2))
			for id := range 2 {
				g.Expect(info.MQTable[queue{"T-1_x", "broker-a", id}].CachedMsgCount).To(Equal(5))
			}
			g.Expect(info.Properties).To(HaveKeyWithValue("k", "v\x0b\x01'/\\\x7f\u2028"))
		})
	}
}

func TestReferenceToAnOddName(t *testing.T) {
	g := NewWithT(t)
	var maps [2]map[string]any
	for i, version := range []string{"4.9.7", "5.5.0"} {
		g.Expect(Unmarshal(javaBodies(t)["testdata/java/ref-map-"+version+".body"], &maps[i])).To(Succeed())
	}
	g.Expect(maps[0]).To(Equal(maps[1]), "with references and without they say the same")
	shared := map[string]any{"x": 1.0}
	g.Expect(maps[0]).To(Equal(map[string]any{
		"1": "int", "2": "long", "true": "bool", "s.t r/[0]": shared, "list": []any{shared, shared}, "3": shared, "4": shared,
		"nan": nil, "d": 1.0, "big": 1e300, "ctl": "\x00\x07\x0b\x1f\x7f\u2028?",
	}))
}
