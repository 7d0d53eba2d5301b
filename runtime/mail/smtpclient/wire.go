package smtpclient

import (
	"errors"
	"net"
	"time"
)

// maxRead is how many bytes a server may send while a session is opened, and again in each transaction.
const maxRead = 256 << 10

var errNotOffered = errors.New("the server does not offer STARTTLS")

var errFlood = errors.New("the server sent too much data")

// wire is the TCP connection under a session. It ignores deadlines from above (mox sets 30 s per read, and
// keeps an old write deadline under STARTTLS); limitTo sets them, once per phase.
type wire struct {
	net.Conn
	left   int   // bytes that may still be read
	closed error // why nothing more may be written
	failed error // the first network error, as opposed to TLS errors above
}

func (w *wire) Read(p []byte) (int, error) {
	if w.left <= 0 {
		return 0, errFlood
	}
	n, err := w.Conn.Read(p)
	w.left -= n
	if err != nil && w.failed == nil {
		w.failed = err
	}
	return n, err
}

func (w *wire) Write(p []byte) (int, error) {
	if w.closed != nil {
		return 0, w.closed
	}
	n, err := w.Conn.Write(p)
	if err != nil && w.failed == nil {
		w.failed = err
	}
	return n, err
}

func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// limitTo sets the deadline for the next operations. An error appears in those.
func (w *wire) limitTo(d time.Duration) {
	if err := w.Conn.SetDeadline(time.Now().Add(d)); err != nil && w.failed == nil {
		w.failed = err
	}
}

// refuseWrites ends all writing.
func (w *wire) refuseWrites(why error) { w.closed = why }

func (w *wire) resetBudget() { w.left = maxRead }
