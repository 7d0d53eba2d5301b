package smtpserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"time"
)

// scan looks at the command lines that have come whole and hands them on.
func (w *wire) scan() {
	w.busy()
	for {
		end := bytes.IndexByte(w.held, '\n')
		if end < 0 {
			return
		}
		line := w.held[:end+1]
		if !bytes.HasSuffix(line, []byte("\r\n")) || bytes.IndexByte(line[:end-1], '\r') >= 0 {
			w.finish(replyBareNewline)
			return
		}
		text := strings.TrimRight(string(line), "\r\n \t")
		switch verb := strings.ToUpper(text[:min(len(text), 4)]); {
		case strings.EqualFold(text, "STARTTLS") && w.server.config.TLS != nil && w.state == nil:
			if len(w.ready) == 0 { // otherwise what came before is answered first
				w.startTLS(w.held[end+1:])
			}
			return
		case verb == "DATA" || verb == "BDAT":
			// Alone likewise: go-smtp's wait for another command would end the mode.
			if len(w.ready) == 0 {
				w.raw(verb, end+1)
			}
			return
		case verb == "EHLO" || verb == "HELO":
			w.greeted = true
		case strings.EqualFold(strings.ReplaceAll(text, " ", ""), "RCPTTO:<postmaster>"):
			// RFC 5321, 4.5.1: the one address that needs no domain. go-smtp wants one.
			line = []byte("RCPT TO:<postmaster@" + w.server.config.Hostname + ">\r\n")
		}
		w.ready = append(w.ready, line...)
		w.held = w.held[end+1:]
	}
}

// raw hands on a command with what stands behind it, which is no command.
func (w *wire) raw(verb string, line int) {
	rest := w.held[line:]
	w.lastCR = false
	if verb == "BDAT" {
		w.setMode(chunk)
	} else {
		w.setMode(data)
		w.watch(rest)
	}
	w.ready, w.held = append(w.ready, w.held...), nil
}

// watch looks for bare CR and LF in what belongs to a DATA. The body's reader looks
// too, but go-smtp loses a CR behind a dot.
func (w *wire) watch(b []byte) {
	for _, c := range b {
		if (c == '\n') != w.lastCR {
			w.mu.Lock()
			w.bare = true
			w.mu.Unlock()
		}
		w.lastCR = c == '\r'
	}
}

func (w *wire) sawBare() bool { return w.get(func() bool { return w.bare }) }

var errDisplaced = errors.New("another connection has its place")

// handshakeTime is for a TLS handshake.
const handshakeTime = 30 * time.Second

// startTLS answers STARTTLS and begins anew under TLS (RFC 3207, 4.2).
func (w *wire) startTLS(behind []byte) {
	if len(behind) > 0 {
		w.finish(replyPlainTLS)
		return
	}
	w.held = nil
	if w.write("220 2.0.0 Ready to start TLS\r\n") != nil || w.handshake() != nil {
		w.mu.Lock()
		w.over, w.mute = true, true // in clear nothing goes on
		w.mu.Unlock()
		return
	}
	w.greeted, w.swallow = false, true
	w.ready = append(w.ready, "RSET\r\n"...) // what the client said in clear is forgotten
}

func (w *wire) handshake() error {
	if err := w.base.SetDeadline(time.Now().Add(handshakeTime)); err != nil {
		return err
	}
	if w.get(func() bool { return w.displaced }) { // maybe before that deadline was set
		return errDisplaced
	}
	c := tls.Server(w.base, w.server.config.TLS)
	if err := c.HandshakeContext(context.Background()); err != nil { // the deadline above ends it
		w.server.metrics.refused(replyHandshake)
		return err
	}
	state := c.ConnectionState()
	w.conn, w.state = c, &state
	return nil
}
