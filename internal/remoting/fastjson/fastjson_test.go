// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package fastjson

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

type queue struct {
	Topic      string `json:"topic"`
	BrokerName string `json:"brokerName"`
	QueueID    int    `json:"queueId"`
}

type topicOffset struct {
	MinOffset int64 `json:"minOffset"`
	MaxOffset int64 `json:"maxOffset"`
}

type topicStats struct {
	OffsetTable ObjectMap[queue, topicOffset] `json:"offsetTable" fastjson:"required"`
}

func TestToJSON(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"plain object", `{"a":1,"b":[true,false,null],"c":"x"}`, `{"a":1,"b":[true,false,null],"c":"x"}`},
		{"white space goes", " {\n\t\"a\" : 1 ,\r\"b\" : [ 1 , 2 ] } ", `{"a":1,"b":[1,2]}`},
		{"empty containers", `{"a":{},"b":[], "c":[ ]}`, `{"a":{},"b":[],"c":[]}`},
		{"P02 integer keys", `{"brokerAddrs":{0:"10.0.0.1:10911",1:"b"}}`, `{"brokerAddrs":{"0":"10.0.0.1:10911","1":"b"}}`},
		{"P02 negative key", `{-1:2}`, `{"-1":2}`},
		{"P01 object key", `{{"brokerName":"a","queueId":0,"topic":"T"}:{"x":1}}`, `{"{\"brokerName\":\"a\",\"queueId\":0,\"topic\":\"T\"}":{"x":1}}`},
		{"P01 object key in another order", `{{"topic":"T","queueId":0,"brokerName":"a"}:1}`, `{"{\"brokerName\":\"a\",\"queueId\":0,\"topic\":\"T\"}":1}`},
		{"P01 object key with quotes and HTML", `{{"topic":"a\"<b>&"}:1}`, `{"{\"topic\":\"a\\\"<b>&\"}":1}`},
		{"list as a key", `{[1,2]:3}`, `{"[1,2]":3}`},
		{"keys of other kinds", `{true:1,false:2,null:3}`, `{"true":1,"false":2,"null":3}`},
		{"numbers", `[0,-0,1.5,-2.25e+10,3E-2,9223372036854775807]`, `[0,-0,1.5,-2.25e+10,3E-2,9223372036854775807]`},
		{"raw UTF-8", `{"订单":"é"}`, `{"订单":"é"}`},
		{"escapes", `"\"\\\/\b\f\n\r\tA\u00e9"`, `"\"\\\/\b\f\n\r\tA\u00e9"`},
		{"raw control characters", "\"a\nb\x01\"", `"a\u000ab\u0001"`},
		{"a scalar", `"x"`, `"x"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := ToJSON([]byte(tc.in))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(got)).To(Equal(tc.want))
		})
	}
}

func TestP01_UnknownShapeIsAnError(t *testing.T) {
	for _, in := range []string{
		"", " ", "null", "{", "}", "[", `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[,1]`, `{,"a":1}`,
		`{"a":1 "b":2}`, `{a:1}`, `{'a':1}`, `{"a":1L}`, `{"a":Set[1]}`, `{"a":NaN}`, `{"a":01}`, `{"a":1.}`,
		`{"a":-}`, `{"a":1e}`, `{1.5:2}`, `{"a":"x`, `{"a":"\\`, `{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"\u12g4"}`,
		`{}{}`, `{} x`, `{"a":tru}`, `not json at all`, `<html>`, "\x00", `{{"a":1}}`, `{{"a":}:1}`,
		strings.Repeat("[", 200) + strings.Repeat("]", 200),
		`{"offsetTable":null}`, `{"offsetTable":[]}`, `{"offsetTable":{"x":{}}}`, `{"offsetTable":{0:{}}}`,
		`{}`, `{"table":{}}`, `[]`, `"x"`, `0`,
		`{"offsetTable":{{"brokerName":"a","topic":"T"}:{}}}`,
		`{"offsetTable":{{"brokerName":"a","queueId":null,"topic":"T"}:{}}}`,
		`{"offsetTable":{{"brokerName":"a","queueId":"x","topic":"T"}:{}}}`,
		`{"offsetTable":{{"brokerName":"a","queueId":0,"topic":"T"}:null}}`,
		`{"offsetTable":{{"brokerName":"a","queueId":0,"topic":"T"}:{"minOffset":"x"}}}`,
		`{"offsetTable":{{"brokerName":"a","queueId":0,"topic":"T"}:{},{"brokerName":"a","queueId":0,"topic":"T","x":1}:{}}}`,
	} {
		t.Run(in[:min(len(in), 60)], func(t *testing.T) {
			g := NewWithT(t)
			var stats topicStats
			err := Unmarshal([]byte(in), &stats)
			var e *Error
			g.Expect(err).To(BeAssignableToTypeOf(e))
			g.Expect(err.Error()).To(HavePrefix("body cannot be decoded"))
		})
	}
}

func TestP01_ObjectKeys(t *testing.T) {
	g := NewWithT(t)
	var stats topicStats
	g.Expect(Unmarshal([]byte(`{"offsetTable":{{"brokerName":"broker-a","queueId":6,"topic":"T"}:{"lastUpdateTimestamp":1796049620751,"maxOffset":1,"minOffset":0},{"brokerName":"broker-a","queueId":7,"topic":"T"}:{"maxOffset":9,"minOffset":3}},"topicPutTps":0.0}`), &stats)).To(Succeed())
	g.Expect(stats.OffsetTable).To(Equal(ObjectMap[queue, topicOffset]{
		{"T", "broker-a", 6}: {0, 1},
		{"T", "broker-a", 7}: {3, 9},
	}))
	var empty topicStats
	g.Expect(Unmarshal([]byte(`{"offsetTable":{}}`), &empty)).To(Succeed())
	g.Expect(empty.OffsetTable).To(BeEmpty())
	g.Expect(empty.OffsetTable).NotTo(BeNil())
}
