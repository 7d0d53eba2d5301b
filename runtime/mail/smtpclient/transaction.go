package smtpclient

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// One transaction: MAIL, RCPT, DATA, the body, the dot.

// command is one line to send and the expected reply.
type command struct {
	phase Phase
	line  string
	wait  time.Duration
	ok    func(reply) bool
}

// progress is the state of a transaction, apart from its outcome.
type progress struct {
	accepted bool // the server accepted MAIL: the connection was alive
}

// deliverMessage runs one transaction. The session can be used again unless broken is set.
func (s *session) deliverMessage(c mailRequest, beforeFinalDot func() error) (Outcome, progress) {
	if c.eightBit && !s.ext.eightBit && c.sevenBit != nil {
		c = c.convertToSevenBit()
	}
	if out := s.findUnsupported(c); out != nil {
		return s.withLocation(*out), progress{}
	}
	s.messages++
	s.wire.resetBudget()
	commands := s.buildCommands(c)
	out, p := s.sendEnvelope(commands)
	if out != nil {
		return s.withLocation(*out), p
	}
	if err := s.writeBody(c.msg); err != nil {
		return s.withLocation(s.handleFailedBody(err)), p
	}
	if beforeFinalDot != nil {
		if err := beforeFinalDot(); err != nil {
			s.broken = true
			return s.withLocation(newTemporary(PhaseDot, fmt.Errorf("%w: %w", ErrHeldBack, err))), p
		}
	}
	return s.withLocation(s.sendFinalDot()), p
}

// findUnsupported returns an outcome if this server cannot accept the message, before anything is sent.
func (s *session) findUnsupported(c mailRequest) *Outcome {
	var out Outcome
	switch {
	case c.smtputf8 && !s.ext.smtputf8: // RFC 6531, 3.2
		out = newFailure(PhaseMail, ReasonSMTPUTF8Required,
			"%s does not support internationalized addresses (SMTPUTF8)", s.host.name)
	case s.ext.size && s.ext.maxSize > 0 && int64(len(c.msg)) > s.ext.maxSize: // RFC 1870, 6.1
		out = newFailure(PhaseMail, ReasonMessageTooLarge, "message of %d bytes, %s accepts at most %d", len(c.msg),
			s.host.name, s.ext.maxSize)
	case c.eightBit && !s.ext.eightBit: // RFC 6152, 3
		out = newFailure(PhaseMail, ReasonPolicy, "message with 8-bit content, %s accepts only 7-bit", s.host.name)
	default:
		return nil
	}
	return &out
}

func (s *session) buildCommands(c mailRequest) []command {
	mail := "MAIL FROM:<" + c.from + ">"
	if s.ext.size {
		mail += " SIZE=" + strconv.Itoa(len(c.msg))
	}
	if c.eightBit {
		mail += " BODY=8BITMIME"
	}
	if c.smtputf8 {
		mail += " SMTPUTF8"
	}
	list := []command{
		{PhaseMail, mail, s.timeouts.Mail, reply.isPositive},
		{PhaseRcpt, "RCPT TO:<" + c.to + ">", s.timeouts.Rcpt, reply.isPositive}, // 251 too (RFC 5321, 3.4)
		{PhaseData, "DATA", s.timeouts.Data, func(r reply) bool { return r.code == 354 }},
	}
	if s.needReset {
		list = append([]command{{PhaseReset, "RSET", s.timeouts.Command, reply.isPositive}}, list...)
	}
	return list
}

// sendEnvelope sends the commands, pipelined if the server allows it (RFC 2920), and reads their replies. The first
// rejection is the outcome; nil means to continue with the body.
func (s *session) sendEnvelope(commands []command) (*Outcome, progress) {
	var refusal *Outcome
	var p progress
	for i, cmd := range commands {
		if i == 0 || !s.ext.pipelining {
			batch := commands[i : i+1]
			if s.ext.pipelining {
				batch = commands
			}
			if err := s.sendCommands(batch); err != nil {
				out := s.handleFailedWrite(cmd, err)
				return &out, p
			}
		}
		s.wire.limitTo(cmd.wait)
		r, err := readReply(s.r)
		if err != nil {
			s.broken = true
			if refusal == nil {
				out := newTemporary(cmd.phase, err)
				refusal = &out
			}
			return refusal, p
		}
		s.recordReply(cmd, r, &p)
		if refusal == nil && !cmd.ok(r) {
			out := interpretRefusal(cmd.phase, r)
			refusal = &out
			if !s.ext.pipelining {
				return refusal, p
			}
		}
		// A server may reply 354 although it rejected the recipient (RFC 2920, 3.1). A dot would then
		// complete an empty message; cutting the connection does not.
		if refusal != nil && cmd.phase == PhaseData && r.code/100 == 3 {
			s.broken = true
		}
	}
	return refusal, p
}

