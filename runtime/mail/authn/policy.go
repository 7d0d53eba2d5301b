package authn

import (
	"context"
	"io"
	"slices"

	"github.com/mjl-/mox/dmarc"
	"github.com/mjl-/mox/dns"
	"github.com/mjl-/mox/spf"

	"github.com/postrider/postrider/runtime/mail/message"
)

// maxAuthors bounds the domains of From whose policy is looked up.
const maxAuthors = 4

// authorDomains returns the distinct domains of all addresses in all From fields. If the author cannot be
// determined, problem is the result word: a message with an unreadable author must not pass because of
// another author.
func authorDomains(raw io.ReaderAt, size int64) (domains []dns.Domain, problem string) {
	authors, err := message.Authors(io.NewSectionReader(raw, 0, size))
	if err != nil {
		return nil, temperror
	}
	for _, author := range authors {
		_, domain, found := cutAddress(author)
		parsed, err := dns.ParseDomainLax(domain)
		if !found || err != nil {
			return domains, permerror
		}
		if !slices.Contains(domains, parsed) {
			domains = append(domains, parsed)
		}
	}
	if len(domains) == 0 || len(domains) > maxAuthors {
		return domains, permerror
	}
	return domains, ""
}

// severity orders the results of several authors, the worst first: the strictest policy applies (RFC 7489,
// 6.6.1).
var severity = []dmarc.Status{dmarc.StatusFail, dmarc.StatusPermerror, dmarc.StatusTemperror, dmarc.StatusNone,
	dmarc.StatusPass}

// evaluateDMARC evaluates each author's domain and returns the worst result with its policy.
func (v *Verifier) evaluateDMARC(ctx context.Context, authors []dns.Domain, f findings) (word, policy string) {
	worst := dmarc.StatusPass
	for i, author := range authors {
		identity := &f.spfDomain
		if f.spfDomain.IsZero() {
			identity = nil
		}
		_, result := dmarc.Verify(ctx, quiet, v.resolver, author, f.signatures, spf.Status(f.spf), identity, false)
		if f.dkimWord == temperror && result.Status == dmarc.StatusFail {
			result.Status = dmarc.StatusTemperror // a signature may have passed
		}
		if i == 0 || slices.Index(severity, result.Status) < slices.Index(severity, worst) {
			worst, policy = result.Status, publishedPolicy(author, result)
		}
	}
	return string(worst), policy
}

// publishedPolicy returns the policy for the author's domain: that for subdomains (sp=) if the record is the
// one of the organizational domain (RFC 7489, 6.3).
func publishedPolicy(author dns.Domain, result dmarc.Result) string {
	switch {
	case result.Record == nil:
		return ""
	case result.Domain != author && result.Record.SubdomainPolicy != dmarc.PolicyEmpty:
		return string(result.Record.SubdomainPolicy)
	}
	return string(result.Record.Policy)
}
