package authn_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rsa"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/mail/authn"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

var rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := dkim.GenerateKey()
	if err != nil {
		panic(err)
	}
	return key
})

var edKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

// newZone is a DNS zone in which example.com sends mail from 192.0.2.1 and 2001:db8::1, signs it with rsa
// and ed, and publishes a policy.
func newZone(t *testing.T) *dnsxtest.Server {
	t.Helper()
	s := dnsxtest.New(t,
		`example.com. 300 IN TXT "v=spf1 ip4:192.0.2.1 ip6:2001:db8::/64 -all"`,
		`_dmarc.example.com. 300 IN TXT "v=DMARC1; p=reject; sp=quarantine"`,
		`bounce.example.com. 300 IN TXT "v=spf1 include:example.com ~all"`,
		`mx.example.com. 300 IN TXT "v=spf1 a -all"`,
		`mx.example.com. 300 IN A 192.0.2.1`,
		`mx.example.com. 300 IN AAAA 2001:db8::1`,
		`1.2.0.192.in-addr.arpa. 300 IN PTR other.example.com.`,
		`1.2.0.192.in-addr.arpa. 300 IN PTR mx.example.com.`,
		`1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. 300 IN PTR mx.example.com.`,
		`66.100.51.198.in-addr.arpa. 300 IN PTR mx.example.com.`,
		`elsewhere.net. 300 IN TXT "v=spf1 ip4:192.0.2.1 -all"`,
	)
	for _, domain := range []string{"example.com", "elsewhere.net", "news.example.com"} {
		publish(s, "rsa._domainkey."+domain+".", dkim.PublicRecord(rsaKey()))
		publish(s, "ed._domainkey."+domain+".", dkim.PublicRecord(edKey))
	}
	return s
}

func publish(s *dnsxtest.Server, name, record string) {
	txt := &dns.TXT{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 300}}
	for ; len(record) > 255; record = record[255:] {
		txt.Txt = append(txt.Txt, record[:255])
	}
	txt.Txt = append(txt.Txt, record)
	s.Put(txt)
}

