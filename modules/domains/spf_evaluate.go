package domains

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

// spfClient is the SMTP client about whom a record is asked.
type spfClient struct {
	ip           net.IP
	helo, sender string
}

// evaluateSPF is check_host of RFC 7208 section 4. The evaluation is that of
// blitiri.com.ar/go/spf; it looks at terms when their turn comes, while section
// 4.6 wants the whole record to be valid, so mox's parser sees each record first.
// What the two do not know of the public test suite stands in spf_suite_test.go.
func evaluateSPF(ctx context.Context, dns *spfDNS, client spfClient) (spf.Result, error) {
	return spf.CheckHostWithSender(client.ip, client.helo, client.sender, spf.WithContext(ctx), spf.WithResolver(dns))
}

// spfSource is what is needed of a resolver.
type spfSource interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupIP(ctx context.Context, name string) ([]netip.Addr, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// spfDNS answers one evaluation and remembers what it was asked.
type spfDNS struct {
	source  spfSource
	known   map[string][]string // TXT values that are not asked for
	reverse []string            // names of the client; nil asks

	names   map[string]bool // whose TXT values were asked for
	last    string          // the name asked for last of them
	records int             // how many SPF records it has
	void    string          // the name that held nothing, of those asked last
}

var _ spf.DNSResolver = (*spfDNS)(nil)

// LookupTXT gives the values of a name. An SPF record among them that is not
// valid is an error, which the evaluation takes for a permanent one.
func (d *spfDNS) LookupTXT(ctx context.Context, name string) ([]string, error) {
	name = canonical(name)
	if d.names == nil {
		d.names = map[string]bool{}
	}
	d.names[name], d.last, d.records = true, name, 0
	values, known := d.known[name]
	if !known {
		var err error
		if values, err = d.source.LookupTXT(ctx, name); err != nil {
			return nil, d.failed(name, err)
		}
	}
	records := spfRecords(values)
	if d.records = len(records); d.records == 1 {
		if term := spfInvalidTerm(records[0]); term != "" {
			return nil, &spfSyntaxError{name: name, term: term}
		}
	}
	return values, nil
}

// LookupMX gives the mail hosts of a name.
func (d *spfDNS) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	hosts, err := d.source.LookupMX(ctx, name)
	return hosts, d.failed(name, err)
}

// LookupIPAddr gives the addresses of a host.
func (d *spfDNS) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	if slices.Contains(d.reverse, host) {
		return nil, &net.DNSError{Err: "not asked", Name: host, IsNotFound: true}
	}
	found, err := d.source.LookupIP(ctx, host)
	addrs := make([]net.IPAddr, 0, len(found))
	for _, addr := range found {
		addrs = append(addrs, net.IPAddr{IP: addr.AsSlice()})
	}
	return addrs, d.failed(host, err)
}

// LookupAddr gives the names of an address.
func (d *spfDNS) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	if d.reverse != nil {
		return d.reverse, nil
	}
	names, err := d.source.LookupAddr(ctx, addr)
	return names, d.failed(addr, err)
}

// failed puts an error into the form that the library tells apart.
func (d *spfDNS) failed(name string, err error) error {
	if err == nil {
		return nil
	}
	missing := errors.Is(err, dnsx.ErrNotFound)
	if missing {
		d.void = name
	}
	return &net.DNSError{UnwrapErr: err, Err: err.Error(), Name: name, IsNotFound: missing, IsTemporary: !missing}
}

// spfSyntaxError is a record that is not valid, at the name that holds it.
type spfSyntaxError struct{ name, term string }

func (e *spfSyntaxError) Error() string {
	return "syntax error in the SPF record of " + e.name + ": " + e.term
}

var (
	// spfModifier is a term of the form name=value (RFC 7208 section 4.6.1).
	spfModifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*=`)
	// spfDomain takes the domain-spec out of a term that has one, without the prefix
	// lengths of a and mx.
	spfDomain = regexp.MustCompile(`(?i)^(?:[-+~?]?(?:a|mx):(.*?)(?:/[0-9]*)?(?://[0-9]*)?|(?:[-+~?]?(?:include|exists|ptr):|(?:redirect|exp)=)(.*))$`)
	// spfLastLabel is how a domain-spec ends: with a label after a dot, or a macro
	// (section 7.1).
	spfLastLabel = regexp.MustCompile(`(?:\.[A-Za-z0-9-]+\.?|%\{[^}]*\}|%[%_-])$`)
	// spfTextMacro is a macro for the text of an explanation only (section 7.2).
	spfTextMacro = regexp.MustCompile(`(?i)%\{[crt]`)
)

// spfInvalidTerm finds the first term of a record that is not valid, empty for
// none (RFC 7208 section 12).
func spfInvalidTerm(record string) string {
	version, terms, _ := strings.Cut(record, " ")
	seen := []string{version}
	for term := range strings.SplitSeq(terms, " ") {
		if term == "" {
			continue
		}
		parsed := term
		if spec := spfDomain.FindStringSubmatch(term); spec != nil {
			// Two rules that mox's parser does not know.
			if domain := spec[1] + spec[2]; !spfLastLabel.MatchString(domain) || spfTextMacro.MatchString(domain) {
				return term
			}
		}
		if name, _, _ := strings.Cut(term, "="); spfModifier.MatchString(term) && !strings.EqualFold(name, "redirect") && !strings.EqualFold(name, "exp") {
			// It takes accredit= for the mechanism a; behind an x it sees a modifier.
			parsed = "x" + term
		}
		// Together with those before it: a modifier may not stand twice (section 6).
		seen = append(seen, parsed)
		if _, _, err := moxspf.ParseRecord(strings.Join(seen, " ")); err != nil {
			return term
		}
	}
	return ""
}
