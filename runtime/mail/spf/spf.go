// Package spf evaluates SPF (RFC 7208), for domains that send through us and for received mail, so that
// both get the same result.
//
// The evaluation is that of blitiri.com.ar/go/spf. It parses terms only when it reaches them, while section
// 4.6 requires the whole record to be valid, so each record is first parsed with mox's parser. (mox/dmarc
// links that package anyway. Its own evaluation does not expand macros in the mechanisms a and mx.) The
// deviations of the two from the public test suite are listed in suite_test.go.
package spf

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"blitiri.com.ar/go/spf"
	moxspf "github.com/mjl-/mox/spf"

	"github.com/postrider/postrider/runtime/mail/dnsx"
)

// Result is a result of RFC 7208 section 2.6.
type Result = spf.Result

// The results.
const (
	None      = spf.None
	Neutral   = spf.Neutral
	Pass      = spf.Pass
	Fail      = spf.Fail
	SoftFail  = spf.SoftFail
	TempError = spf.TempError
	PermError = spf.PermError
)

// The reasons for PermError.
var (
	ErrTooManyLookups  = spf.ErrLookupLimitReached
	ErrTooManyVoid     = spf.ErrVoidLookupLimitReached
	ErrTooManyMX       = spf.ErrTooManyMXRecords
	ErrNoRecord        = spf.ErrNoResult
	ErrMultipleRecords = spf.ErrMultipleRecords
)

// Client is the SMTP client to check.
type Client struct {
	IP     net.IP
	Hello  string // of EHLO or HELO
	Sender string // of MAIL FROM; if empty, the domain of Hello is checked
}

// Source is the part of a resolver that the evaluation needs. Its error for a name that does not exist is
// dnsx.ErrNotFound.
type Source interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupIP(ctx context.Context, name string) ([]netip.Addr, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

var _ Source = (*dnsx.Resolver)(nil)

// Evaluation is one check of a client. It records the lookups.
type Evaluation struct {
	Source  Source
	Known   map[string][]string // TXT values by name, which are not looked up
	Reverse []string            // names of the client; nil: look them up

	Names   map[string]bool // whose TXT values were needed
	Last    string          // the last of them
	Records int             // how many SPF records it has
	Record  string          // the first record that was read and is valid
	Void    string          // the last name without records
}

// Check is check_host of RFC 7208 section 4. With TempError and PermError it also returns the reason: an error
// of Source, a SyntaxError or one of the errors above.
func (e *Evaluation) Check(ctx context.Context, c Client) (Result, error) {
	return spf.CheckHostWithSender(c.IP, c.Hello, c.Sender, spf.WithContext(ctx), spf.WithResolver((*resolver)(e)))
}

// Records returns the values that are SPF records: the version is not case-sensitive and ends at a space or the
// end of the record (RFC 7208 sections 4.5, 12).
func Records(values []string) []string {
	records := []string{}
	for _, value := range values {
		if version, _, _ := strings.Cut(value, " "); strings.EqualFold(version, "v=spf1") {
			records = append(records, value)
		}
	}
	return records
}

// resolver implements the library's resolver.
type resolver Evaluation

var _ spf.DNSResolver = (*resolver)(nil)

// LookupTXT returns the values of a name. An invalid SPF record among them is an error, which the
// evaluation treats as permanent.
func (d *resolver) LookupTXT(ctx context.Context, name string) ([]string, error) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if d.Names == nil {
		d.Names = map[string]bool{}
	}
	d.Names[name], d.Last, d.Records = true, name, 0
	values, known := d.Known[name]
	if !known {
		var err error
		if values, err = d.Source.LookupTXT(ctx, name); err != nil {
			return nil, d.convertError(name, err)
		}
	}
	records := Records(values)
	if d.Records = len(records); d.Records == 1 {
		if term := invalidTerm(records[0]); term != "" {
			return nil, &SyntaxError{Name: name, Term: term}
		}
		if d.Record == "" {
			d.Record = records[0]
		}
	}
	return values, nil
}

// LookupMX returns the mail hosts of a name.
func (d *resolver) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	hosts, err := d.Source.LookupMX(ctx, name)
	return hosts, d.convertError(name, err)
}

// LookupIPAddr returns the addresses of a host.
func (d *resolver) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	if slices.Contains(d.Reverse, host) {
		return nil, &net.DNSError{Err: "not looked up", Name: host, IsNotFound: true}
	}
	found, err := d.Source.LookupIP(ctx, host)
	addrs := make([]net.IPAddr, 0, len(found))
	for _, addr := range found {
		addrs = append(addrs, net.IPAddr{IP: addr.AsSlice()})
	}
	return addrs, d.convertError(host, err)
}

// LookupAddr returns the names of an address.
func (d *resolver) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	if d.Reverse != nil {
		return d.Reverse, nil
	}
	names, err := d.Source.LookupAddr(ctx, addr)
	return names, d.convertError(addr, err)
}

// convertError converts an error to the form that the library recognizes.
func (d *resolver) convertError(name string, err error) error {
	if err == nil {
		return nil
	}
	missing := errors.Is(err, dnsx.ErrNotFound)
	if missing {
		d.Void = name
	}
	return &net.DNSError{UnwrapErr: err, Err: err.Error(), Name: name, IsNotFound: missing, IsTemporary: !missing}
}

// SyntaxError is an invalid record: its name, and its first invalid term.
type SyntaxError struct{ Name, Term string }

func (e *SyntaxError) Error() string {
	return "syntax error in the SPF record of " + e.Name + ": " + e.Term
}

var (
	// modifier is a term of the form name=value (RFC 7208 section 4.6.1).
	modifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*=`)
	// domainSpec extracts the domain-spec of a term that has one, without the prefix lengths of a and mx.
	domainSpec = regexp.MustCompile(`(?i)^(?:[-+~?]?(?:a|mx):(.*?)(?:/[0-9]*)?(?://[0-9]*)?|(?:[-+~?]?(?:include|exists|ptr):|(?:redirect|exp)=)(.*))$`)
	// lastLabel matches the end of a domain-spec: a label after a dot, or a macro (section 7.1).
	lastLabel = regexp.MustCompile(`(?:\.[A-Za-z0-9-]+\.?|%\{[^}]*\}|%[%_-])$`)
	// textMacro is a macro that is valid only in explanations (section 7.2).
	textMacro = regexp.MustCompile(`(?i)%\{[crt]`)
)

// invalidTerm returns the first invalid term of a record; empty if there is none (RFC 7208 section 12).
func invalidTerm(record string) string {
	version, terms, _ := strings.Cut(record, " ")
	seen := []string{version}
	for term := range strings.SplitSeq(terms, " ") {
		if term == "" {
			continue
		}
		parsed := term
		if spec := domainSpec.FindStringSubmatch(term); spec != nil {
			// mox's parser does not check two rules.
			if domain := spec[1] + spec[2]; !lastLabel.MatchString(domain) || textMacro.MatchString(domain) {
				return term
			}
		}
		if name, _, _ := strings.Cut(term, "="); modifier.MatchString(term) && !strings.EqualFold(name, "redirect") &&
			!strings.EqualFold(name, "exp") {
			// It parses accredit= as the mechanism a; prefixed with an x it is a modifier.
			parsed = "x" + term
		}
		// Together with earlier ones: a modifier may not occur twice (section 6).
		seen = append(seen, parsed)
		if _, _, err := moxspf.ParseRecord(strings.Join(seen, " ")); err != nil {
			return term
		}
	}
	return ""
}
