package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Limits for peers that say nothing. Bodies and answers have their own, per route.
const (
	HeaderTimeout = 10 * time.Second
	IdleTimeout   = 2 * time.Minute
	HeaderBytes   = 64 << 10

	// StreamGrace is how long a stop waits for requests; open streams never end
	// by themselves and are cut then.
	StreamGrace = 10 * time.Second
)

// Server listens and serves one handler.
type Server struct {
	*http.Server

	listener net.Listener
	cut      context.CancelFunc // ends every request's context
	log      *slog.Logger
	fail     func(error) // ends the service
}

// Listen takes the address, so that a taken port is an error of the start.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("POSTRIDER_HTTP_ADDR: cannot listen on %s: %w", addr, err)
	}
	return l, nil
}

// New makes a server of the handler on the listener. draining is set once a stop was asked
// for; fail ends the service when the server has ended by itself.
func New(l net.Listener, h http.Handler, draining *atomic.Bool, log *slog.Logger, fail func(error)) *Server {
	base, cut := context.WithCancel(context.Background()) // lives as long as the server does
	return &Server{listener: l, cut: cut, log: log, fail: fail, Server: &http.Server{
		Handler: leaving(h, draining), ReadHeaderTimeout: HeaderTimeout, IdleTimeout: IdleTimeout, MaxHeaderBytes: HeaderBytes,
		BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelDebug), // broken handshakes and the like
	}}
}

// leaving closes each connection with its next answer once a stop was asked for, so that
// whoever keeps connections comes back to another process.
func leaving(h http.Handler, draining *atomic.Bool) http.Handler {
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
			s.fail(fmt.Errorf("the HTTP listener has ended: %w", err))
		}
	}()
	return nil
}

// Stop refuses new connections, lets requests end, and cuts those that do not.
func (s *Server) Stop(ctx context.Context) error {
	grace, cancel := context.WithTimeout(ctx, StreamGrace)
	defer cancel()
	err := s.Server.Shutdown(grace)
	s.cut()
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.Server.Close()
	}
	return err
}
