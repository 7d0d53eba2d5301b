package receivers

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/miekg/dns"
)

// Names is a DNS server for all domains below test: each has one mail host, mx
// below itself.
type Names struct {
	servers []*dns.Server
	packets net.PacketConn
	address func(domain string) string
}

// ServeNames starts one, in which address gives the mail host of a domain.
func ServeNames(ctx context.Context, address func(domain string) string) (*Names, error) {
	packets, err := new(net.ListenConfig).ListenPacket(ctx, "udp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &Names{packets: packets, address: address}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", n.Addr())
	if err != nil {
		return nil, errors.Join(err, packets.Close())
	}
	n.servers = []*dns.Server{{PacketConn: packets, Handler: n}, {Listener: listener, Handler: n}}
	for _, server := range n.servers {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go func() {
			if err := server.ActivateAndServe(); err != nil {
				complain("names", err)
			}
		}()
		<-started
	}
	return n, nil
}

// Addr is host:port, of UDP and TCP.
func (n *Names) Addr() string { return n.packets.LocalAddr().String() }

// Close stops it.
func (n *Names) Close() {
	for _, server := range n.servers {
		if err := server.Shutdown(); err != nil {
			complain("names", err)
		}
	}
}

// ServeDNS answers MX and A; nothing else exists.
func (n *Names) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	q := query.Question[0]
	name := strings.TrimSuffix(strings.ToLower(q.Name), ".")
	host, found := strings.CutPrefix(name, "mx.")
	reply := new(dns.Msg).SetReply(query)
	header := dns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: dns.ClassINET, Ttl: 300}
	switch {
	case q.Qtype == dns.TypeMX && !found:
		reply.Answer = []dns.RR{&dns.MX{Hdr: header, Preference: 10, Mx: "mx." + name + "."}}
	case q.Qtype == dns.TypeA && found:
		reply.Answer = []dns.RR{&dns.A{Hdr: header, A: net.ParseIP(n.address(host))}}
	case strings.HasPrefix(name, "_"):
		reply.Rcode = dns.RcodeNameError
	}
	if err := w.WriteMsg(reply); err != nil {
		return // whoever asked has gone
	}
}
