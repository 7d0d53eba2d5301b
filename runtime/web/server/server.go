package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/web/clientip"
)

// Timeouts for silent peers. The budget limits bodies and responses.
const (
	HeaderTimeout = 10 * time.Second
	IdleTimeout   = 2 * time.Minute
	HeaderBytes   = 32 << 10

	// StreamGrace is how long a stop waits for requests. After that, open streams, which never end on their
	// own, are cut.
	StreamGrace = 10 * time.Second
)

// Limits of one HTTP/2 connection. A stream uses about as much memory as an HTTP/1.1 connection, so each
// counts as one (intake.Slot.BeginRequest); this limits how many begin before they are counted.
const (
	streams       = 100
	uploadBuffer  = 256 << 10 // bytes of bodies, of all streams, that arrived but were not read
	headerTable   = 4 << 10
	pingAfter     = 30 * time.Second // time without a frame
	pingTimeout   = 15 * time.Second
	unsentPerConn = 128 << 10 // unsent bytes buffered in the kernel
)

// Params defines what is served, to which clients, and within which limits.
type Params struct {
	Listener net.Listener
	TLS      *tls.Config // plain HTTP if nil
	Handler  http.Handler
	// Observe wraps the handler with logs and metrics. Optional.
	Observe  func(http.Handler) http.Handler
	Budget   *intake.Budget // for bodies and responses
	Proxies  []netip.Prefix // trusted to report their clients
	Draining *atomic.Bool   // set when a stop was requested; may be nil
	Logger   *slog.Logger
	Fail     func(error) // called if the server ends unexpectedly
}

// Server listens and serves one handler.
type Server struct {
	*http.Server

	listener net.Listener
	cut      context.CancelCauseFunc // cancels the context of every request
	fail     func(error)
}

// errStopped is the cause with which a stop cancels requests. Their clients have not disconnected.
var errStopped = errors.New("the server is stopping")

// Listen opens the listener early, so that a port in use is a startup error.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := ListenTCP(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("POSTRIDER_HTTP_ADDR: cannot listen on %s: %w", addr, err)
	}
	return l, nil
}

// ListenTCP opens a listener for a server.
func ListenTCP(ctx context.Context, addr string) (net.Listener, error) {
	return (&net.ListenConfig{Control: boundUnsent}).Listen(ctx, "tcp", addr)
}

// New returns a new Server. Every connection passes its gate, and every request the budget, whatever the
// handler is.
func New(p Params) *Server {
	base, cut := context.WithCancelCause(context.Background()) // lives as long as the server
	g := &gate{places: intake.NewGate(p.Budget.Connections(), 0), pace: p.Budget.MinRate(), proxies: p.Proxies,
		secured: p.TLS != nil, refused: p.Budget.CountRefused}
	handler := p.Budget.LimitHandler(p.Handler,
		func(r *http.Request) intake.Tenant { return intake.Tenant{Remote: clientip.From(r, p.Proxies)} },
		func(w http.ResponseWriter) {
			refuseRequest(w, "Too many large responses are being sent. Retry in 5 seconds.")
		})
	if p.Observe != nil {
		handler = p.Observe(handler)
	}
	var l net.Listener = &gatedListener{p.Listener, g}
	if p.TLS != nil {
		l = tls.NewListener(l, p.TLS)
	}
	return &Server{listener: l, cut: cut, fail: p.Fail, Server: &http.Server{
		Handler: g.admitRequests(closeWhenDraining(handler, p.Draining)), ConnContext: rememberConn,
		ReadHeaderTimeout: HeaderTimeout, IdleTimeout: IdleTimeout, MaxHeaderBytes: HeaderBytes,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streams, MaxReceiveBufferPerConnection: uploadBuffer,
			MaxReceiveBufferPerStream: uploadBuffer,
			MaxDecoderHeaderTableSize: headerTable, MaxEncoderHeaderTableSize: headerTable, SendPingTimeout: pingAfter,
			PingTimeout: pingTimeout},
		BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog:    slog.NewLogLogger(p.Logger.Handler(), slog.LevelDebug), // failed handshakes and the like
	}}
}

// closeWhenDraining closes each connection with its next response once a stop was requested, so that
// clients with persistent connections reconnect to another process.
func closeWhenDraining(h http.Handler, draining *atomic.Bool) http.Handler {
	if draining == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if draining.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// Start serves in the background.
func (s *Server) Start(context.Context) error {
	go func() {
		if err := s.Server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("the HTTP listener ended unexpectedly: %w", err))
		}
	}()
	return nil
}

// Stop rejects new connections, lets requests finish, and cuts those that do not.
func (s *Server) Stop(ctx context.Context) error {
	grace, cancel := context.WithTimeout(ctx, StreamGrace)
	defer cancel()
	err := s.Server.Shutdown(grace)
	s.cut(errStopped)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.Server.Close()
	}
	return err
}
