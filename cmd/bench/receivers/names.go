package receivers

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/miekg/dns"
)

// Names is a DNS server in which each domain has one mail host, mx.<domain>, with the address 127.0.0.1.
type Names struct {
	servers []*dns.Server
	packets net.PacketConn
}

// NewNames starts a DNS server.
func NewNames(ctx context.Context) (*Names, error) {
	packets, err := new(net.ListenConfig).ListenPacket(ctx, "udp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &Names{packets: packets}
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
				logError("dns", err)
			}
		}()
		<-started
	}
	return n, nil
}

// Addr returns host:port, for UDP and TCP.
func (n *Names) Addr() string { return n.packets.LocalAddr().String() }

// Close stops the server.
func (n *Names) Close() {
	for _, server := range n.servers {
		if err := server.Shutdown(); err != nil {
			logError("dns", err)
		}
	}
}

// ServeDNS answers MX and A queries. Other records do not exist.
func (n *Names) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	q := query.Question[0]
	name := strings.TrimSuffix(strings.ToLower(q.Name), ".")
	mailHost := strings.HasPrefix(name, "mx.")
	reply := new(dns.Msg).SetReply(query)
	header := dns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: dns.ClassINET, Ttl: 300}
	switch {
	case q.Qtype == dns.TypeMX && !mailHost:
		reply.Answer = []dns.RR{&dns.MX{Hdr: header, Preference: 10, Mx: "mx." + name + "."}}
	case q.Qtype == dns.TypeA && mailHost:
		reply.Answer = []dns.RR{&dns.A{Hdr: header, A: net.IPv4(127, 0, 0, 1)}}
	case strings.HasPrefix(name, "_"):
		reply.Rcode = dns.RcodeNameError
	}
	if err := w.WriteMsg(reply); err != nil {
		return // the client has gone away
	}
}
