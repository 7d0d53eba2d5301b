package smtpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/netip"
	"sync"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/postrider/postrider/runtime/base/loglimit"
)

// Handler creates the sessions of a listener.
type Handler interface {
	// NewSession is called at the first EHLO of a connection.
	NewSession(ctx context.Context, p Peer) (Session, error)
}

// Session is one connection. Its methods are never called concurrently. Errors are a *Reply, or anything
// else for "try again later".
type Session interface {
	Mail(ctx context.Context, from Path, o MailOptions) error
	Rcpt(ctx context.Context, to Path) error
	// Data receives the message. It must read body to its end before it stores anything: the error at the
	// end says whether the message is incomplete, too large or malformed. It returns nil if the message is
	// stored, or Accept with its own text.
	Data(ctx context.Context, body io.Reader) error
	// Reset aborts the transaction. It is also called after each Data.
	Reset()
	// End is called once, at the end of the connection.
	End()
}

// Authenticator is a Session that offers AUTH. It is used over TLS only.
type Authenticator interface {
	Mechanisms() []string
	Auth(ctx context.Context, mechanism string) (sasl.Server, error)
}

// MailOptions are the parameters of MAIL.
type MailOptions struct {
	Size int64 // as declared; 0 if undeclared
	UTF8 bool
}

// Peer is the client.
type Peer struct {
	Remote netip.Addr
	hello  func() string
	state  func() *tls.ConnectionState
}

// Hello returns the name that the client sent in EHLO.
func (p Peer) Hello() string { return oneLine(p.hello()) }

// TLS returns the state of the connection, nil for plaintext. It may start after the first EHLO.
func (p Peer) TLS() *tls.ConnectionState { return p.state() }

var (
	_ smtp.Session     = (*session)(nil)
	_ smtp.AuthSession = (*session)(nil)
)

// session is the go-smtp session.
type session struct {
	server *Server
	wire   *wire
	own    Session
	ctx    context.Context //nolint:containedctx // go-smtp's calls have none; it is the connection's
	end    context.CancelFunc

	// BDAT runs Data in a separate goroutine, and a RSET may arrive in the meantime.
	calls sync.Mutex
	stop  sync.Mutex
	abort context.CancelFunc // of the running Data

	transaction, utf8, recipient bool
}

func (s *Server) newSession(c *smtp.Conn) (smtp.Session, error) {
	w, ok := c.Conn().(*wire)
	if !ok {
		return nil, wireError(replyLater) // cannot happen: the listener returns only wires
	}
	ctx, end := context.WithCancel(s.base)
	own, err := s.config.Handler.NewSession(ctx,
		Peer{Remote: w.remote, hello: c.Hostname, state: func() *tls.ConnectionState { return w.state }})
	if err != nil {
		end()
		return nil, s.answerError(ctx, err)
	}
	return &session{server: s, wire: w, own: own, ctx: ctx, end: end}, nil
}

// answerError converts an error for go-smtp and counts it.
func (s *Server) answerError(ctx context.Context, err error) error {
	r, known := asReply(err)
	if !known {
		s.config.Logger.WarnContext(loglimit.Collapse(ctx, s.config.Name), "smtp: session failed",
			telemetryListener, s.config.Name, "error", err)
	}
	s.metrics.countRefusal(r)
	return wireError(r)
}

func (s *session) Mail(from string, o *smtp.MailOptions) error {
	s.calls.Lock()
	defer s.calls.Unlock()
	var path Path
	valid := true
	if from != "" {
		path, valid = parsePath(from)
	}
	switch {
	case s.wire.isOver() || s.wire.isStopping():
		return s.server.answerError(s.ctx, replyShutdown)
	case !s.wire.greeted:
		return s.server.answerError(s.ctx, replyGreet)
	case s.transaction:
		return s.server.answerError(s.ctx, replyNested)
	case !valid:
		return s.server.answerError(s.ctx, replySender)
	case !path.ASCII() && !o.UTF8:
		return s.server.answerError(s.ctx, replyUTF8)
	case o.Size > s.server.config.MaxMessageBytes:
		return s.server.answerError(s.ctx, replyTooLarge)
	}
	if err := s.own.Mail(s.ctx, path, MailOptions{Size: o.Size, UTF8: o.UTF8}); err != nil {
		return s.server.answerError(s.ctx, err)
	}
	s.transaction, s.utf8 = true, o.UTF8
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.calls.Lock()
	defer s.calls.Unlock()
	path, valid := parsePath(to)
	switch {
	case s.wire.isOver():
		return s.server.answerError(s.ctx, replyShutdown)
	case !s.transaction:
		return s.server.answerError(s.ctx, replyNoTransfer)
	case !valid:
		return s.server.answerError(s.ctx, replyRecipient)
	case !path.ASCII() && !s.utf8:
		return s.server.answerError(s.ctx, replyUTF8)
	}
	if err := s.own.Rcpt(s.ctx, path); err != nil {
		return s.server.answerError(s.ctx, err)
	}
	s.recipient = true
	return nil
}

