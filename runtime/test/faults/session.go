package faults

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/textproto"
	"strings"
	"time"
)

// errBroken ends a session that a fault has ended.
var errBroken = errors.New("interrupted by the test")

// session is one connection, served as in RFC 5321, with PIPELINING.
type session struct {
	host *Host
	conn *net.TCPConn
	r    *bufio.Reader
	to   []string

	stored []Pair // waits for its final reply
}

func newSession(h *Host, conn net.Conn) *session {
	return &session{host: h, conn: conn.(*net.TCPConn), r: bufio.NewReader(conn)}
}

func (s *session) run() {
	if s.say(Connect, "") != nil || s.say(Greeting, "220 sink.test ESMTP\r\n") != nil {
		return
	}
	for {
		line, err := s.r.ReadString('\n')
		if err != nil || s.command(strings.TrimRight(line, "\r\n")) != nil {
			return
		}
	}
}

func (s *session) command(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch strings.ToUpper(verb) {
	case "EHLO", "HELO":
		return s.say(Hello, "250-sink.test\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 20000000\r\n")
	case "MAIL":
		s.to = nil
		return s.say(Envelope, "250 2.1.0 ok\r\n")
	case "RCPT":
		_, address, _ := strings.Cut(rest, "<")
		address, _, _ = strings.Cut(address, ">")
		if strings.HasPrefix(address, Gone) {
			s.host.sink.refuse(address)
			return s.write("550 5.1.1 there is no such mailbox here\r\n")
		}
		if strings.HasPrefix(address, Later) && s.host.sink.deferOnce(address) {
			return s.write("451 4.7.1 try again later\r\n")
		}
		s.to = append(s.to, address)
		return s.write("250 2.1.5 ok\r\n")
	case "DATA":
		if len(s.to) == 0 {
			return s.write("554 5.5.1 no valid recipients\r\n")
		}
		return s.message()
	case "QUIT":
		_ = s.write("221 2.0.0 bye\r\n") // the client may have disconnected
		return io.EOF
	default: // RSET, NOOP
		return s.write("250 2.0.0 ok\r\n")
	}
}

// message stores each recipient's copy before it is acknowledged.
func (s *session) message() error {
	if err := s.write("354 go on\r\n"); err != nil {
		return err
	}
	if err := s.say(Body, ""); err != nil {
		return err
	}
	body := textproto.NewReader(s.r)
	id := ""
	for {
		line, err := body.ReadLine()
		if err != nil {
			return err
		}
		if line == "." {
			break
		}
		if name, value, _ := strings.Cut(line, ":"); id == "" && strings.EqualFold(name, "Message-ID") {
			id = strings.Trim(value, " <>")
		}
	}
	pairs := make([]Pair, 0, len(s.to))
	for _, to := range s.to {
		p := Pair{Message: id, Recipient: to}
		if err := s.host.sink.store(p); err != nil {
			return s.write("451 4.3.0 not stored\r\n")
		}
		pairs = append(pairs, p)
	}
	s.stored = pairs
	defer func() { s.stored = nil }()
	return s.say(Reply, "250 2.0.0 stored\r\n")
}

// say writes a reply, unless the host's fault for this phase intervenes.
func (s *session) say(phase Phase, reply string) error {
	fault, cleared := s.host.at(phase)
	switch fault {
	case "":
		return s.write(reply)
	case Slow:
		<-time.After(SlowBy)
		for i := range len(reply) {
			if err := s.write(reply[i : i+1]); err != nil {
				return err
			}
		}
		return nil
	case Hold:
		<-cleared
		return s.write(reply)
	}
	for _, p := range s.stored { // before the client can know
		s.host.sink.leave(p)
	}
	switch fault {
	case Silence:
		<-cleared
	case Reset:
		if err := s.conn.SetLinger(0); err != nil {
			return err
		}
	case HalfClose:
		if err := s.conn.CloseWrite(); err != nil {
			return errBroken
		}
		_, _ = io.Copy(io.Discard, s.r) // until the client has disconnected
	case Cut:
		_ = s.write(reply[:len(reply)/2]) // it is cut anyway
		if phase == Body {
			_, _ = io.CopyN(io.Discard, s.r, 100)
		}
	case Refuse:
	}
	s.conn.Close()
	return errBroken
}

func (s *session) write(text string) error {
	if text == "" {
		return nil
	}
	_, err := s.conn.Write([]byte(text))
	return err
}
