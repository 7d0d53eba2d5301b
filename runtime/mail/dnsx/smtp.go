package dnsx

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"

	"github.com/miekg/dns"
	"github.com/mjl-/adns"
	moxdns "github.com/mjl-/mox/dns"
)

// SMTP returns the resolver in the form of mox's delivery code: errors are its DNSError, and answers say
// whether they were authenticated by DNSSEC (the AD bit, trusted from resolvers on this machine or by
// setting), which DANE needs.
func (r *Resolver) SMTP() moxdns.Resolver { return smtpResolver{r} }

type smtpResolver struct{ r *Resolver }

var _ moxdns.Resolver = smtpResolver{}

func resultOf(a *answer) adns.Result { return adns.Result{Authentic: a.authentic} }

func dnsError(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	missing := errors.Is(err, ErrNotFound)
	return &adns.DNSError{
		UnwrapErr: err, Err: e.Reason, Name: e.Name, Server: e.Server,
		IsNotFound: missing, IsTemporary: !missing,
	}
}

func (f smtpResolver) LookupCNAME(ctx context.Context, host string) (string, adns.Result, error) {
	a, err := f.r.askExact(ctx, host, dns.TypeCNAME)
	return a.cnameTarget(), resultOf(a), dnsError(err)
}

func (f smtpResolver) LookupMX(ctx context.Context, name string) ([]*net.MX, adns.Result, error) {
	a, err := f.r.askFollowing(ctx, name, dns.TypeMX)
	return a.mxRecords(), resultOf(a), dnsError(err)
}

func (f smtpResolver) LookupTXT(ctx context.Context, name string) ([]string, adns.Result, error) {
	a, err := f.r.askFollowing(ctx, name, dns.TypeTXT)
	return a.txtRecords(), resultOf(a), dnsError(err)
}

func (f smtpResolver) LookupNS(ctx context.Context, name string) ([]*net.NS, adns.Result, error) {
	a, err := f.r.askFollowing(ctx, name, dns.TypeNS)
	var hosts []*net.NS
	for _, host := range a.nsHosts() {
		hosts = append(hosts, &net.NS{Host: host})
	}
	return hosts, resultOf(a), dnsError(err)
}

func (f smtpResolver) LookupIP(ctx context.Context, network, host string) ([]net.IP, adns.Result, error) {
	addrs, authentic, err := f.r.lookupIP(ctx, network, host)
	ips := make([]net.IP, 0, len(addrs))
	for _, addr := range addrs {
		ips = append(ips, addr.AsSlice())
	}
	return ips, adns.Result{Authentic: authentic}, dnsError(err)
}

func (f smtpResolver) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, adns.Result, error) {
	ips, res, err := f.LookupIP(ctx, "ip", host)
	addrs := make([]net.IPAddr, 0, len(ips))
	for _, ip := range ips {
		addrs = append(addrs, net.IPAddr{IP: ip})
	}
	return addrs, res, err
}

func (f smtpResolver) LookupHost(ctx context.Context, host string) ([]string, adns.Result, error) {
	ips, res, err := f.LookupIP(ctx, "ip", host)
	hosts := make([]string, 0, len(ips))
	for _, ip := range ips {
		hosts = append(hosts, ip.String())
	}
	return hosts, res, err
}

func (f smtpResolver) LookupAddr(ctx context.Context, addr string) ([]string, adns.Result, error) {
	name, err := dns.ReverseAddr(addr)
	if err != nil {
		return nil, adns.Result{}, &adns.DNSError{Err: "not an address", Name: addr, IsNotFound: true}
	}
	a, err := f.r.askFollowing(ctx, name, dns.TypePTR)
	return a.ptrNames(), resultOf(a), dnsError(err)
}

func (f smtpResolver) LookupSRV(ctx context.Context, service, proto,
	name string) (string, []*net.SRV, adns.Result, error) {
	target := name
	if service != "" || proto != "" {
		target = "_" + service + "._" + proto + "." + name
	}
	a, err := f.r.askFollowing(ctx, target, dns.TypeSRV)
	var records []*net.SRV
	for _, rr := range a.records {
		if srv, ok := rr.(*dns.SRV); ok {
			records = append(records, &net.SRV{Target: srv.Target, Port: srv.Port, Priority: srv.Priority,
				Weight: srv.Weight})
		}
	}
	return target, records, resultOf(a), dnsError(err)
}

func (f smtpResolver) LookupTLSA(ctx context.Context, port int, protocol,
	host string) ([]adns.TLSA, adns.Result, error) {
	name := host
	if port != 0 || protocol != "" {
		name = fmt.Sprintf("_%d._%s.%s", port, protocol, host)
	}
	a, err := f.r.askFollowing(ctx, name, dns.TypeTLSA)
	var records []adns.TLSA
	for _, rr := range a.records {
		tlsa, ok := rr.(*dns.TLSA)
		if !ok {
			continue
		}
		data, hexErr := hex.DecodeString(tlsa.Certificate)
		if hexErr != nil {
			continue // cannot come out of a wire message
		}
		records = append(records, adns.TLSA{
			Usage: adns.TLSAUsage(tlsa.Usage), Selector: adns.TLSASelector(tlsa.Selector),
			MatchType: adns.TLSAMatchType(tlsa.MatchingType), CertAssoc: data,
		})
	}
	return records, resultOf(a), dnsError(err)
}

func (f smtpResolver) LookupPort(ctx context.Context, network, service string) (int, error) {
	return net.DefaultResolver.LookupPort(ctx, network, service)
}
