// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	. "github.com/onsi/gomega"
)

// goldenFrames returns the frames under testdata by file name.
func goldenFrames(t testing.TB) map[string][]byte {
	t.Helper()
	frames := map[string][]byte{}
	for _, pattern := range []string{"testdata/java/*.frame", "testdata/live/*/*.frame"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files match %s: %v", pattern, err)
		}
		for _, file := range files {
			frame, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			frames[file] = frame
		}
	}
	return frames
}

// TestGoldenLiveFrames reads what released servers answered.
func TestGoldenLiveFrames(t *testing.T) {
	for file, frame := range goldenFrames(t) {
		t.Run(file, func(t *testing.T) {
			g := NewWithT(t)
			r := bytes.NewReader(frame)
			c, err := ReadCommand(r, 0)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.Len()).To(BeZero())
			g.Expect(c.Language).To(Equal("JAVA"))
			again, err := AppendCommand(nil, c)
			g.Expect(err).NotTo(HaveOccurred())
			d, err := ReadCommand(bytes.NewReader(again), 0)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(d).To(Equal(c))
		})
	}
}

func TestGoldenLiveAnswers(t *testing.T) {
	for _, tc := range []struct {
		file string
		kind Kind
		text string
	}{
		{"4.9.7/route-none", NotFound, "No topic route info in name server for the topic: Nothing"},
		{"5.5.0/route-none", NotFound, "No topic route info in name server for the topic: Nothing"},
		{"4.9.7/topic-unsupported", Unsupported, "request type 351 not supported"},
		{"5.5.0/topic-none", NotFound, "No topic in this broker. topic: Nothing"},
		{"4.9.7/members-none", NotFound, "answered CONSUMER_NOT_ONLINE (206)"},
		{"5.5.0/members-none", NotFound, "answered CONSUMER_NOT_ONLINE (206)"},
		{"4.9.7/topic-incomplete", Refused, "topicFilterType = [null] value invalid"},
		{"5.5.0/topic-incomplete", Refused, "topicFilterType = [null] value invalid"},
		{"4.9.7/unknown-code", Unsupported, "request type 9999 not supported"},
		{"5.5.0/unknown-code", Unsupported, "request type 9999 not supported"},
	} {
		t.Run(tc.file, func(t *testing.T) {
			g := NewWithT(t)
			c, err := ReadCommand(bytes.NewReader(goldenFrames(t)["testdata/live/"+tc.file+".frame"]), 0)
			g.Expect(err).NotTo(HaveOccurred())
			err = ErrorFromResponse("127.0.0.1:10911", 1, c)
			g.Expect(err).To(MatchError(tc.kind))
			g.Expect(err.Error()).To(ContainSubstring(tc.text))
		})
	}
}

// FuzzReadCommand checks that any bytes end in a known error, and that every
// command that is read can be written and read again.
func FuzzReadCommand(f *testing.F) {
	for _, frame := range goldenFrames(f) {
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for {
			c, err := ReadCommand(r, 1<<20)
			if err != nil {
				var known *Error
				if c != nil || (!errors.As(err, &known) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)) {
					t.Fatalf("%v with error %T %v", c, err, err)
				}
				return
			}
			frame, err := AppendCommand(nil, c)
			if err != nil {
				t.Fatalf("read, but not written: %v", err)
			}
			again, err := ReadCommand(bytes.NewReader(frame), len(frame))
			if err != nil || !reflect.DeepEqual(c, again) {
				t.Fatalf("%#v became %#v, %v", c, again, err)
			}
		}
	})
}
