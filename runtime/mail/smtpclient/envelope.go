package smtpclient

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/mjl-/mox/smtp"
)

// The TLS modes of an envelope.
const (
	TLSOpportunistic = "opportunistic" // TLS if available, unverified; else plaintext
	TLSEnforced      = "enforced"      // a verified certificate or nothing
)

// Envelope is the information for the servers, in addition to the message.
type Envelope struct {
	From     string // address of the return path; empty: the null sender
	To       string // one recipient
	SMTPUTF8 bool   // the message has UTF-8 in its header; implied by a non-ASCII local part
	TLSMode  string // default TLSOpportunistic
	Way      Way    // how the message is sent; zero: as in Config
	// SevenBit returns the message for a server without 8BITMIME, signed again. It is called only if the
	// message has 8-bit content. If nil, such a server does not get the message.
	SevenBit func() ([]byte, error)
}

// mailRequest is a validated envelope and message.
type mailRequest struct {
	from, to string // as written between the angle brackets
	domain   string // of the recipient, A-labels
	smtputf8 bool
	eightBit bool
	enforced bool
	way      Way
	msg      []byte
	sevenBit func() ([]byte, error)
}

// newMailRequest rejects anything that must never be sent. Addresses are parsed and written again: an unparsed one
// could contain parameters or commands.
func newMailRequest(env Envelope, msg []byte) (mailRequest, error) {
	c := mailRequest{msg: msg, smtputf8: env.SMTPUTF8, enforced: env.TLSMode == TLSEnforced, way: env.Way,
		sevenBit: env.SevenBit}
	switch env.TLSMode {
	case "", TLSOpportunistic, TLSEnforced:
	default:
		return c, fmt.Errorf("unknown tls mode %q", env.TLSMode)
	}
	if env.From != "" {
		from, err := parseAddress(env.From)
		if err != nil {
			return c, fmt.Errorf("sender: %w", err)
		}
		c.from = from.Pack(false)
	}
	to, err := parseAddress(env.To)
	if err != nil {
		return c, fmt.Errorf("recipient: %w", err)
	}
	c.to, c.domain = to.Pack(false), to.Domain.ASCII
	for _, address := range []string{c.from, c.to} {
		if strings.ContainsFunc(address, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return c, errors.New("control character in an address")
		}
		c.smtputf8 = c.smtputf8 || !isASCII(address) // RFC 6531, 3.4
	}
	c.eightBit, err = checkMessage(msg)
	return c, err
}

// convertToSevenBit returns the request without 8-bit content (RFC 6152, 3), if possible.
func (c mailRequest) convertToSevenBit() mailRequest {
	msg, err := c.sevenBit()
	if err != nil {
		return c
	}
	if eightBit, err := checkMessage(msg); err == nil && !eightBit {
		c.msg, c.eightBit = msg, false
	}
	return c
}

func parseAddress(address string) (smtp.Address, error) {
	a, err := smtp.ParseAddress(address)
	if err == nil && a.Domain.ASCII == "" {
		err = errors.New("no domain after the @")
	}
	return a, err
}

// checkMessage ensures that the message is sent as it was signed: CRLF line endings and nothing else that a
// server could interpret as one (RFC 5321, 2.3.8).
func checkMessage(msg []byte) (eightBit bool, err error) {
	if !bytes.HasSuffix(msg, []byte("\r\n")) {
		return false, errors.New("message does not end in CRLF")
	}
	for rest := msg; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 1 || rest[end-1] != '\r' || bytes.IndexByte(rest[:end-1], '\r') >= 0 {
			return false, errors.New("message has a bare CR or LF")
		}
		rest = rest[end+1:]
	}
	for _, b := range msg {
		if b >= 0x80 {
			return true, nil
		}
	}
	return false, nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}
