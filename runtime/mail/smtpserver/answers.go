package smtpserver

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pires/go-proxyproto"
)

func (r *Reply) formatLine() string {
	return fmt.Sprintf("%d %s %s\r\n", r.Code, r.enhancedCode(), oneLine(r.Text))
}

// Write sends a reply of go-smtp, which writes line by line. The first is the greeting; it triggers the
// decision whether to greet.
func (w *wire) Write(p []byte) (int, error) {
	if !w.greeting {
		w.greeting = true
		if refusal := w.admissionRefusal(); refusal != nil {
			w.writeLastReply(refusal)
		}
	}
	if w.readLocked(func() bool { return w.mute }) {
		return len(p), nil
	}
	line := string(p)
	if w.swallow {
		w.swallow = len(line) < 4 || line[3] != ' '
		return len(p), nil
	}
	if err := w.writeLine(w.amendReply(line)); err != nil {
		return 0, err
	}
	w.countReply(line)
	return len(p), nil
}

func (w *wire) writeLine(line string) error {
	if err := w.base.SetWriteDeadline(time.Now().Add(w.server.config.WriteTime)); err != nil {
		return err
	}
	_, err := w.conn.Write([]byte(line))
	return err
}

// noTLS is the reply of go-smtp, which does not know about TLS, to a STARTTLS that the wire passes on.
const noTLS = "502 5.5.1 TLS not supported\r\n"

// amendReply corrects go-smtp's EHLO reply: our own name first (RFC 5321, 4.1.1.1), STARTTLS, and the real
// size limit. It also replaces noTLS.
func (w *wire) amendReply(line string) string {
	if rest, ok := strings.CutPrefix(line, "250-Hello "); ok {
		line = "250-" + w.server.config.Hostname + " Hello " + rest
		if w.server.config.TLS != nil && w.state == nil {
			line += "250-STARTTLS\r\n"
		}
		return line
	}
	if line == noTLS && w.server.config.TLS != nil {
		if w.state != nil {
			return replyTLSAlready.formatLine()
		}
		return replyTLSSyntax.formatLine()
	}
	for _, prefix := range []string{"250-SIZE ", "250 SIZE "} {
		if strings.HasPrefix(line, prefix) {
			return prefix + strconv.FormatInt(w.server.config.MaxMessageBytes, 10) + "\r\n"
		}
	}
	return line
}

// countReply counts a reply that was sent.
func (w *wire) countReply(line string) {
	if len(line) < 4 || line[3] != ' ' {
		return
	}
	c := w.server.config
	w.answers++
	if w.readLocked(func() bool { renew := w.renew; w.renew = false; return renew }) {
		w.answers = 0
	}
	if strings.HasPrefix(line, "221 ") {
		w.closeTLS()
	}
	if line[0] == '4' || line[0] == '5' {
		w.errors++
	}
	if strings.HasPrefix(line, "535 ") {
		w.authFailures++
	}
	switch {
	case w.errors >= c.MaxErrors || w.authFailures >= c.MaxAuthFailures:
		w.writeLastReply(replyErrors)
	case w.answers >= c.MaxCommands:
		w.writeLastReply(replyChatter)
	}
}

// admissionRefusal decides before the greeting; nil means that the client is admitted.
func (w *wire) admissionRefusal() *Reply {
	w.remote = addressOf(w.base.RemoteAddr())
	if p, ok := w.base.(*proxyproto.Conn); ok && p.ProxyHeader() == nil {
		return replyNoProxy
	}
	if err := w.place.SetOrigin(w.remote); err != nil {
		return w.refuseQuietly(overloadReply(err))
	}
	if w.server.config.ImplicitTLS {
		if w.runHandshake() != nil {
			return w.refuseQuietly(replyHandshake)
		}
		return nil
	}
	return w.detectEarlyTalk()
}

// refuseQuietly ends a connection without a plaintext reply if TLS was to come first.
func (w *wire) refuseQuietly(r *Reply) *Reply {
	if w.server.config.ImplicitTLS {
		w.mu.Lock()
		w.over, w.mute = true, true
		w.mu.Unlock()
		w.server.metrics.countRefusal(r)
	}
	return r
}

// detectEarlyTalk waits a moment for clients that do not wait for the greeting (RFC 5321, 4.3.1).
func (w *wire) detectEarlyTalk() *Reply {
	pause := w.server.config.GreetPause
	if pause <= 0 {
		return nil
	}
	if w.base.SetReadDeadline(time.Now().Add(pause)) != nil {
		return replyEarly
	}
	var b [1]byte
	n, err := w.base.Read(b[:])
	if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return replyEarly
	}
	return nil
}
