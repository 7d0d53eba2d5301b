package smtpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/pires/go-proxyproto"

	"github.com/postrider/postrider/runtime/base/intake"
)

// Server is one listener.
type Server struct {
	config  Config
	smtp    *smtp.Server
	gate    *intake.Gate
	metrics series

	base context.Context // ends with the connections
	cut  context.CancelFunc

	mu       sync.Mutex
	draining bool
	wires    map[*wire]struct{}
	empty    chan struct{} // closed when draining and no wire is left
}

// New makes a server; nothing happens before Serve.
func New(c Config) (*Server, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	s := &Server{config: c, gate: intake.NewGate(c.Connections, c.PerAddress), metrics: c.Metrics.of(c.Name),
		wires: map[*wire]struct{}{}, empty: make(chan struct{})}
	s.base, s.cut = context.WithCancel(context.Background()) // sessions live as long as their connections
	s.smtp = smtp.NewServer(smtp.BackendFunc(s.newSession))
	s.smtp.Domain, s.smtp.MaxRecipients, s.smtp.EnableSMTPUTF8 = c.Hostname, c.MaxRecipients, c.SMTPUTF8
	// go-smtp refuses a message of exactly its limit.
	s.smtp.MaxMessageBytes = c.MaxMessageBytes + 1
	// go-smtp would count lines of messages too. The wire bounds command lines.
	s.smtp.MaxLineLength = 0
	// The wire knows of TLS; go-smtp does not. Sessions offer AUTH over TLS only.
	s.smtp.AllowInsecureAuth = true
	s.smtp.ReadTimeout, s.smtp.WriteTimeout = c.Idle, c.WriteTime
	s.smtp.ErrorLog = errorLog{c.Logger, c.Name}
	return s, nil
}

// maxLine bounds a command line, in octets. AUTH has the longest (RFC 4954, 4: 12,288).
const maxLine = 65536

// Serve takes connections from l until Stop, which closes l. The error is nil then.
func (s *Server) Serve(l net.Listener) error {
	if s.isDraining() {
		return l.Close()
	}
	if err := s.smtp.Serve(&listener{Listener: l, server: s}); err != nil {
		return fmt.Errorf("smtp listener %s: %w", s.config.Name, err)
	}
	return nil
}

// Stop takes no new connections, answers those that wait for a command 421, and
// waits for the messages that are under way. When ctx ends they are cut; the error is
// that of ctx then.
func (s *Server) Stop(ctx context.Context) error {
	wires := s.drain()
	for _, w := range wires {
		w.interrupt()
	}
	closing, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.smtp.Shutdown(closing) }() // closes the listener first
	var err error
	select {
	case <-s.empty:
	case <-ctx.Done():
		err = fmt.Errorf("smtp listener %s: messages were cut: %w", s.config.Name, ctx.Err())
	}
	s.cut()
	for _, w := range s.drain() {
		w.kill()
	}
	cancel()
	if closed := <-done; closed != nil && !errors.Is(closed, context.Canceled) && !errors.Is(closed, net.ErrClosed) && !errors.Is(closed, smtp.ErrServerClosed) && err == nil {
		err = closed
	}
	return err
}

// drain gives the connections that are open and lets no other come.
func (s *Server) drain() []*wire {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.draining {
		s.draining = true
		s.closeWhenEmpty()
	}
	all := make([]*wire, 0, len(s.wires))
	for w := range s.wires {
		all = append(all, w)
	}
	return all
}

func (s *Server) closeWhenEmpty() {
	if s.draining && len(s.wires) == 0 {
		select {
		case <-s.empty:
		default:
			close(s.empty)
		}
	}
}

func (s *Server) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// enter registers a connection; false while the server stops.
func (s *Server) enter(w *wire) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.wires[w] = struct{}{}
	return true
}

func (s *Server) leave(w *wire) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.wires, w)
	s.closeWhenEmpty()
}

// listener gives wires instead of connections.
type listener struct {
	net.Listener

	server *Server
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		s := l.server
		s.metrics.connections.Inc()
		w := newWire(s, s.proxied(c))
		if w.place, err = s.gate.Enter(w.knownRemote(), w.displace); err != nil {
			s.turnAway(c, crowded(err))
			continue
		}
		s.metrics.open.Inc()
		if !s.enter(w) {
			w.kill()
			continue
		}
		return w, nil
	}
}

// turnAway answers at once: a socket that is new has room for a line.
func (s *Server) turnAway(c net.Conn, r *Reply) {
	s.metrics.refused(r)
	if !s.config.ImplicitTLS && c.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
		fmt.Fprint(c, r.line()) // it is gone either way
	}
	c.Close() // likewise
}

// proxied demands the header of a proxy that is trusted, and of nobody else: what
// others send of the kind is a bad command.
func (s *Server) proxied(c net.Conn) net.Conn {
	peer := addressOf(c.RemoteAddr())
	for _, trusted := range s.config.ProxyTrusted {
		if trusted.Contains(peer) {
			return proxyproto.NewConn(c, proxyproto.WithPolicy(proxyproto.REQUIRE), proxyproto.SetReadHeaderTimeout(10*time.Second))
		}
	}
	return c
}

// telemetryListener is the log attribute that names a listener.
const telemetryListener = "listener"

type errorLog struct {
	logger *slog.Logger
	name   string
}

func (e errorLog) Printf(format string, v ...any) { e.Println(fmt.Sprintf(format, v...)) }

func (e errorLog) Println(v ...any) {
	level, text := slog.LevelDebug, oneLine(strings.TrimSpace(fmt.Sprintln(v...)))
	if strings.HasPrefix(text, "panic") {
		level, text = slog.LevelError, strings.TrimSpace(fmt.Sprintln(v...))
	}
	e.logger.Log(context.Background(), level, "smtp server: "+text, telemetryListener, e.name)
}