func verifier(t *testing.T, s *dnsxtest.Server, timeout time.Duration) *authn.Verifier {
	t.Helper()
	r, err := dnsx.New(dnsx.Config{Server: s.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	return authn.New(authn.Config{Resolver: r.SMTP(), Timeout: timeout})
}

const head = "To: bob@example.net\r\nSubject: Hi\r\nDate: Sun, 22 Nov 2026 08:00:00 +0000\r\nMessage-ID: <1@example.com>\r\n\r\nHello\r\n"

// signMessage returns a message from an author, signed by domains ("ed example.com").
func signMessage(t *testing.T, from string, by ...string) string {
	t.Helper()
	message := "From: " + from + "\r\n" + head
	var signers []dkim.Signer
	for _, signer := range by {
		selector, domain, _ := strings.Cut(signer, " ")
		s := dkim.Signer{Domain: domain, Selector: selector, Key: edKey}
		if selector == "rsa" {
			s.Key = rsaKey()
		}
		signers = append(signers, s)
	}
	if len(signers) == 0 {
		return message
	}
	out, err := dkim.Sign([]byte(message), signers...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func client(ip, hello, mailFrom string) authn.Client {
	return authn.Client{IP: netip.MustParseAddr(ip), Hello: hello, MailFrom: mailFrom, Hostname: "mx.example.net"}
}

var own = client("192.0.2.1", "mx.example.com", "ann@example.com")

// passingResult returns the result for own and a signature of example.com.
func passingResult() shape.Authentication {
	return shape.Authentication{
		SPF: "pass", DKIM: "pass", DMARC: "pass", IPRev: "pass", SPFDomain: "example.com",
		DKIMDomains: []string{"example.com"}, DMARCPolicy: "reject", ReverseName: "mx.example.com",
	}
}

func resultWith(change func(*shape.Authentication)) shape.Authentication {
	a := passingResult()
	change(&a)
	return a
}

// clearSPF sets the results of an address without any authentication.
func clearSPF(a *shape.Authentication) {
	a.SPF, a.IPRev, a.ReverseName = "fail", "permerror", ""
}

func clearDKIM(a *shape.Authentication) { a.DKIM, a.DKIMDomains = "none", nil }

func TestVerifyReportsTheResultsOfAMessage(t *testing.T) {
	t.Parallel()
	stranger := client("203.0.113.9", "x.example.org", "ann@example.com")
	for name, c := range map[string]struct {
		client  authn.Client
		message string
		want    shape.Authentication
	}{
		"all is well":           {own, signMessage(t, "Ann <ann@example.com>", "rsa example.com"), passingResult()},
		"two signatures of one": {own, signMessage(t, "ann@example.com", "rsa example.com", "ed example.com"), passingResult()},
		"over IPv6": {client("2001:db8::1", "mx.example.com", "ann@example.com"),
			signMessage(t, "ann@example.com", "ed example.com"), passingResult()},
		"an IPv4 address in IPv6 clothing": {client("::ffff:192.0.2.1", "mx.example.com", "ann@example.com"),
			signMessage(t, "ann@example.com", "ed example.com"), passingResult()},
		"a body that was changed": {own, strings.Replace(signMessage(t, "ann@example.com", "rsa example.com"), "Hello", "Hullo", 1),
			resultWith(func(a *shape.Authentication) { a.DKIM, a.DKIMDomains = "fail", nil })},
		"a body that was changed, from elsewhere": {stranger, strings.Replace(signMessage(t, "ann@example.com", "rsa example.com"), "Hello", "Hullo", 1),
			resultWith(func(a *shape.Authentication) {
				clearSPF(a)
				a.DKIM, a.DKIMDomains, a.DMARC = "fail", nil, "fail"
			})},
		"a subject that was changed": {stranger, strings.Replace(signMessage(t, "ann@example.com", "rsa example.com"), "Hi", "Ho", 1),
			resultWith(func(a *shape.Authentication) { clearSPF(a); a.DKIM, a.DKIMDomains, a.DMARC = "fail", nil, "fail" })},
		"one signature of two holds": {own, strings.Replace(signMessage(t, "ann@example.com", "rsa example.com"), "Hello", "Hullo", 1)[:0] +
			"DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=none; h=from; bh=eQ==; b=eQ==\r\n" +
			signMessage(t, "ann@example.com", "rsa example.com"), passingResult()},
		"forwarded": {stranger, signMessage(t, "ann@example.com", "ed example.com"), resultWith(clearSPF)},
		"forged":    {stranger, signMessage(t, "ann@example.com"), resultWith(func(a *shape.Authentication) { clearSPF(a); clearDKIM(a); a.DMARC = "fail" })},
		"aligned by SPF only, relaxed": {client("192.0.2.1", "mx.example.com", "b@bounce.example.com"), signMessage(t, "ann@example.com"),
			resultWith(func(a *shape.Authentication) { clearDKIM(a); a.SPFDomain = "bounce.example.com" })},
		"softfail": {client("203.0.113.9", "x", "b@bounce.example.com"), signMessage(t, "ann@example.com"),
			resultWith(func(a *shape.Authentication) {
				clearSPF(a)
				clearDKIM(a)
				a.SPF, a.SPFDomain, a.DMARC = "softfail", "bounce.example.com", "fail"
			})},
		"aligned with no domain": {client("192.0.2.1", "mx.example.com", "x@elsewhere.net"), signMessage(t, "ann@example.com", "rsa elsewhere.net"),
			resultWith(func(a *shape.Authentication) {
				a.SPFDomain, a.DKIMDomains, a.DMARC = "elsewhere.net", []string{"elsewhere.net"}, "fail"
			})},
		"the author's own signature comes first": {own, signMessage(t, "ann@example.com", "ed elsewhere.net", "ed news.example.com", "ed example.com"),
			resultWith(func(a *shape.Authentication) {
				a.DKIMDomains = []string{"example.com", "news.example.com", "elsewhere.net"}
			})},
		"a subdomain has the policy for subdomains": {stranger, signMessage(t, "ann@shop.example.com"),
			resultWith(func(a *shape.Authentication) {
				clearSPF(a)
				clearDKIM(a)
				a.DMARC, a.DMARCPolicy = "fail", "quarantine"
			})},
		"no record anywhere": {client("203.0.113.9", "x.example.org", "a@example.org"), signMessage(t, "a@example.org"),
			shape.Authentication{SPF: "none", DKIM: "none", DMARC: "none", IPRev: "permerror",
				SPFDomain: "example.org"}},
		"the null sender counts by its EHLO name": {client("192.0.2.1", "mx.example.com", ""), signMessage(t, "postmaster@example.com"),
			resultWith(func(a *shape.Authentication) { clearDKIM(a); a.SPFDomain = "mx.example.com" })},
		"the null sender with a literal": {client("192.0.2.1", "[192.0.2.1]", ""), signMessage(t, "postmaster@example.com", "ed example.com"),
			resultWith(func(a *shape.Authentication) { a.SPF, a.SPFDomain = "none", "" })},
		"a sender that is not an address": {client("192.0.2.1", "mx.example.com", "nonsense"), signMessage(t, "ann@example.com", "ed example.com"),
			resultWith(func(a *shape.Authentication) { a.SPF, a.SPFDomain = "none", "" })},
		"a reverse name that leads elsewhere": {client("198.51.100.66", "mx.example.com", "ann@example.com"),
			signMessage(t, "ann@example.com", "ed example.com"),
			resultWith(func(a *shape.Authentication) { a.SPF, a.IPRev, a.ReverseName = "fail", "fail", "" })},
		"no From": {own, head, resultWith(func(a *shape.Authentication) { clearDKIM(a); a.DMARC, a.DMARCPolicy = "permerror", "" })},
		"a second From without authentication": {own, "From: boss@bank.example\r\n" + signMessage(t, "ann@example.com"),
			resultWith(func(a *shape.Authentication) { clearDKIM(a); a.DMARC, a.DMARCPolicy = "none", "" })},
		"two authors, one is forged": {client("192.0.2.1", "mx.example.com", "x@elsewhere.net"), signMessage(t, "x@elsewhere.net, ann@example.com"),
			resultWith(func(a *shape.Authentication) { clearDKIM(a); a.SPFDomain, a.DMARC = "elsewhere.net", "fail" })},
		"an author that cannot be read": {own, signMessage(t, "ann@example.com, boss@@bank"),
			resultWith(func(a *shape.Authentication) { clearDKIM(a); a.DMARC, a.DMARCPolicy = "permerror", "" })},
		"no message at all": {own, "", resultWith(func(a *shape.Authentication) {
			a.DKIM, a.DKIMDomains, a.DMARC, a.DMARCPolicy = "permerror", nil, "permerror", ""
		})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := verifier(t, newZone(t), 0).
				Verify(t.Context(), c.client, strings.NewReader(c.message), int64(len(c.message)))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPoliciesOfTheAuthor lists records of _dmarc.example.com with their results for mail that
// news.example.com signed and that example.com's SPF does not cover.
func TestPoliciesOfTheAuthor(t *testing.T) {
	t.Parallel()
	for record, want := range map[string][2]string{
		"v=DMARC1; p=none":                             {"pass", "none"},
		"v=DMARC1; p=none; adkim=s":                    {"fail", "none"},
		"v=DMARC1; p=quarantine; adkim=r; aspf=s":      {"pass", "quarantine"},
		"v=DMARC1; p=reject; adkim=s; pct=0":           {"fail", "reject"},
		"v=DMARC1; p=nonsense":                         {"permerror", ""},
		"v=spf1 -all":                                  {"none", ""},
		"v=DMARC1; p=none; rua=mailto:d@elsewhere.net": {"pass", "none"},
	} {
		t.Run(record, func(t *testing.T) {
			t.Parallel()
			s := newZone(t)
			s.Set(t, "_dmarc.example.com.", fmt.Sprintf("_dmarc.example.com. 300 IN TXT %q", record))
			message := signMessage(t, "ann@example.com", "ed news.example.com")
			got := verifier(t, s, 0).Verify(t.Context(), client("203.0.113.9", "x", "x@example.org"),
				strings.NewReader(message), int64(len(message)))
			if got.DMARC != want[0] || got.DMARCPolicy != want[1] || got.DKIM != "pass" {
				t.Errorf("got %+v, want %q", got, want)
			}
		})
	}
}

// TestUnresponsiveDNSIsTemporary checks that an unresponsive DNS results in temperror, in time.
func TestUnresponsiveDNSIsTemporary(t *testing.T) {
	t.Parallel()
	message := signMessage(t, "ann@example.com", "rsa example.com")
	everything := shape.Authentication{SPF: "temperror", DKIM: "temperror", DMARC: "temperror", IPRev: "temperror",
		SPFDomain: "example.com"}
	for name, c := range map[string]struct {
		fault dnsxtest.Fault
		names []string
		want  shape.Authentication
	}{
		"silence": {dnsxtest.Timeout, []string{"example.com.", "_dmarc.example.com.", "rsa._domainkey.example.com.", "1.2.0.192.in-addr.arpa."}, everything},
		"failure": {dnsxtest.ServFail, []string{"example.com.", "_dmarc.example.com.", "rsa._domainkey.example.com.", "1.2.0.192.in-addr.arpa."}, everything},
		"of the key and of SPF": {dnsxtest.ServFail, []string{"example.com.", "rsa._domainkey.example.com."},
			resultWith(func(a *shape.Authentication) {
				a.SPF, a.DKIM, a.DKIMDomains, a.DMARC = "temperror", "temperror", nil, "temperror"
			})},
		"of the key alone": {dnsxtest.ServFail, []string{"rsa._domainkey.example.com."},
			resultWith(func(a *shape.Authentication) { a.DKIM, a.DKIMDomains = "temperror", nil })},
		"of the reverse name": {dnsxtest.Timeout, []string{"1.2.0.192.in-addr.arpa."},
			resultWith(func(a *shape.Authentication) { a.IPRev, a.ReverseName = "temperror", "" })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newZone(t)
			for _, n := range c.names {
				s.Fault(n, c.fault)
			}
			begin := time.Now()
			got := verifier(t, s, 10*time.Second).
				Verify(t.Context(), own, strings.NewReader(message), int64(len(message)))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("took %v", took)
			}
		})
	}
}
