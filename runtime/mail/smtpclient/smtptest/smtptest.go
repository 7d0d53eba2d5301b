// Package smtptest is a scripted SMTP server for tests: real sockets on loopback,
// go-smtp behind them, and a script that says per phase and recipient what to
// answer, when to hang up and where to stall. What is not scripted succeeds.
//
// It remembers messages, what clients wrote in the clear, and counts of what
// happened; Wait blocks until they are as a test wants them, so no test sleeps.
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

// patience is that of package expect, which mail packages do not know.
const patience = 2 * time.Minute

// TLS is what the server does about TLS.
type TLS int

// The kinds of TLS. Certificates come from an authority of the test's own (RootCAs).
const (
	NoTLS     TLS = iota
	StartTLS      // offered, certificate for Hostname and 127.0.0.1
	WrongName     // offered, certificate for another name
	BrokenTLS     // offered, every handshake fails
	Implicit      // TLS from the first octet
)

// Config shapes a server.
type Config struct {
	Hostname       string            // greeting and certificate; default mx.test
	Addr           string            // default 127.0.0.1:0
	TLS            TLS               //
	MaxSize        int64             // SIZE; 0: none
	SMTPUTF8       bool              // offered
	NoPipelining   bool              // PIPELINING is not offered (in the clear)
	NoEightBit     bool              // 8BITMIME is not offered (in the clear)
	Auth           map[string]string // user to password: AUTH PLAIN is demanded
	AuthInTheClear bool              // AUTH is offered without TLS too
	Discard        bool              // for benchmarks: count messages, keep nothing
}

// Message is one that reached its final dot, whatever was answered.
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
	Code       int    // answered; 0: hung up instead
}

// Stats is what has happened so far.
type Stats struct {
	Connections int // accepted
	Open        int // of these, still open
	Messages    int // reached their final dot
	Accepted    int // of these, answered 250
	Aborted     int // bodies that ended without a final dot
	Stalled     int // stalls that began
}

// Server is a running server. It stops with the test.
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
	secured := s.secured(t, s.listener)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(secured) }()
	t.Cleanup(func() {
		s.Release()
		if err := server.Close(); err != nil {
			t.Errorf("stop the smtp server: %v", err)
		}
		// Close overlooks a listener that Serve has not come to yet; twice does no harm.
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
	server.ErrorLog = log.New(io.Discard, "", 0) // hanging up is what the tests do
	if s.cfg.TLS != NoTLS && s.cfg.TLS != Implicit {
		server.TLSConfig = s.tlsConfig(t)
	}
	return server
}

// Addr is host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Port is the port alone: what an MX record leaves out.
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// Host is the address alone.
func (s *Server) Host() string { return s.listener.Addr().(*net.TCPAddr).IP.String() }

// URL is the smarthost setting that reaches this server.
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

// RootCAs trusts the server's certificate authority.
func (s *Server) RootCAs() *x509.CertPool { return s.roots }

// Certificates are the server's own and its authority's, as for TLSA records.
func (s *Server) Certificates() (leaf, authority *x509.Certificate) { return s.leaf, s.authority }

// Release ends all stalls; what was stalled is hung up on.
func (s *Server) Release() { s.release.Do(func() { close(s.released) }) }

// Messages is what reached its final dot so far.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Message(nil), s.messages...)
}

// Transcript is what clients wrote in the clear, all connections together.
func (s *Server) Transcript() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.transcript)
}

// Stats is what has happened so far.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Wait blocks until the counts are as wanted; it fails the test when they do not come.
func (s *Server) Wait(t testing.TB, what string, wanted func(Stats) bool) Stats {
	t.Helper()
	deadline := time.Now().Add(patience)
	wake := time.AfterFunc(patience, s.changed.Broadcast)
	defer wake.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !wanted(s.stats) {
		if !time.Now().Before(deadline) {
			t.Fatalf("waited in vain for: %s (%+v)", what, s.stats)
		}
		s.changed.Wait()
	}
	return s.stats
}

// record keeps a message and says where.
func (s *Server) record(m Message) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cfg.Discard {
		return -1
	}
	s.messages = append(s.messages, m)
	return len(s.messages) - 1
}

func (s *Server) answered(at, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at >= 0 {
		s.messages[at].Code = code
	}
}

func (s *Server) count(change func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.stats)
	s.changed.Broadcast()
}
