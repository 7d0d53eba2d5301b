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

// findings are the results of the three independent methods. They start as the results of methods that were
// cut off.
type findings struct {
	spf        spf.Result
	spfDomain  dns.Domain
	signatures []dkim.Result
	dkimWord   string // if the signatures were not checked
	iprev      string
	reverse    string
}

func (v *Verifier) verifyMessage(ctx context.Context, c Client, raw io.ReaderAt, size int64) shape.Authentication {
	f := findings{spf: temperror, dkimWord: temperror, iprev: temperror}
	v.runIndependent(ctx, c, raw, size, &f)
	var authors []dns.Domain
	problem := temperror
	v.recoverPanic("from", func() { authors, problem = authorDomains(raw, size) })
	a := shape.Authentication{
		SPF: string(f.spf), SPFDomain: f.spfDomain.ASCII,
		IPRev: f.iprev, ReverseName: f.reverse,
		DMARC: problem,
	}
	if problem == "" {
		a.DMARC = temperror
		v.recoverPanic("dmarc", func() { a.DMARC, a.DMARCPolicy = v.evaluateDMARC(ctx, authors, f) })
	}
	a.DKIM, a.DKIMDomains = bestSignature(f, authors)
	return a
}

// runIndependent runs the three methods concurrently. A quarter of the time is left for the
// policy, which needs their results.
func (v *Verifier) runIndependent(ctx context.Context, c Client, raw io.ReaderAt, size int64, f *findings) {
	ctx, cancel := context.WithTimeout(ctx, v.timeout*3/4)
	defer cancel()
	var methods sync.WaitGroup
	for name, method := range map[string]func(){
		"spf":   func() { f.spf, f.spfDomain = v.checkSPF(ctx, c) },
		"dkim":  func() { f.signatures, f.dkimWord = v.verifyDKIM(ctx, c.IP, raw, size) },
		"iprev": func() { f.iprev, f.reverse = v.checkReverse(ctx, c.IP) },
	} {
		methods.Go(func() { v.recoverPanic(name, method) })
	}
	methods.Wait()
}

// recoverPanic prevents a panic caused by an untrusted message from ending the process.
func (v *Verifier) recoverPanic(method string, f func()) {
	defer func() {
		if problem := recover(); problem != nil {
			v.log.Error("sender authentication panicked", "method", method, "panic", fmt.Sprint(problem), "stack",
				string(debug.Stack()))
		}
	}()
	f()
}

// quiet is the log destination of mox, which logs everything at debug level.
var quiet = slog.New(slog.DiscardHandler)

// checkSPF checks the domain of the envelope sender, or that of the greeting if the return path is null.
func (v *Verifier) checkSPF(ctx context.Context, c Client) (spf.Result, dns.Domain) {
	client := spf.Client{IP: addressBytes(c.IP)}
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
	result, _ := (&spf.Evaluation{Source: spfResolver{v.resolver}}).Check(ctx, client) // the result is always set
	return result, domain
}

func addressBytes(ip netip.Addr) net.IP { return net.IP(ip.Unmap().AsSlice()) }

func cutAddress(spec string) (local, domain string, ok bool) {
	at := strings.LastIndexByte(spec, '@')
	if at < 0 {
		return "", "", false
	}
	return spec[:at], spec[at+1:], true
}