func (s *session) Data(r io.Reader) error {
	s.calls.Lock()
	defer s.calls.Unlock()
	if s.wire.isOver() {
		return s.server.answerError(s.ctx, replyShutdown)
	}
	if !s.transaction || !s.recipient {
		return s.server.answerError(s.ctx, replyNoTransfer)
	}
	ctx, abort := context.WithCancel(s.ctx)
	defer abort()
	s.setAbort(abort)
	defer s.setAbort(nil)
	s.wire.beginBody()
	defer s.wire.endBody()
	b := &body{from: r, wire: s.wire, left: s.server.config.MaxMessageBytes}
	err := s.own.Data(ctx, b)
	if b.err != nil && !errors.Is(b.err, io.EOF) {
		err = b.err // whatever the session returned
	}
	if words, ok := asAcceptance(err); ok {
		s.countMessage()
		return wireError(words)
	}
	if err != nil {
		if errors.Is(err, replyBareNewline) { // such clients are disconnected
			defer s.wire.closeAfterAnswer()
		}
		return s.server.answerError(ctx, err)
	}
	s.countMessage()
	return nil
}

func (s *session) countMessage() {
	s.server.metrics.messages.Inc()
	s.wire.resetCommands()
}

func (s *session) setAbort(f context.CancelFunc) {
	s.stop.Lock()
	defer s.stop.Unlock()
	s.abort = f
}

// Reset may be called while Data runs, after go-smtp has closed its reader. The result of that Data could
// be mistaken for the reply to the next, so the connection ends.
func (s *session) Reset() {
	s.stop.Lock()
	if s.abort != nil {
		s.abort()
		s.wire.closeAfterAnswer()
	}
	s.stop.Unlock()
	s.calls.Lock()
	defer s.calls.Unlock()
	s.transaction, s.utf8, s.recipient = false, false, false
	s.own.Reset()
}

func (s *session) Logout() error {
	s.end()
	s.calls.Lock()
	defer s.calls.Unlock()
	s.own.End()
	return nil
}

// AuthMechanisms returns nothing in plaintext.
func (s *session) AuthMechanisms() []string {
	a, ok := s.own.(Authenticator)
	if !ok || s.wire.state == nil {
		return nil
	}
	return a.Mechanisms()
}

// Auth starts an exchange. Its errors are the replies.
func (s *session) Auth(mechanism string) (sasl.Server, error) {
	a, ok := s.own.(Authenticator)
	switch {
	case !ok:
		return nil, smtp.ErrAuthUnsupported
	case s.wire.state == nil:
		return nil, s.server.answerError(s.ctx, replyNeedsTLS)
	case s.transaction:
		return nil, s.server.answerError(s.ctx, replyNested) // RFC 4954, 4
	case s.wire.isOver():
		return nil, s.server.answerError(s.ctx, replyShutdown)
	}
	exchange, err := a.Auth(s.ctx, mechanism)
	if err != nil {
		return nil, s.server.answerError(s.ctx, err)
	}
	return saslExchange{s, exchange}, nil
}

// saslExchange converts a mechanism's errors into replies.
type saslExchange struct {
	session  *session
	exchange sasl.Server
}

func (a saslExchange) Next(response []byte) (challenge []byte, done bool, err error) {
	challenge, done, err = a.exchange.Next(response)
	if err != nil {
		err = a.session.server.answerError(a.session.ctx, err)
	}
	return challenge, done, err
}
