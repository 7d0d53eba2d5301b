package authn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/mjl-/mox/dkim"
	"github.com/mjl-/mox/dmarc"
	"github.com/mjl-/mox/dns"
	"github.com/mjl-/mox/iprev"
	"github.com/mjl-/mox/smtp"
	"github.com/mjl-/mox/spf"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/mail/message"
)

// found is what the three methods that need no other say.
type found struct {
	spf        spf.Status
	spfDomain  dns.Domain
	signatures []dkim.Result
	dkimWord   string // instead of signatures, when they were not looked at
	iprev      string
	reverse    string
}

func (v *Verifier) verify(ctx context.Context, c Client, raw io.ReaderAt, size int64) shape.Authentication {
	f := found{spf: temperror, dkimWord: temperror, iprev: temperror}
	var methods sync.WaitGroup
	for name, method := range map[string]func(){
		"spf":   func() { f.spf, f.spfDomain = v.spf(ctx, c) },
		"dkim":  func() { f.signatures, f.dkimWord = v.dkim(ctx, raw, size) },
		"iprev": func() { f.iprev, f.reverse = v.iprev(ctx, c.IP) },
	} {
		methods.Go(func() { v.guard(name, method) })
	}
	methods.Wait()

	a := shape.Authentication{SPF: string(f.spf), SPFDomain: f.spfDomain.ASCII, IPRev: f.iprev, ReverseName: f.reverse, DMARC: temperror}
	from, word := author(raw, size)
	a.DMARC = word
	if word == "" {
		a.DMARC = temperror
		v.guard("dmarc", func() { v.dmarc(ctx, from, f, &a) })
	}
	a.DKIM, a.DKIMDomains = best(f, from)
	return a
}

// guard keeps a panic over a stranger's message from ending the process.
func (v *Verifier) guard(method string, f func()) {
	defer func() {
		if problem := recover(); problem != nil {
			v.log.Error("sender authentication panicked", "method", method, "panic", fmt.Sprint(problem), "stack", string(debug.Stack()))
		}
	}()
	f()
}

func (v *Verifier) spf(ctx context.Context, c Client) (spf.Status, dns.Domain) {
	args := spf.Args{RemoteIP: net.IP(c.IP.Unmap().AsSlice())}
	if hello, err := dns.ParseDomainLax(strings.TrimSuffix(c.Hello, ".")); err == nil {
		args.HelloDomain = dns.IPDomain{Domain: hello}
	}
	if ours, err := dns.ParseDomainLax(c.Hostname); err == nil {
		args.LocalHostname = ours
	}
	if c.MailFrom != "" {
		local, domain, ok := cutAddress(c.MailFrom)
		parsed, err := dns.ParseDomainLax(domain)
		if !ok || err != nil {
			return spf.StatusNone, dns.Domain{}
		}
		args.MailFromLocalpart, args.MailFromDomain = smtp.Localpart(local), parsed
	}
	received, domain, _, _, err := spf.Verify(ctx, v.log, v.resolver, args)
	if err != nil && ctx.Err() != nil {
		return temperror, domain
	}
	return received.Result, domain
}

// maxSignatures bounds what is verified of a message: each may hash the whole body.
const maxSignatures = 5

var errTooMany = errors.New("more signatures than are looked at")

func (v *Verifier) dkim(ctx context.Context, raw io.ReaderAt, size int64) ([]dkim.Result, string) {
	looked := 0
	policy := func(*dkim.Sig) error {
		if looked++; looked > maxSignatures {
			return errTooMany
		}
		return nil
	}
	results, err := dkim.Verify(ctx, v.log, v.resolver, true, policy, io.NewSectionReader(raw, 0, size), true)
	if err != nil {
		return nil, permerror
	}
	return slices.DeleteFunc(results, func(r dkim.Result) bool { return errors.Is(r.Err, errTooMany) }), ""
}

func (v *Verifier) iprev(ctx context.Context, ip netip.Addr) (word, name string) {
	status, name, _, _, _ := iprev.Lookup(ctx, v.resolver, net.IP(ip.Unmap().AsSlice()))
	return string(status), strings.TrimSuffix(name, ".")
}

func (v *Verifier) dmarc(ctx context.Context, from dns.Domain, f found, a *shape.Authentication) {
	identity := &f.spfDomain
	if f.spfDomain.IsZero() {
		identity = nil
	}
	_, result := dmarc.Verify(ctx, v.log, v.resolver, from, f.signatures, f.spf, identity, false)
	a.DMARC = string(result.Status)
	if result.Record != nil {
		a.DMARCPolicy = string(result.Record.Policy)
		if result.Domain != from && result.Record.SubdomainPolicy != dmarc.PolicyEmpty {
			a.DMARCPolicy = string(result.Record.SubdomainPolicy)
		}
	}
}

// author is the domain of From, or the word that DMARC has without one.
func author(raw io.ReaderAt, size int64) (dns.Domain, string) {
	m, err := message.Read(io.NewSectionReader(raw, 0, size))
	if err != nil {
		return dns.Domain{}, temperror
	}
	_, domain, ok := cutAddress(m.FromAddress)
	if !ok {
		return dns.Domain{}, none
	}
	parsed, err := dns.ParseDomainLax(domain)
	if err != nil {
		return dns.Domain{}, permerror
	}
	return parsed, ""
}

// rank puts the results of signatures into an order, the best first.
var rank = []dkim.Status{dkim.StatusPass, dkim.StatusTemperror, dkim.StatusFail, dkim.StatusPolicy, dkim.StatusNeutral, dkim.StatusPermerror, dkim.StatusNone}

func best(f found, from dns.Domain) (string, []string) {
	if f.dkimWord != "" {
		return f.dkimWord, nil
	}
	word, domains := dkim.StatusNone, []string(nil)
	for _, r := range f.signatures {
		if slices.Index(rank, r.Status) < slices.Index(rank, word) {
			word = r.Status
		}
		if r.Status == dkim.StatusPass && r.Sig != nil && !slices.Contains(domains, r.Sig.Domain.ASCII) {
			domains = append(domains, r.Sig.Domain.ASCII)
		}
	}
	slices.SortStableFunc(domains, func(x, y string) int { return distance(x, from) - distance(y, from) })
	return string(word), domains
}

// distance is 0 for the author's own domain.
func distance(domain string, from dns.Domain) int {
	switch {
	case domain == from.ASCII:
		return 0
	case strings.HasSuffix(from.ASCII, "."+domain), strings.HasSuffix(domain, "."+from.ASCII):
		return 1
	}
	return 2
}

func cutAddress(spec string) (local, domain string, ok bool) {
	at := strings.LastIndexByte(spec, '@')
	if at < 0 {
		return "", "", false
	}
	return spec[:at], spec[at+1:], true
}
