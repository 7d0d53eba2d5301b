package authn

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/mjl-/mox/dkim"
	"github.com/mjl-/mox/dns"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/mail/spf"
)

// found is what the three methods say that need no other. They begin as what a
// method has that never came to its end.
type found struct {
	spf        spf.Result
	spfDomain  dns.Domain
	signatures []dkim.Result
	dkimWord   string // when the signatures were not looked at
	iprev      string
	reverse    string
}

func (v *Verifier) verify(ctx context.Context, c Client, raw io.ReaderAt, size int64) shape.Authentication {
	f := found{spf: temperror, dkimWord: temperror, iprev: temperror}
	v.independent(ctx, c, raw, size, &f)
	var authors []dns.Domain
	problem := temperror
	v.guard("from", func() { authors, problem = authorDomains(raw, size) })
	a := shape.Authentication{
		SPF: string(f.spf), SPFDomain: f.spfDomain.ASCII,
		IPRev: f.iprev, ReverseName: f.reverse,
		DMARC: problem,
	}
	if problem == "" {
		a.DMARC = temperror
		v.guard("dmarc", func() { a.DMARC, a.DMARCPolicy = v.dmarc(ctx, authors, f) })
	}
	a.DKIM, a.DKIMDomains = best(f, authors)
	return a
}

// independent runs the three methods concurrently. A quarter of the time is left for the
// policy, which needs their results.
func (v *Verifier) independent(ctx context.Context, c Client, raw io.ReaderAt, size int64, f *found) {
	ctx, cancel := context.WithTimeout(ctx, v.timeout*3/4)
	defer cancel()
	var methods sync.WaitGroup
	for name, method := range map[string]func(){
		"spf":   func() { f.spf, f.spfDomain = v.spf(ctx, c) },
		"dkim":  func() { f.signatures, f.dkimWord = v.dkim(ctx, c.IP, raw, size) },
		"iprev": func() { f.iprev, f.reverse = v.iprev(ctx, c.IP) },
	} {
		methods.Go(func() { v.guard(name, method) })
	}
	methods.Wait()
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

// quiet is what mox logs to: it is told everything, and says it at debug level.
var quiet = slog.New(slog.DiscardHandler)

// spf checks the domain of the envelope sender, or that of the greeting when the return
// path is null.
func (v *Verifier) spf(ctx context.Context, c Client) (spf.Result, dns.Domain) {
	client := spf.Client{IP: octets(c.IP)}
	hello, err := dns.ParseDomainLax(strings.TrimSuffix(c.Hello, "."))
	if err == nil {
		client.Hello = hello.ASCII
	}
	domain := hello
	if c.MailFrom != "" {
		local, name, found := cutAddress(c.MailFrom)
		parsed, err := dns.ParseDomainLax(name)
		if !found || err != nil {
			return spf.None, dns.Domain{} // RFC 7208, 4.3: no domain that could have a record
		}
		client.Sender, domain = local+"@"+parsed.ASCII, parsed
	}
	if domain.IsZero() {
		return spf.None, dns.Domain{}
	}
	result, _ := (&spf.Evaluation{Source: source{v.resolver}}).Check(ctx, client) // the result is always set
	return result, domain
}

func octets(ip netip.Addr) net.IP { return net.IP(ip.Unmap().AsSlice()) }

func cutAddress(spec string) (local, domain string, ok bool) {
	at := strings.LastIndexByte(spec, '@')
	if at < 0 {
		return "", "", false
	}
	return spec[:at], spec[at+1:], true
}
