// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// rawFrame returns a frame with any header.
func rawFrame(encoding byte, header, body string) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(4+len(header)+len(body)))
	out = binary.BigEndian.AppendUint32(out, uint32(encoding)<<24|uint32(len(header)))
	return append(append(out, header...), body...)
}

func TestReadCommandTolerates(t *testing.T) {
	for _, tc := range []struct {
		name, header string
		want         Command
	}{
		{"only what is needed", `{"code":5,"opaque":1}`, Command{Code: 5, Opaque: 1, Language: "JAVA"}},
		{"any order and spaces", ` { "opaque" : -1, "version":9, "code" : 200050, "flag":1,"language":"GO" } `, Command{Code: 200050, Opaque: -1, Version: 9, Flag: 1, Language: "GO"}},
		{"unknown members", `{"code":5,"opaque":1,"body":null,"x":{"y":[1]}}`, Command{Code: 5, Opaque: 1, Language: "JAVA"}},
		{"fields that are no strings", `{"code":5,"opaque":1,"extFields":{"a":1,"b":true,"c":1.5,"d":null}}`,
			Command{Code: 5, Opaque: 1, Language: "JAVA", ExtFields: map[string]string{"a": "1", "b": "true", "c": "1.5", "d": ""}}},
		{"no fields", `{"code":5,"opaque":1,"extFields":{},"remark":null}`, Command{Code: 5, Opaque: 1, Language: "JAVA"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := ReadCommand(bytes.NewReader(rawFrame(0, tc.header, "")), 0)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(*got).To(Equal(tc.want))
		})
	}
}

func TestReadCommandMalformed(t *testing.T) {
	fixed := strings.Repeat("\x00", 13)
	for _, tc := range []struct {
		name  string
		frame []byte
	}{
		{"length below 4", []byte{0, 0, 0, 3, 0, 0, 0, 0}},
		{"length 0", []byte{0, 0, 0, 0, 0, 0, 0, 0}},
		{"header longer than the frame", []byte{0, 0, 0, 5, 0, 0, 0, 2, '{', '}'}},
		{"no header", []byte{0, 0, 0, 6, 0, 0, 0, 0, '{', '}'}},
		{"unknown serialize type", rawFrame(2, `{"code":1,"opaque":1}`, "")},
		{"no JSON", rawFrame(0, `code=1`, "")},
		{"JSON of another kind", rawFrame(0, `[]`, "")},
		{"null", rawFrame(0, `null`, "")},
		{"no code", rawFrame(0, `{"opaque":1,"flag":1}`, "")},
		{"no opaque", rawFrame(0, `{"code":0,"flag":1}`, "")},
		{"null code", rawFrame(0, `{"code":null,"opaque":1}`, "")},
		{"opaque of 64 bits", rawFrame(0, `{"code":0,"opaque":4294967296}`, "")},
		{"nested field", rawFrame(0, `{"code":0,"opaque":1,"extFields":{"a":{}}}`, "")},
		{"two documents", rawFrame(0, `{"code":0,"opaque":1}{}`, "")},
		{"binary header too short", rawFrame(1, fixed, "")},
		{"binary remark too long", rawFrame(1, fixed+"\x00\x00\x00\x05abcd"+"\x00\x00\x00\x00", "")},
		{"binary remark of 4 GiB", rawFrame(1, fixed+"\xff\xff\xff\xff"+"\x00\x00\x00\x00", "")},
		{"binary fields missing", rawFrame(1, fixed+"\x00\x00\x00\x04abcd", "")},
		{"binary fields too long", rawFrame(1, fixed+"\x00\x00\x00\x00"+"\x00\x00\x00\x01", "")},
		{"binary header too long", rawFrame(1, fixed+"\x00\x00\x00\x00"+"\x00\x00\x00\x00"+"x", "")},
		{"binary key cut", rawFrame(1, fixed+"\x00\x00\x00\x00"+"\x00\x00\x00\x01"+"\x00", "")},
		{"binary key too long", rawFrame(1, fixed+"\x00\x00\x00\x00"+"\x00\x00\x00\x03"+"\x00\x02a", "")},
		{"binary key of negative length", rawFrame(1, fixed+"\x00\x00\x00\x00"+"\x00\x00\x00\x03"+"\xff\xffa", "")},
		{"binary value missing", rawFrame(1, fixed+"\x00\x00\x00\x00"+"\x00\x00\x00\x03"+"\x00\x01a", "")},
		{"binary value too long", rawFrame(1, fixed+"\x00\x00\x00\x00"+"\x00\x00\x00\x08"+"\x00\x01a\x00\x00\x00\x02b", "")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := ReadCommand(bytes.NewReader(tc.frame), 0)
			g.Expect(err).To(MatchError(Malformed))
			g.Expect(got).To(BeNil())
		})
	}
}

