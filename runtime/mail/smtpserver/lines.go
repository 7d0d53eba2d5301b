package smtpserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"regexp"
	"strings"
	"time"
)

// scanLines processes complete command lines and passes them on.
func (w *wire) scanLines() {
	w.markBusy()
	for {
		end := bytes.IndexByte(w.held, '\n')
		if end < 0 {
			return
		}
		line := w.held[:end+1]
		if !bytes.HasSuffix(line, []byte("\r\n")) || bytes.IndexByte(line[:end-1], '\r') >= 0 {
			w.writeLastReply(replyBareNewline)
			return
		}
		text := strings.TrimRight(string(line), "\r\n \t")
		switch verb := strings.ToUpper(text[:min(len(text), 4)]); {
		case strings.EqualFold(text, "STARTTLS") && w.server.config.TLS != nil && w.state == nil:
			if len(w.ready) == 0 { // otherwise earlier commands get their replies first
				w.startTLS(w.held[end+1:])
			}
			return
		case verb == "DATA" || verb == "BDAT":
			// These are passed on alone too: if go-smtp waited for another command, the mode would end.
			if len(w.ready) == 0 {
				w.passData(verb, end+1)
			}
			return
		case verb == "EHLO" || verb == "HELO":
			w.greeted = true
		case strings.EqualFold(strings.ReplaceAll(text, " ", ""), "RCPTTO:<postmaster>"):
			// RFC 5321, 4.5.1: the only address without a domain. go-smtp requires one.
			line = []byte("RCPT TO:<postmaster@" + w.server.config.Hostname + ">\r\n")
		case verb == "RCPT" && !isDotString(text):
			line = []byte("RCPT TO:<@>\r\n") // go-smtp accepts nearly any local part, but not this
		case verb == "MAIL":
			line = hugeSize.ReplaceAll(line, []byte("${1}4294967295"))
		}
		w.ready = append(w.ready, line...)
		w.held = w.held[end+1:]
	}
}

// hugeSize matches a size that go-smtp cannot parse, because it has more than 32 bits. No listener accepts as much.
var hugeSize = regexp.MustCompile(`(?i)( SIZE=)[0-9]{10,}\b`)

// isDotString reports whether the local part of a command's address is a dot-string (RFC 5321, 4.1.2), or quoted, which
// go-smtp checks.
func isDotString(command string) bool {
	_, path, found := strings.Cut(command, "<")
	if !found || strings.Contains(path, `"`) {
		return true
	}
	path, _, _ = strings.Cut(path, ">")
	if _, after, routed := strings.Cut(path, ":"); routed && strings.HasPrefix(path, "@") {
		path = after
	}
	local := path[:max(0, strings.LastIndexByte(path, '@'))]
	return !strings.Contains(local, "@") && !strings.Contains(local, "..") &&
		!strings.HasPrefix(local, ".") && !strings.HasSuffix(local, ".")
}

// passData passes on a command with the data after it, which is not a command.
func (w *wire) passData(verb string, line int) {
	rest := w.held[line:]
	w.lastCR = false
	if verb == "BDAT" {
		w.setMode(chunk)
	} else {
		w.setMode(data)
		w.watchLineEnds(rest)
	}
	w.ready, w.held = append(w.ready, w.held...), nil
}

// watchLineEnds detects bare CR and LF in the data of a DATA command. The body's reader checks too, but go-smtp
// loses a CR after a dot.
func (w *wire) watchLineEnds(b []byte) {
	for _, c := range b {
		if (c == '\n') != w.lastCR {
			w.mu.Lock()
			w.bare = true
			w.mu.Unlock()
		}
		w.lastCR = c == '\r'
	}
}

func (w *wire) hasBareNewline() bool { return w.readLocked(func() bool { return w.bare }) }

var errDisplaced = errors.New("displaced by another connection")

// handshakeTime is the time limit of a TLS handshake.
const handshakeTime = 30 * time.Second

// startTLS replies to STARTTLS and starts over under TLS (RFC 3207, 4.2).
func (w *wire) startTLS(behind []byte) {
	if len(behind) > 0 {
		w.writeLastReply(replyPlainTLS)
		return
	}
	w.held = nil
	if w.writeLine("220 2.0.0 Ready to start TLS\r\n") != nil || w.runHandshake() != nil {
		w.mu.Lock()
		w.over, w.mute = true, true // nothing continues in plaintext
		w.mu.Unlock()
		return
	}
	w.greeted, w.swallow = false, true
	w.ready = append(w.ready, "RSET\r\n"...) // discards the client's plaintext state
}

func (w *wire) runHandshake() error {
	if err := w.base.SetDeadline(time.Now().Add(handshakeTime)); err != nil {
		return err
	}
	if w.readLocked(func() bool { return w.displaced }) { // possibly before that deadline was set
		return errDisplaced
	}
	c := tls.Server(w.base, w.server.config.TLS)
	if err := c.HandshakeContext(context.Background()); err != nil { // limited by the deadline above
		w.server.metrics.countRefusal(replyHandshake)
		return err
	}
	state := c.ConnectionState()
	w.conn, w.state = c, &state
	return nil
}
