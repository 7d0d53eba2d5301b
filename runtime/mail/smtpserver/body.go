package smtpserver

import (
	"errors"
	"io"

	"github.com/emersion/go-smtp"
)

// body is a message being received. Whether it is complete, not too large, and made of lines that end with CRLF
// is known only at its end.
type body struct {
	from io.Reader
	wire *wire
	left int64

	lastCR, bare bool
	err          error // sticky
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.from.Read(p)
	for _, c := range p[:n] {
		b.bare = b.bare || (c == '\n') != b.lastCR
		b.lastCR = c == '\r'
	}
	if b.left -= int64(n); b.left < 0 {
		b.err = replyTooLarge
		return 0, b.err
	}
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF) && b.wire.isOver(): // the connection ended before the body
		b.err = b.wire.incompleteReply()
	case errors.Is(err, io.EOF) && (b.bare || b.lastCR || b.wire.hasBareNewline()):
		b.err = replyBareNewline
	case errors.Is(err, io.EOF):
		b.err = io.EOF
	case errors.Is(err, smtp.ErrDataTooLarge):
		b.err = replyTooLarge
	default:
		b.err = b.wire.incompleteReply()
	}
	return n, b.err
}

// Cut aborts a body that was passed to a session, from another goroutine: its next read fails, the client gets
// the reply, and the connection ends.
func Cut(given io.Reader, r *Reply) {
	if b, ok := given.(*body); ok {
		b.wire.abortMessage(r)
	}
}

// resetCommands resets the count of commands.
func (w *wire) resetCommands() { w.readLocked(func() bool { w.renew = true; return true }) }

// closeAfterAnswer sends the reply and reads nothing more.
func (w *wire) closeAfterAnswer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}
