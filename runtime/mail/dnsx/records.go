package dnsx

import (
	"cmp"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// readReply returns the records of a reply at the end of its chain of aliases.
func (r *Resolver) readReply(q question, reply *dns.Msg, server string) (*answer, *Error) {
	a := &answer{authentic: reply.AuthenticatedData && r.trustAD, ttl: r.cfg.MaxTTL}
	name := q.name
	for {
		if a.records = r.pickRecords(reply, name, q.qtype, a); len(a.records) > 0 {
			return a, nil
		}
		if q.qtype == dns.TypeCNAME {
			break
		}
		aliases := r.pickRecords(reply, name, dns.TypeCNAME, a)
		if len(aliases) == 0 {
			break
		}
		if a.links++; a.links > maxChain {
			return nil, newTemporaryError(q, server, "too many aliases, or a loop of them", nil)
		}
		name = strings.ToLower(aliases[0].(*dns.CNAME).Target)
	}
	soa := r.negativeTTL(reply, a)
	// A reply that ends at an alias without data for the target requires another query for the target;
	// NXDOMAIN refers to the end of the chain (RFC 6604).
	if a.links > 0 && reply.Rcode == dns.RcodeSuccess && !soa {
		a.alias = name
		return a, nil
	}
	if !soa {
		a.ttl = 0 // the reply does not contain a TTL for this
	}
	a.notFound = notFound(q, server, reply.Rcode == dns.RcodeNameError)
	return a, nil
}

// pickRecords returns the records of a name and type, and lowers the answer's TTL to theirs.
func (r *Resolver) pickRecords(reply *dns.Msg, name string, qtype uint16, a *answer) []dns.RR {
	var records []dns.RR
	for _, rr := range reply.Answer {
		h := rr.Header()
		if h.Rrtype == qtype && h.Class == dns.ClassINET && strings.EqualFold(h.Name, name) {
			records = append(records, rr)
			a.ttl = min(a.ttl, ttlOf(h.Ttl, r.cfg.MaxTTL))
		}
	}
	return records
}

// negativeTTL is the smaller of the SOA's TTL and its minimum field (RFC 2308, 5).
func (r *Resolver) negativeTTL(reply *dns.Msg, a *answer) (found bool) {
	for _, rr := range reply.Ns {
		if soa, ok := rr.(*dns.SOA); ok {
			a.ttl = min(a.ttl, ttlOf(min(soa.Hdr.Ttl, soa.Minttl), r.cfg.MaxNegative))
			return true
		}
	}
	return false
}

func (a *answer) txtRecords() []string {
	var texts []string
	for _, rr := range a.records {
		if t, ok := rr.(*dns.TXT); ok {
			// The strings of one record are one text (RFC 7208, 3.3; RFC 6376, 3.6.2.2).
			texts = append(texts, unescapeText(strings.Join(t.Txt, "")))
		}
	}
	return texts
}

func (a *answer) cnameTarget() string {
	for _, rr := range a.records {
		if c, ok := rr.(*dns.CNAME); ok {
			return strings.ToLower(c.Target)
		}
	}
	return ""
}

func (a *answer) mxRecords() []*net.MX {
	var hosts []*net.MX
	for _, rr := range a.records {
		if mx, ok := rr.(*dns.MX); ok {
			hosts = append(hosts, &net.MX{Host: strings.ToLower(mx.Mx), Pref: mx.Preference})
		}
	}
	// RFC 7505, 3: a null MX among others has no meaning.
	if len(hosts) > 1 {
		hosts = slices.DeleteFunc(hosts, func(mx *net.MX) bool { return mx.Host == "." })
	}
	rand.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
	slices.SortStableFunc(hosts, func(x, y *net.MX) int { return cmp.Compare(x.Pref, y.Pref) })
	return hosts
}

func (a *answer) nsHosts() []string {
	var hosts []string
	for _, rr := range a.records {
		if ns, ok := rr.(*dns.NS); ok {
			hosts = append(hosts, strings.ToLower(ns.Ns))
		}
	}
	slices.Sort(hosts)
	return hosts
}

func (a *answer) ptrNames() []string {
	var names []string
	for _, rr := range a.records {
		if ptr, ok := rr.(*dns.PTR); ok {
			names = append(names, ptr.Ptr)
		}
	}
	return names
}

func (a *answer) addrRecords() []netip.Addr {
	var addrs []netip.Addr
	for _, rr := range a.records {
		var ip net.IP
		switch rr := rr.(type) {
		case *dns.A:
			ip = rr.A
		case *dns.AAAA:
			ip = rr.AAAA
		}
		if addr, ok := netip.AddrFromSlice(ip); ok {
			addrs = append(addrs, addr.Unmap())
		}
	}
	return addrs
}

// unescapeText decodes the library's presentation form of character strings: \" \\ and \DDD.
func unescapeText(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if i+3 < len(s) && isDigits(s[i+1:i+4]) {
			b.WriteByte((s[i+1]-'0')*100 + (s[i+2]-'0')*10 + (s[i+3] - '0'))
			i += 3
			continue
		}
		i++
		b.WriteByte(s[i])
	}
	return b.String()
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}
