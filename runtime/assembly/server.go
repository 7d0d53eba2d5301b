package assembly

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

const (
	// Bodies and answers have their own limits, per route; these are for peers
	// that say nothing.
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
	// streamGrace is how long a stop waits for requests; open streams never end
	// by themselves and are cut then.
	streamGrace = 10 * time.Second
)

// server listens and serves one handler.
type server struct {
	http     *http.Server
	listener net.Listener
	cut      context.CancelFunc // ends every request's context
	log      *slog.Logger
	fail     func(error) // ends the service
}

// listen takes the address, so that a taken port is an error of the start.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("POSTRIDER_HTTP_ADDR: cannot listen on %s: %w", addr, err)
	}
	return l, nil
}

func newServer(l net.Listener, h http.Handler, draining *atomic.Bool, log *slog.Logger, fail func(error)) *server {
	base, cut := context.WithCancel(context.Background()) // lives as long as the server does
	return &server{listener: l, cut: cut, log: log, fail: fail, http: &http.Server{
		Handler: leaving(h, draining), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
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

func (s *server) start(context.Context) error {
	go func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("the HTTP listener has ended: %w", err))
		}
	}()
	return nil
}

// stop refuses new connections, lets requests end, and cuts those that do not.
func (s *server) stop(ctx context.Context) error {
	grace, cancel := context.WithTimeout(ctx, streamGrace)
	defer cancel()
	err := s.http.Shutdown(grace)
	s.cut()
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	return err
}
