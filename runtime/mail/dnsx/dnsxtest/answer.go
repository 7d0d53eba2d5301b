package dnsxtest

import (
	"net"
	"strings"

	"github.com/miekg/dns"
)

const soaTTL = 60

// ServeDNS answers one query.
func (s *Server) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	_, tcp := w.RemoteAddr().(*net.TCPAddr)
	reply := s.buildReply(query, tcp)
	if reply == nil {
		return
	}
	if !tcp {
		size := dns.MinMsgSize
		if opt := query.IsEdns0(); opt != nil {
			size = int(opt.UDPSize())
			reply.SetEdns0(opt.UDPSize(), false)
		}
		reply.Truncate(size)
	}
	if err := w.WriteMsg(reply); err != nil {
		return // the client has disconnected
	}
}

func (s *Server) buildReply(query *dns.Msg, tcp bool) *dns.Msg {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := query.Question[0]
	name := nameKey(q.Name)
	s.queries = append(s.queries, Query{Name: name, Type: dns.TypeToString[q.Qtype], TCP: tcp})

	reply := new(dns.Msg)
	reply.SetReply(query)
	reply.RecursionAvailable = true
	reply.AuthenticatedData = s.authentic
	switch fault := s.faults[name]; fault {
	case Timeout:
		return nil
	case ServFail:
		reply.Rcode = dns.RcodeServerFailure
		return reply
	case Refused:
		reply.Rcode = dns.RcodeRefused
		return reply
	case NoEDNS:
		if query.IsEdns0() != nil {
			reply.Rcode = dns.RcodeFormatError
			return reply
		}
	case Truncate:
		if !tcp {
			reply.Truncated = true
			return reply
		}
	case OtherQuestion:
		reply.Question[0].Name = "other." + q.Name
		return reply
	}
	s.fillReply(reply, name, q.Qtype)
	return reply
}

// fillReply walks the aliases of a name and appends the records at the end of the chain.
func (s *Server) fillReply(reply *dns.Msg, name string, qtype uint16) {
	for links := 0; ; links++ {
		records := s.recordsOf(name)
		if s.faults[name] == NXDomain || len(records) == 0 && !s.hasChildren(name) {
			s.fillNegative(reply, name, dns.RcodeNameError)
			return
		}
		if found := ofType(records, qtype); len(found) > 0 {
			reply.Answer = append(reply.Answer, found...)
			return
		}
		alias := ofType(records, dns.TypeCNAME)
		if len(alias) == 0 {
			s.fillNegative(reply, name, dns.RcodeSuccess)
			return
		}
		reply.Answer = append(reply.Answer, alias[0])
		if s.faults[name] == OnlyFirstAlias || links > 20 {
			return
		}
		name = nameKey(alias[0].(*dns.CNAME).Target)
	}
}

// hasChildren reports whether a longer name exists below name: an empty non-terminal exists too (RFC 8020).
func (s *Server) hasChildren(name string) bool {
	for other := range s.records {
		if strings.HasSuffix(other, "."+name) {
			return true
		}
	}
	return false
}

// recordsOf returns the records of a name that exists, or else those of a wildcard at its parent (RFC 4592).
func (s *Server) recordsOf(name string) []dns.RR {
	if len(s.records[name]) > 0 || s.hasChildren(name) {
		return s.records[name]
	}
	_, parent, _ := strings.Cut(name, ".")
	var found []dns.RR
	for _, rr := range s.records["*."+parent] {
		rr = dns.Copy(rr)
		rr.Header().Name = name
		found = append(found, rr)
	}
	return found
}

func (s *Server) fillNegative(reply *dns.Msg, name string, rcode int) {
	reply.Rcode = rcode
	reply.Ns = append(reply.Ns, &dns.SOA{
		Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: soaTTL},
		Ns:  "ns.test.", Mbox: "hostmaster.test.", Serial: 1, Minttl: soaTTL,
	})
}

func ofType(records []dns.RR, qtype uint16) []dns.RR {
	var found []dns.RR
	for _, rr := range records {
		if rr.Header().Rrtype == qtype {
			found = append(found, rr)
		}
	}
	return found
}