// recordReply tracks the state of the session.
func (s *session) recordReply(cmd command, r reply, p *progress) {
	switch {
	case r.code == 421 || !cmd.ok(r) && r.code < 400: // closing, or out of sync
		s.broken = true
	case cmd.phase == PhaseReset:
		s.needReset = false
		s.broken = s.broken || !r.isPositive()
	case cmd.phase == PhaseMail && r.isPositive():
		p.accepted = true
		s.needReset = true
	}
}

func (s *session) sendCommands(commands []command) error {
	for _, cmd := range commands {
		if _, err := s.w.WriteString(cmd.line + "\r\n"); err != nil {
			return err
		}
	}
	return s.w.Flush()
}

// handleFailedWrite handles a failed write. A server that ends connections often sends the reason first.
func (s *session) handleFailedWrite(cmd command, err error) Outcome {
	s.broken = true
	if r, ok := s.readPendingRejection(); ok {
		return interpretRefusal(cmd.phase, r)
	}
	return newTemporary(cmd.phase, err)
}

// readPendingRejection reads a rejection that arrived before the connection broke.
func (s *session) readPendingRejection() (reply, bool) {
	s.wire.limitTo(time.Second)
	r, err := readReply(s.r)
	return r, err == nil && r.code >= 400
}

// blockSize is how much of a body has the timeout of one block.
const blockSize = 64 << 10

// writeBody sends the body and waits until it has been written to the network. It doubles dots at the start of
// lines (RFC 5321, 4.5.2).
func (s *session) writeBody(msg []byte) error {
	if msg[0] == '.' {
		if err := s.w.WriteByte('.'); err != nil {
			return err
		}
	}
	for len(msg) > 0 {
		block := msg[:min(blockSize, len(msg))]
		dot := bytes.Index(msg[:min(blockSize+2, len(msg))], []byte("\r\n."))
		if dot >= 0 {
			block = msg[:dot+2]
		}
		if _, err := s.w.Write(block); err != nil {
			return err
		}
		if dot >= 0 {
			if err := s.w.WriteByte('.'); err != nil {
				return err
			}
		}
		msg = msg[len(block):]
	}
	return s.w.Flush()
}

func (s *session) handleFailedBody(err error) Outcome {
	s.broken = true
	if r, ok := s.readPendingRejection(); ok {
		return interpretRefusal(PhaseBody, r)
	}
	return newTemporary(PhaseBody, err)
}

// sendFinalDot sends the dot. From the moment it is sent until a reply is read, it is unknown whether the message
// was delivered.
func (s *session) sendFinalDot() Outcome {
	if _, err := s.w.WriteString(".\r\n"); err != nil {
		return s.handleFailedBody(err)
	}
	if err := s.w.Flush(); err != nil {
		return s.handleFailedBody(err) // a partially sent dot does not count
	}
	s.wire.limitTo(s.timeouts.Dot)
	r, err := readReply(s.r)
	switch {
	case err != nil:
		s.broken = true
		out := newTemporary(PhaseDot, fmt.Errorf("no reply to the final dot: %w", err))
		out.Ambiguous = true
		return out
	case r.isPositive():
		s.needReset = false
		return Outcome{Kind: Delivered, Phase: PhaseDot}.withReply(r)
	}
	s.needReset = false // the transaction has ended either way (RFC 5321, 4.1.1.4)
	out := interpretRefusal(PhaseDot, r)
	if r.code == 421 || r.code < 400 {
		s.broken = true
		out.Ambiguous = r.code < 400
	}
	return out
}

// withLocation adds the location to an outcome.
func (s *session) withLocation(o Outcome) Outcome {
	o = o.withHost(s.host, s.addr)
	o.TLS, o.TLSPolicy, o.LocalAddr = s.tls, s.demand.policy, s.wire.LocalAddr().String()
	if o.Err != nil {
		o.Err = fmt.Errorf("%s: %s: %w", s.remoteName(), o.Phase, o.Err)
	}
	return o
}
