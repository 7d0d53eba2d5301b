package receivers

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Sink is an SMTP server that counts messages and discards them.
type Sink struct {
	server

	bytes    atomic.Int64 // total size of all messages
	recorded sync.Map     // time.Time of arrival by recipient; only after Record
	records  atomic.Bool
}

// NewSink starts a sink.
func NewSink(ctx context.Context) (*Sink, error) {
	s := &Sink{}
	return s, s.start(ctx, s.serve)
}

// Bytes returns the total size of all messages that have arrived.
func (s *Sink) Bytes() int64 { return s.bytes.Load() }

// Record makes the sink record when the latest message to each recipient arrived.
func (s *Sink) Record() { s.records.Store(true) }

// Arrived returns when the latest message to a recipient arrived.
func (s *Sink) Arrived(recipient string) (time.Time, bool) {
	at, ok := s.recorded.Load(recipient)
	if !ok {
		return time.Time{}, false
	}
	return at.(time.Time), true
}

// serve replies to commands until the client closes the connection. It sends the replies to pipelined commands together
// (RFC 2920).
func (s *Sink) serve(conn net.Conn) {
	in, out := bufio.NewReaderSize(conn, 64<<10), bufio.NewWriter(conn)
	reply := func(line string) bool {
		out.WriteString(line + "\r\n") //nolint:errcheck // Flush returns the error
		return in.Buffered() > 0 || out.Flush() == nil
	}
	if !reply("220 sink.localhost ESMTP") {
		return
	}
	var recipient string
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		var ok bool
		switch verb := string(bytes.ToUpper(line[:min(4, len(line))])); verb {
		case "EHLO":
			ok = reply("250-sink.localhost\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8")
		case "DATA":
			out.WriteString("354 go on\r\n") //nolint:errcheck // Flush returns the error
			if out.Flush() != nil {
				return
			}
			size, complete := skipBody(in)
			if !complete {
				return
			}
			s.bytes.Add(size)
			if s.records.Load() {
				s.recorded.Store(recipient, time.Now())
			}
			ok = reply("250 2.0.0 Ok")
			s.count()
		case "RCPT":
			_, path, _ := bytes.Cut(line, []byte("<"))
			path, _, _ = bytes.Cut(path, []byte(">"))
			recipient = string(path)
			ok = reply("250 2.0.0 Ok")
		case "QUIT":
			reply("221 bye")
			out.Flush() //nolint:errcheck // the client may have closed the connection
			return
		default:
			ok = reply("250 2.0.0 Ok")
		}
		if !ok {
			return
		}
	}
}

func skipBody(in *bufio.Reader) (size int64, complete bool) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, false
		}
		if bytes.Equal(line, []byte(".\r\n")) {
			return size, true
		}
		size += int64(len(line))
	}
}
