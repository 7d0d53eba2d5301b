package smtpserver

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/postrider/postrider/runtime/base/intake"
)

// runtime/base/intake decides which connections are admitted, and which yield to others. The wire reports
// the origin and the state of a connection.

// overloadReply returns the reply for an error of the gate.
func overloadReply(err error) *Reply {
	if errors.Is(err, intake.ErrClientLimit) {
		return replyTooManyFrom
	}
	return replyTooMany
}

// knownRemote returns the origin of a connection; zero while a proxy has not announced it.
func (w *wire) knownRemote() netip.Addr {
	if _, proxied := w.base.(*proxyproto.Conn); proxied {
		return netip.Addr{}
	}
	return addressOf(w.base.RemoteAddr())
}

// displaceConnection ends an idle connection to make room for another one. The client has sent nothing yet, or
// the server is waiting for a command.
func (w *wire) displaceConnection() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.displaced = true; !w.body {
		w.base.SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // the next read reports a closed connection
	}
}

// startWaiting records that go-smtp waits for a command.
func (w *wire) startWaiting() {
	if w.place != nil && !w.inBody() {
		w.place.MarkWaiting(w.greeted)
	}
}

func (w *wire) markBusy() {
	if w.place != nil {
		w.place.MarkBusy()
	}
}

func addressOf(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}