func TestReadCommandEnds(t *testing.T) {
	frame, err := AppendCommand(nil, javaOdd(JSON, 1))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for n := range frame {
		g := NewWithT(t)
		got, err := ReadCommand(bytes.NewReader(frame[:n]), 0)
		g.Expect(got).To(BeNil())
		if n == 0 {
			g.Expect(err).To(BeIdenticalTo(io.EOF), "between frames")
		} else {
			g.Expect(err).To(MatchError(io.ErrUnexpectedEOF), "after %d bytes", n)
		}
	}
	g := NewWithT(t)
	broken := errors.New("cable")
	_, err = ReadCommand(io.MultiReader(bytes.NewReader(frame[:20]), iotest.ErrReader(broken)), 0)
	g.Expect(err).To(BeIdenticalTo(broken), "failures of the reader come through")
}

func TestP04_FrameLimit(t *testing.T) {
	g := NewWithT(t)
	const limit = 1000
	header := `{"code":0,"opaque":77,"flag":1}`
	at := rawFrame(0, header, strings.Repeat("x", limit-4-len(header)))
	got, err := ReadCommand(bytes.NewReader(at), limit)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Body).To(HaveLen(limit - 4 - len(header)))

	over := bytes.NewReader(rawFrame(0, header, strings.Repeat("x", limit-3-len(header))))
	_, err = ReadCommand(over, limit)
	g.Expect(err).To(MatchError(TooLarge))
	var large *FrameTooLargeError
	g.Expect(errors.As(err, &large)).To(BeTrue())
	g.Expect(large.Length).To(Equal(limit + 1))
	g.Expect(large.Limit).To(Equal(limit))
	g.Expect(large.header.Opaque).To(Equal(int32(77)), "the call it answers is known")
	g.Expect(large.rest).To(Equal(over.Len()), "and so is what to skip")
	g.Expect(err.Error()).To(Equal("too large: frame of 1001 bytes is over the limit of 1000"))

	_, err = ReadCommand(bytes.NewReader([]byte{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 2, '{', '}'}), 0)
	g.Expect(err).To(MatchError(TooLarge), "a header that cannot be read changes nothing")
	_, err = ReadCommand(bytes.NewReader([]byte{0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0xff}), 1<<40)
	g.Expect(err).To(MatchError(TooLarge), "there is a ceiling")
}

// TestP04_NoAllocationOnAPeersWord announces the largest frame and sends none
// of it.
func TestP04_NoAllocationOnAPeersWord(t *testing.T) {
	g := NewWithT(t)
	for _, start := range [][]byte{
		{0x01, 0, 0, 0, 0, 0xff, 0xff, 0},                                      // a large header
		append([]byte{0x01, 0, 0, 0, 0, 0, 0, 21}, `{"code":0,"opaque":7}`...), // a large body
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadCommand(bytes.NewReader(start), 0)
		runtime.ReadMemStats(&after)
		g.Expect(err).To(MatchError(io.ErrUnexpectedEOF))
		g.Expect(after.TotalAlloc - before.TotalAlloc).To(BeNumerically("<", 1<<20))
	}
}

func TestAppendCommandRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		cmd  Command
		kind Kind
	}{
		{"code beyond 16 bits in binary", Command{Code: 200050, Encoding: Binary}, Malformed},
		{"code below 16 bits in binary", Command{Code: -40000, Encoding: Binary}, Malformed},
		{"version beyond 16 bits in binary", Command{Version: 40000, Encoding: Binary}, Malformed},
		{"long key in binary", Command{ExtFields: map[string]string{strings.Repeat("k", 40000): ""}, Encoding: Binary}, Malformed},
		{"long value in binary", Command{ExtFields: map[string]string{"k": strings.Repeat("v", maxHeader+1)}, Encoding: Binary}, Malformed},
		{"long fields in binary", Command{ExtFields: map[string]string{"k": strings.Repeat("v", maxHeader)}, Encoding: Binary}, Malformed},
		{"long remark in binary", Command{Remark: strings.Repeat("v", maxHeader), Encoding: Binary}, TooLarge},
		{"long remark in JSON", Command{Remark: strings.Repeat("v", maxHeader)}, TooLarge},
		{"unknown encoding", Command{Encoding: 7}, Malformed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			out, err := AppendCommand([]byte("kept"), &tc.cmd)
			g.Expect(err).To(MatchError(tc.kind))
			g.Expect(string(out)).To(Equal("kept"))
		})
	}
}

// drawCommand draws commands that both encodings can carry.
func drawCommand(t *rapid.T) *Command {
	c := &Command{
		Code:     rapid.IntRange(-32768, 32767).Draw(t, "code"),
		Language: rapid.SampledFrom([]string{"JAVA", "CPP", "GO", "RUST", "OTHER"}).Draw(t, "language"),
		Version:  rapid.IntRange(-32768, 32767).Draw(t, "version"),
		Opaque:   rapid.Int32().Draw(t, "opaque"),
		Flag:     rapid.Int32().Draw(t, "flag"),
		Remark:   rapid.String().Draw(t, "remark"),
		Encoding: rapid.SampledFrom([]Encoding{JSON, Binary}).Draw(t, "encoding"),
	}
	if ext := rapid.MapOfN(rapid.String(), rapid.String(), 0, 5).Draw(t, "ext"); len(ext) > 0 {
		c.ExtFields = ext
	}
	if body := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "body"); len(body) > 0 {
		c.Body = body
	}
	return c
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		var stream []byte
		var want []*Command
		for range rapid.IntRange(1, 3).Draw(t, "frames") {
			c := drawCommand(t)
			want = append(want, c)
			var err error
			stream, err = AppendCommand(stream, c)
			g.Expect(err).NotTo(HaveOccurred())
		}
		r := iotest.OneByteReader(bytes.NewReader(stream))
		for _, w := range want {
			got, err := ReadCommand(r, 0)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(w))
		}
		_, err := ReadCommand(r, 0)
		g.Expect(err).To(BeIdenticalTo(io.EOF))
	})
}

func TestLargeBodyArrivesWhole(t *testing.T) {
	g := NewWithT(t)
	for _, n := range []int{readStep - 1, readStep, readStep + 1, 3*readStep + 7, 5 << 20} {
		body := bytes.Repeat([]byte("0123456789a"), n/11+1)[:n]
		frame, err := AppendCommand(nil, &Command{Body: body})
		g.Expect(err).NotTo(HaveOccurred())
		got, err := ReadCommand(bytes.NewReader(frame), 0)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(bytes.Equal(got.Body, body)).To(BeTrue())
	}
}

func TestCommandFlags(t *testing.T) {
	g := NewWithT(t)
	req := &Command{Code: 21, Opaque: 5, Encoding: Binary}
	g.Expect(req.IsResponse()).To(BeFalse())
	g.Expect(req.IsOneway()).To(BeFalse())
	g.Expect((&Command{Flag: 2}).IsOneway()).To(BeTrue())
	resp := NewResponse(req, RespSystemBusy, "later")
	g.Expect(resp.IsResponse()).To(BeTrue())
	g.Expect(resp).To(Equal(&Command{Code: 2, Language: "GO", Version: Version, Opaque: 5, Flag: 1, Remark: "later", Encoding: Binary}))
}

func TestLanguageCodes(t *testing.T) {
	g := NewWithT(t)
	for code, name := range languages() {
		g.Expect(languageCode(name)).To(Equal(byte(code)))
		g.Expect(languageName(byte(code))).To(Equal(name))
	}
	g.Expect(languageName(200)).To(Equal("OTHER"))
	g.Expect(languageCode("COBOL")).To(Equal(byte(7)))
	g.Expect(languageCode("GO")).To(Equal(byte(9)))
	g.Expect(Encoding(9).String()).To(Equal("unknown encoding"))
}
