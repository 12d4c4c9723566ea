// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

// Encoding is how the header of a frame is written. Every frame says its own
// encoding in its serialize-type byte, so a reply is decoded by what it says
// and never by what was sent (rocketmq.md 1.1).
type Encoding uint8

const (
	// JSON is serialize type 0, a fastjson object (rocketmq.md 1.2).
	JSON Encoding = 0
	// Binary is serialize type 1, RocketMQ's "ROCKETMQ" header. Its code is a
	// signed 16-bit number, so the 5.x codes above 32767 cannot travel in it
	// (rocketmq.md 1.3).
	Binary Encoding = 1
)

// String returns the name RocketMQ uses for the encoding.
func (e Encoding) String() string {
	switch e {
	case JSON:
		return "JSON"
	case Binary:
		return "ROCKETMQ"
	default:
		return "unknown encoding"
	}
}

const (
	flagResponse int32 = 1 << 0
	flagOneway   int32 = 1 << 1
)

const (
	// Language is what this project calls itself on the wire. CPP must never be
	// sent: some brokers then choose another body format (rocketmq.md 1.4).
	Language = "GO"
	// Version is the ordinal sent with every request: 5.5.0, the newest server
	// this wire was checked against. From 401 on name servers answer routes in
	// standard JSON; above 441 a broker that is shutting down answers GO_AWAY
	// instead of taking a last write. Servers that know fewer versions clamp it
	// (rocketmq.md 1.5).
	Version = 513
)

// Command is one frame: a request, or the response to one.
type Command struct {
	// Code is the request code, or the response code of a response.
	Code int
	// Language is the sender's language as RocketMQ names it, such as "JAVA".
	// An empty Language is written as "GO"; one that is missing in a JSON
	// header is read as "JAVA", as servers do.
	Language string
	// Version is the ordinal of the sender's version (rocketmq.md 1.5).
	Version int
	// Opaque is chosen by the requester and echoed by the response.
	Opaque int32
	// Flag holds bit 0 for a response and bit 1 for a one-way request.
	Flag int32
	// Remark is text for people. Successful answers carry one as well
	// ("not set any response code"), so only Code tells success.
	Remark string
	// ExtFields are the typed header fields of the call, all as text. It is nil
	// when there are none.
	ExtFields map[string]string
	// Body is nil when the frame has none.
	Body []byte
	// Encoding is how the header was, or will be, written.
	Encoding Encoding
}

// IsResponse reports whether the command answers a request. Servers send
// requests of their own on the same connection, between a request and its
// response.
func (c *Command) IsResponse() bool { return c.Flag&flagResponse != 0 }

// IsOneway reports whether the sender expects no response.
func (c *Command) IsOneway() bool { return c.Flag&flagOneway != 0 }

// NewResponse returns the response to req with the given response code and
// remark, in the encoding of the request. The caller adds header fields and a
// body.
func NewResponse(req *Command, code int, remark string) *Command {
	return &Command{
		Code:     code,
		Language: Language,
		Version:  Version,
		Opaque:   req.Opaque,
		Flag:     flagResponse,
		Remark:   remark,
		Encoding: req.Encoding,
	}
}
