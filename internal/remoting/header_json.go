// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// jsonHeader has its members in the alphabetical order in which servers write
// them, so that frames can be compared byte by byte.
type jsonHeader struct {
	Code      int                  `json:"code"`
	ExtFields map[string]extString `json:"extFields,omitempty"`
	Flag      int32                `json:"flag"`
	Language  string               `json:"language"`
	Opaque    int32                `json:"opaque"`
	Remark    string               `json:"remark,omitempty"`
	Serialize string               `json:"serializeTypeCurrentRPC"`
	Version   int                  `json:"version"`
}

// extString is a header field. Java writes every one as a string; other clients
// write bare numbers and booleans, which mean the same.
type extString string

// UnmarshalJSON takes a string, or the text of a number or boolean.
func (s *extString) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		return json.Unmarshal(data, (*string)(s))
	case '{', '[':
		return errors.New("header field is not a plain value")
	case 'n':
		*s = ""
	default:
		*s = extString(data)
	}
	return nil
}

func appendJSONHeader(dst []byte, c *Command) ([]byte, error) {
	h := jsonHeader{
		Code:      c.Code,
		Flag:      c.Flag,
		Language:  c.language(),
		Opaque:    c.Opaque,
		Remark:    c.Remark,
		Serialize: JSON.String(),
		Version:   c.Version,
	}
	if len(c.ExtFields) > 0 {
		h.ExtFields = make(map[string]extString, len(c.ExtFields))
		for k, v := range c.ExtFields {
			h.ExtFields[k] = extString(v)
		}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(h); err != nil {
		return nil, fmt.Errorf("encode JSON header: %w", err)
	}
	return append(dst, bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})...), nil
}

func parseJSONHeader(data []byte) (*Command, error) {
	// The members that carry meaning are pointers: a header without them is
	// some other JSON, and must not pass for code 0, which is success.
	var h struct {
		jsonHeader
		Code   *int   `json:"code"`
		Opaque *int32 `json:"opaque"`
	}
	h.Language = "JAVA"
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, errors.New("the JSON header cannot be decoded")
	}
	if h.Code == nil || h.Opaque == nil {
		return nil, errors.New("the JSON header has no code or no opaque")
	}
	c := &Command{
		Code:     *h.Code,
		Language: h.Language,
		Version:  h.Version,
		Opaque:   *h.Opaque,
		Flag:     h.Flag,
		Remark:   h.Remark,
		Encoding: JSON,
	}
	if len(h.ExtFields) > 0 {
		c.ExtFields = make(map[string]string, len(h.ExtFields))
		for k, v := range h.ExtFields {
			c.ExtFields[k] = string(v)
		}
	}
	return c, nil
}
