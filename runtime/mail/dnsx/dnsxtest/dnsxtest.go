// Package dnsxtest is a scripted DNS server for tests: it listens on loopback, on one port for UDP and TCP,
// answers from records that the test may change at any time, follows aliases like a recursive resolver,
// misbehaves for given names, and records queries.
//
// A name that was never mentioned does not exist (NXDOMAIN); a name with only records of other types has an
// empty answer. Both include an SOA.
package dnsxtest

import (
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// Fault is a kind of misbehavior for a name.
type Fault int

// The faults. Timeout does not respond; Truncate answers over TCP only; NoEDNS rejects queries with EDNS0;
// OnlyFirstAlias leaves the rest of a chain to the client; OtherQuestion replies to a different question.
const (
	ServFail Fault = iota + 1
	Refused
	NXDomain
	Timeout
	Truncate
	NoEDNS
	OnlyFirstAlias
	OtherQuestion
)

// Query is a received query.
type Query struct {
	Name string // lower case, trailing dot
	Type string // "MX"
	TCP  bool
}

// Server is a running server. It stops when the test ends.
type Server struct {
	addr string

	mu        sync.Mutex
	records   map[string][]dns.RR
	faults    map[string]Fault
	queries   []Query
	authentic bool
}

// New starts a server with records in zone-file form:
//
//	dnsxtest.New(t, "example.test. 300 IN MX 10 mx.example.test.", "mx.example.test. 300 IN A 127.0.0.1")
func New(t testing.TB, records ...string) *Server {
	t.Helper()
	s := &Server{records: map[string][]dns.RR{}, faults: map[string]Fault{}}
	s.Add(t, records...)
	listener, packets := listenBoth(t)
	s.addr = listener.Addr().String()
	for _, server := range []*dns.Server{{Listener: listener, Handler: s}, {PacketConn: packets, Handler: s}} {
		started, ended := make(chan struct{}), make(chan error, 1)
		server.NotifyStartedFunc = func() { close(started) }
		go func() { ended <- server.ActivateAndServe() }()
		<-started
		t.Cleanup(func() {
			if err := server.Shutdown(); err != nil {
				t.Errorf("stop the dns server: %v", err)
			}
			if err := <-ended; err != nil {
				t.Errorf("dns server: %v", err)
			}
		})
	}
	return s
}

// listenBoth finds a port that is free for both protocols.
func listenBoth(t testing.TB) (net.Listener, net.PacketConn) {
	t.Helper()
	var last error
	for range 20 {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		packets, err := net.ListenPacket("udp4", listener.Addr().String())
		if err == nil {
			return listener, packets
		}
		last = err
		listener.Close()
	}
	t.Fatalf("no port is free for UDP and TCP: %v", last)
	return nil, nil
}

// Addr returns host:port, for dnsx.Config.Server.
func (s *Server) Addr() string { return s.addr }

// Add adds records in zone-file form.
func (s *Server) Add(t testing.TB, records ...string) {
	t.Helper()
	for _, line := range records {
		rr, err := dns.NewRR(line)
		if err != nil || rr == nil {
			t.Fatalf("record %q: %v", line, err)
		}
		s.Put(rr)
	}
}

// Put adds one record that zone-file form cannot express.
func (s *Server) Put(rr dns.RR) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := nameKey(rr.Header().Name)
	s.records[name] = append(s.records[name], rr)
}

// Set replaces all records of a name, like a customer who edits the zone.
func (s *Server) Set(t testing.TB, name string, records ...string) {
	t.Helper()
	s.Remove(name)
	s.Add(t, records...)
}

// Remove deletes a name from the zone.
func (s *Server) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.records, nameKey(name))
}

// Fault makes a name misbehave; 0 makes it normal again.
func (s *Server) Fault(name string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[nameKey(name)] = f
}

// SetAuthentic sets the AD bit of all answers, as a validating resolver does.
func (s *Server) SetAuthentic(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.authentic = on
}

// Queries returns the queries received so far, oldest first.
func (s *Server) Queries() []Query {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.queries)
}

// Count returns how many times a name was queried with a type ("MX"; "" counts all).
func (s *Server) Count(name, qtype string) int {
	n := 0
	for _, q := range s.Queries() {
		if q.Name == nameKey(name) && (qtype == "" || q.Type == qtype) {
			n++
		}
	}
	return n
}

func nameKey(name string) string { return strings.ToLower(dns.Fqdn(name)) }
