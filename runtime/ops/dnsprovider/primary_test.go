package dnsprovider

import (
	"encoding/base64"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

const (
	keyName = "apply.key."
	key     = "c2VjcmV0LW9mLXRoZS1wcmltYXJ5LTEyMw=="
)

// primary is a primary name server of one zone. It supports AXFR and UPDATE with a TSIG key, and queries
// without.
type primary struct {
	addr string
	zone string

	mu      sync.Mutex
	records []dns.RR
	updates int
	silent  bool // accepts removals but does not execute them
	endless bool // never ends a transfer
	refuse  bool // rejects removals
}

func newPrimary(t testing.TB, zone string, lines ...string) *primary {
	t.Helper()
	p := &primary{zone: zone}
	p.add(t, zone+" 3600 IN SOA ns1."+zone+" hostmaster."+zone+" 1 3600 600 86400 60", zone+" 3600 IN NS ns1."+zone)
	p.add(t, lines...)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	packets, err := net.ListenPacket("udp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	p.addr = listener.Addr().String()
	for _, server := range []*dns.Server{{Listener: listener}, {PacketConn: packets}} {
		server.Handler, server.TsigSecret = p, map[string]string{keyName: key}
		server.MsgAcceptFunc = func(dns.Header) dns.MsgAcceptAction { return dns.MsgAccept }
		started, ended := make(chan struct{}), make(chan error, 1)
		server.NotifyStartedFunc = func() { close(started) }
		go func() { ended <- server.ActivateAndServe() }()
		<-started
		t.Cleanup(func() {
			if err := server.Shutdown(); err != nil {
				t.Error(err)
			}
			<-ended
		})
	}
	return p
}

func (p *primary) add(t testing.TB, lines ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatal(err)
		}
		p.records = append(p.records, rr)
	}
}

// set changes the behavior of the server.
func (p *primary) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// lines returns the records with a name and type, without their headers.
func (p *primary) lines(name string, qtype uint16) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, rr := range p.records {
		if h := rr.Header(); h.Rrtype == qtype && h.Name == name {
			out = append(out, strings.TrimPrefix(rr.String(), h.String()))
		}
	}
	slices.Sort(out)
	return out
}

func (p *primary) ServeDNS(w dns.ResponseWriter, m *dns.Msg) {
	reply := new(dns.Msg).SetReply(m)
	reply.Authoritative = true
	signed := m.IsTsig()
	isTransfer := len(m.Question) == 1 && m.Question[0].Qtype == dns.TypeAXFR
	if m.Opcode == dns.OpcodeUpdate || isTransfer {
		if signed == nil || w.TsigStatus() != nil {
			reply.Rcode = dns.RcodeNotAuth
			w.WriteMsg(reply)
			return
		}
		reply.SetTsig(signed.Hdr.Name, signed.Algorithm, 300, time.Now().Unix())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case isTransfer:
		p.transfer(w, reply)
		return
	case m.Opcode == dns.OpcodeUpdate:
		reply.Rcode = p.update(m.Ns)
	default:
		p.answer(reply, m.Question[0])
	}
	w.WriteMsg(reply)
}

func (p *primary) transfer(w dns.ResponseWriter, reply *dns.Msg) {
	reply.Answer = append(slices.Clone(p.records), p.records[0])
	if !p.endless {
		w.WriteMsg(reply)
		return
	}
	reply.Answer = slices.Clone(p.records)
	for w.WriteMsg(reply) == nil {
		w.TsigTimersOnly(true)
		reply.SetTsig(keyName, dns.HmacSHA256, 300, time.Now().Unix())
		reply.Answer = nil
		for range 400 {
			reply.Answer = append(reply.Answer, p.records[1])
		}
	}
}

// update implements the required part of RFC 2136 section 3.4.2.
func (p *primary) update(changes []dns.RR) int {
	p.updates++
	for _, rr := range changes {
		if rr.Header().Class != dns.ClassNONE {
			if !slices.ContainsFunc(p.records, func(have dns.RR) bool { return dns.IsDuplicate(have, rr) }) {
				p.records = append(p.records, rr)
			}
			continue
		}
		if p.refuse {
			return dns.RcodeRefused
		}
		exact := dns.Copy(rr)
		exact.Header().Class = dns.ClassINET
		if !p.silent {
			p.records = slices.DeleteFunc(p.records, func(have dns.RR) bool { return dns.IsDuplicate(have, exact) })
		}
	}
	return dns.RcodeSuccess
}

func (p *primary) answer(reply *dns.Msg, q dns.Question) {
	reply.Rcode = dns.RcodeNameError
	for _, rr := range p.records {
		if name := strings.ToLower(q.Name); rr.Header().Name == name || strings.HasSuffix(rr.Header().Name, "."+name) {
			reply.Rcode = dns.RcodeSuccess
			if rr.Header().Rrtype == q.Qtype && rr.Header().Name == name {
				reply.Answer = append(reply.Answer, rr)
			}
		}
	}
	if len(reply.Answer) == 0 {
		reply.Ns = p.records[:1]
	}
}

// wrongKey has the right name but another secret.
var wrongKey = base64.StdEncoding.EncodeToString([]byte("not the server's secret"))
