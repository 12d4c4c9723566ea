// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// javaRequest is the request that the golden frames of testdata/java hold; they
// were written by RocketMQ's own encoder (see testdata/README.md).
func javaRequest(encoding Encoding, version int) *Command {
	return &Command{
		Code:     ReqUpdateAndCreateTopic,
		Language: "JAVA",
		Version:  version,
		Opaque:   7,
		Encoding: encoding,
		ExtFields: map[string]string{
			"topic": "T", "defaultTopic": "TBW102", "readQueueNums": "8", "writeQueueNums": "8", "perm": "6",
			"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false", "attributes": "+message.type=FIFO",
		},
	}
}

// javaOdd is a response with everything that is unusual in it.
func javaOdd(encoding Encoding, version int) *Command {
	return &Command{
		Code:      RespSystemError,
		Language:  "JAVA",
		Version:   version,
		Opaque:    -1 << 31,
		Flag:      flagResponse | flagOneway,
		Remark:    "订单 \"é\" \x01\x0b\t\n\u2028 \\ / ' < 😀",
		ExtFields: map[string]string{"empty": "", "名": "値\x00"},
		Body:      []byte{0, 1, 255},
		Encoding:  encoding,
	}
}

func TestGoldenJavaFrames(t *testing.T) {
	for name, encoding := range map[string]Encoding{"json": JSON, "rocketmq": Binary} {
		for release, version := range map[string]int{"4.9.7": 407, "5.5.0": 513} {
			response := NewResponse(&Command{Opaque: 7, Encoding: encoding}, RespSuccess, "")
			response.Language, response.Version = "JAVA", version
			for kind, want := range map[string]*Command{
				"request":  javaRequest(encoding, version),
				"response": response,
				"odd":      javaOdd(encoding, version),
			} {
				file := kind + "-" + name + "-" + release + ".frame"
				t.Run(file, func(t *testing.T) {
					g := NewWithT(t)
					frame, err := os.ReadFile(filepath.Join("testdata", "java", file))
					g.Expect(err).NotTo(HaveOccurred())
					r := bytes.NewReader(frame)
					got, err := ReadCommand(r, 0)
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(got).To(Equal(want))
					g.Expect(r.Len()).To(BeZero(), "the whole frame is read")

					again, err := AppendCommand(nil, got)
					g.Expect(err).NotTo(HaveOccurred())
					if kind == "response" {
						g.Expect(again).To(Equal(frame), "without a map the bytes are the same")
					} else if encoding == Binary {
						g.Expect(again).To(HaveLen(len(frame)), "only the order of the fields may differ")
					}
					got, err = ReadCommand(bytes.NewReader(again), 0)
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(got).To(Equal(want))
				})
			}
		}
	}
}

// TestGoldenDocumentedFrames holds the frames that rocketmq.md 1.2 and 1.3 show.
func TestGoldenDocumentedFrames(t *testing.T) {
	g := NewWithT(t)
	const header = `{"code":17,"extFields":{"readQueueNums":"8","perm":"6","writeQueueNums":"8","topicFilterType":"SINGLE_TAG","topic":"T","attributes":"+message.type=FIFO","force":"false","defaultTopic":"TBW102","order":"false","topicSysFlag":"0"},"flag":0,"language":"JAVA","opaque":7,"serializeTypeCurrentRPC":"JSON","version":475}`
	want := javaRequest(JSON, 475)
	want.ExtFields["force"] = "false"
	got, err := ReadCommand(strings.NewReader("\x00\x00\x01\x3e\x00\x00\x01\x3a"+header), 0)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(want))
	frame, err := AppendCommand(nil, want)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(frame).To(HaveLen(322))
	g.Expect(hex.EncodeToString(frame[:8])).To(Equal("0000013e0000013a"))

	want.Encoding = Binary
	frame, err = AppendCommand(nil, want)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(hex.EncodeToString(frame)).To(HavePrefix("000000e5010000e100110001db000000070000000000000000000000cc"))

	const reply = `{"code":0,"flag":1,"language":"JAVA","opaque":7,"serializeTypeCurrentRPC":"JSON","version":475}`
	frame, err = AppendCommand([]byte("kept"), &Command{Language: "JAVA", Version: 475, Opaque: 7, Flag: 1})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(frame)).To(Equal("kept\x00\x00\x00\x63\x00\x00\x00\x5f" + reply))
}
