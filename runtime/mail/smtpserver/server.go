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

	base context.Context // ends when connections are cut
	cut  context.CancelFunc

	mu       sync.Mutex
	draining bool
	wires    map[*wire]struct{}
	empty    chan struct{} // closed when draining and no wire is left
}

// New returns a server. It does nothing before Serve.
func New(c Config) (*Server, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{config: c, gate: intake.NewGate(c.Connections, c.PerAddress), metrics: c.Metrics.seriesOf(c.Name),
		wires: map[*wire]struct{}{}, empty: make(chan struct{})}
	s.base, s.cut = context.WithCancel(context.Background()) // sessions live as long as their connections
	s.smtp = smtp.NewServer(smtp.BackendFunc(s.newSession))
	s.smtp.Domain, s.smtp.MaxRecipients, s.smtp.EnableSMTPUTF8 = c.Hostname, c.MaxRecipients, c.SMTPUTF8
	// go-smtp rejects a message of exactly its limit.
	s.smtp.MaxMessageBytes = c.MaxMessageBytes + 1
	// go-smtp would also limit the lines of messages. The wire limits command lines.
	s.smtp.MaxLineLength = 0
	// The wire handles TLS, invisibly for go-smtp. Sessions offer AUTH over TLS only.
	s.smtp.AllowInsecureAuth = true
	s.smtp.ReadTimeout, s.smtp.WriteTimeout = c.Idle, c.WriteTime
	s.smtp.ErrorLog = errorLog{c.Logger, c.Name}
	return s, nil
}

// maxLine is the maximum length of a command line in bytes. AUTH has the longest (RFC 4954, 4: 12,288).
const maxLine = 65536

// Serve accepts connections from l until Stop, which closes l. It then returns nil.
func (s *Server) Serve(l net.Listener) error {
	if s.isDraining() {
		return l.Close()
	}
	if err := s.smtp.Serve(&listener{Listener: l, server: s}); err != nil {
		return fmt.Errorf("smtp listener %s: %w", s.config.Name, err)
	}
	return nil
}

// Stop accepts no new connections, sends 421 to those that wait for a command, and waits for messages in
// progress. When ctx ends, they are cut, and Stop returns the error of ctx.
func (s *Server) Stop(ctx context.Context) error {
	wires := s.drainConnections()
	for _, w := range wires {
		w.interruptWait()
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
	for _, w := range s.drainConnections() {
		w.closeNow()
	}
	cancel()
	if closed := <-done; closed != nil && !errors.Is(closed, context.Canceled) && !errors.Is(closed, net.ErrClosed) &&
		!errors.Is(closed, smtp.ErrServerClosed) && err == nil {
		err = closed
	}
	return err
}

// drainConnections returns the open connections and admits no others.
func (s *Server) drainConnections() []*wire {
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

// addConnection registers a connection. It returns false while the server stops.
func (s *Server) addConnection(w *wire) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.wires[w] = struct{}{}
	return true
}

func (s *Server) removeConnection(w *wire) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.wires, w)
	s.closeWhenEmpty()
}

// listener returns wires instead of connections.
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
		w := newWire(s, s.wrapProxied(c))
		if w.place, err = s.gate.Enter(w.knownRemote(), w.displaceConnection); err != nil {
			s.turnAway(c, overloadReply(err))
			continue
		}
		s.metrics.open.Inc()
		if !s.addConnection(w) {
			w.closeNow()
			continue
		}
		return w, nil
	}
}

// turnAway replies immediately: a new socket has room for a line.
func (s *Server) turnAway(c net.Conn, r *Reply) {
	s.metrics.countRefusal(r)
	if !s.config.ImplicitTLS && c.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
		fmt.Fprint(c, r.formatLine()) // the connection closes either way
	}
	c.Close() // likewise
}

// wrapProxied requires the header of a trusted proxy, and accepts it from no other client, for which it
// is an invalid command.
func (s *Server) wrapProxied(c net.Conn) net.Conn {
	peer := addressOf(c.RemoteAddr())
	for _, trusted := range s.config.ProxyTrusted {
		if trusted.Contains(peer) {
			return proxyproto.NewConn(c, proxyproto.WithPolicy(proxyproto.REQUIRE),
				proxyproto.SetReadHeaderTimeout(10*time.Second))
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
