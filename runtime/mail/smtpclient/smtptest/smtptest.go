// Package smtptest is a scripted SMTP server for tests: real sockets on loopback, go-smtp, and a script that
// defines, per phase and recipient, what to reply, when to disconnect and where to stall. Unscripted steps
// succeed.
//
// It records messages, the plaintext sent by clients, and counters. Wait blocks until these match a test's
// expectation, so no test sleeps.
package smtptest

import (
	"crypto/x509"
	"io"
	"log"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
)

// patience equals that of package expect, which mail packages cannot import.
const patience = 2 * time.Minute

// TLS is the TLS behavior of the server.
type TLS int

// The kinds of TLS. Certificates come from an authority created by the test (RootCAs).
const (
	NoTLS     TLS = iota
	StartTLS      // offered, certificate for Hostname and 127.0.0.1
	WrongName     // offered, certificate for another name
	BrokenTLS     // offered, every handshake fails
	Implicit      // TLS from the first byte
)

// Config configures a server.
type Config struct {
	Hostname       string            // greeting and certificate; default mx.test
	Addr           string            // default 127.0.0.1:0
	TLS            TLS               //
	MaxSize        int64             // SIZE; 0: none
	SMTPUTF8       bool              // offered
	NoPipelining   bool              // PIPELINING is not offered (in the clear)
	NoEightBit     bool              // 8BITMIME is not offered (in the clear)
	Auth           map[string]string // user to password: AUTH PLAIN is required
	AuthInTheClear bool              // AUTH is also offered without TLS
	Discard        bool              // for benchmarks: count messages, store nothing
}

// Message is a message that reached its final dot, whatever the reply was.
type Message struct {
	From       string
	To         []string
	Data       []byte // dots unstuffed
	SMTPUTF8   bool
	Helo       string
	User       string // authenticated as
	TLS        bool
	Remote     string // address of the client, without the port
	Connection int    // 1 for the first connection of the server
	Code       int    // of the reply; 0: disconnected instead
}

// Stats are the counters of a server.
type Stats struct {
	Connections int // accepted
	Open        int // of these, currently open
	Messages    int // reached their final dot
	Accepted    int // of these, replied 250
	Aborted     int // bodies without a final dot
	Stalled     int // stalls started
}

// Server is a running server. It stops when the test ends.
type Server struct {
	cfg       Config
	listener  net.Listener
	roots     *x509.CertPool
	leaf      *x509.Certificate
	authority *x509.Certificate
	released  chan struct{}
	release   sync.Once

	mu         sync.Mutex
	changed    *sync.Cond
	stats      Stats
	messages   []Message
	transcript []byte
	once       map[step][]Action
	always     map[step]Action
}

// New starts a server.
func New(t testing.TB, cfg Config) *Server {
	t.Helper()
	if cfg.Hostname == "" {
		cfg.Hostname = "mx.test"
	}
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	s := &Server{cfg: cfg, released: make(chan struct{}), once: map[step][]Action{}, always: map[step]Action{}}
	s.changed = sync.NewCond(&s.mu)
	server := s.smtpServer(t)
	base, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		t.Fatal(err)
	}
	s.listener = &listener{Listener: base, server: s}
	secured := s.wrapTLS(t, s.listener)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(secured) }()
	t.Cleanup(func() {
		s.Release()
		if err := server.Close(); err != nil {
			t.Errorf("stop the smtp server: %v", err)
		}
		// Close may be called again, also before Serve has started.
		base.Close()
		if err := <-ended; err != nil {
			t.Errorf("smtp server: %v", err)
		}
		s.Wait(t, "every connection closed", func(now Stats) bool { return now.Open == 0 })
	})
	return s
}

func (s *Server) smtpServer(t testing.TB) *smtp.Server {
	t.Helper()
	server := smtp.NewServer(smtp.BackendFunc(s.newSession))
	server.Domain = s.cfg.Hostname
	server.EnableSMTPUTF8 = s.cfg.SMTPUTF8
	server.MaxLineLength = 16 << 20
	if s.cfg.MaxSize > 0 {
		server.MaxMessageBytes = s.cfg.MaxSize
	}
	server.AllowInsecureAuth = s.cfg.AuthInTheClear
	server.ErrorLog = log.New(io.Discard, "", 0) // tests disconnect on purpose
	if s.cfg.TLS != NoTLS && s.cfg.TLS != Implicit {
		server.TLSConfig = s.tlsConfig(t)
	}
	return server
}

// Addr returns host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Port returns the port.
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// Host returns the address without the port.
func (s *Server) Host() string { return s.listener.Addr().(*net.TCPAddr).IP.String() }

// URL returns the smarthost setting for this server.
func (s *Server) URL(userinfo string) string {
	scheme := "smtp"
	if s.cfg.TLS == Implicit {
		scheme = "smtps"
	}
	if userinfo != "" {
		userinfo += "@"
	}
	return scheme + "://" + userinfo + net.JoinHostPort(s.Host(), strconv.Itoa(s.Port()))
}

// RootCAs returns a pool with the server's certificate authority.
func (s *Server) RootCAs() *x509.CertPool { return s.roots }

// Certificates returns the certificates of the server and of its authority, for TLSA records.
func (s *Server) Certificates() (leaf, authority *x509.Certificate) { return s.leaf, s.authority }

// Release ends all stalls; stalled connections are closed.
func (s *Server) Release() { s.release.Do(func() { close(s.released) }) }

// Messages returns the messages that have reached their final dot.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Message(nil), s.messages...)
}

// Transcript returns the plaintext sent by clients, of all connections together.
func (s *Server) Transcript() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.transcript)
}

// Stats returns the current counters.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Wait blocks until the counters meet a condition, and fails the test if they do not.
func (s *Server) Wait(t testing.TB, what string, wanted func(Stats) bool) Stats {
	t.Helper()
	deadline := time.Now().Add(patience)
	wake := time.AfterFunc(patience, s.changed.Broadcast)
	defer wake.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !wanted(s.stats) {
		if !time.Now().Before(deadline) {
			t.Fatalf("timed out waiting for: %s (%+v)", what, s.stats)
		}
		s.changed.Wait()
	}
	return s.stats
}

// recordMessage stores a message and returns its index.
func (s *Server) recordMessage(m Message) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cfg.Discard {
		return -1
	}
	s.messages = append(s.messages, m)
	return len(s.messages) - 1
}

func (s *Server) recordAnswer(at, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at >= 0 {
		s.messages[at].Code = code
	}
}

func (s *Server) updateStats(change func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.stats)
	s.changed.Broadcast()
}
