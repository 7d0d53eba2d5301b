package dnscheck

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

// spfZone is a DNS server with the TXT records of some names, and a resolver.
func spfZone(t *testing.T, txt map[string][]string) (*dnsxtest.Server, *dnsx.Resolver) {
	t.Helper()
	zone := dnsxtest.New(t, "example.com. 60 IN A 192.0.2.80", "example.com. 60 IN MX 5 mx.example.com.",
		"mx.example.com. 60 IN A 192.0.2.25")
	for name, values := range txt {
		for _, value := range values {
			zone.Add(t, fmt.Sprintf("%s. 60 IN TXT %q", name, value))
		}
	}
	resolver, err := dnsx.New(dnsx.Config{Server: zone.Addr(), Timeout: 5 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	return zone, resolver
}

func TestCompareSPF(t *testing.T) {
	t.Parallel()
	zone, resolver := spfZone(t, map[string][]string{
		"spf.postrider.example": {"v=spf1 ip4:192.0.2.25 -all"},
		"one.example":           {"v=spf1 include:spf.postrider.example -all"},
		"two.example":           {"unrelated", "v=spf1 ip4:192.0.2.0/24 include:one.example ?all"},
		"closed.example":        {"v=spf1 -all include:spf.postrider.example"},
		"twice.example":         {"v=spf1 -all", "v=spf1 +all"},
		"broken.example":        {"v=spf1 ipv4:192.0.2.1 -all"},
		"loop.example":          {"v=spf1 include:loop.example -all"},
		"redirect.example":      {"v=spf1 redirect=one.example"},
		"ninelooks.example":     {"v=spf1 a:example.com mx:example.com a:example.com mx:example.com ptr exists:no.example a:mx.example.com/24 mx:example.com/28 -all"},
		"manymx.example":        {"unrelated"},
	})
	for n := range 11 {
		zone.Add(t, fmt.Sprintf("manymx.example. 60 IN MX %d mx.example.com.", n))
	}
	ours := "include:spf.postrider.example"
	many := func(n int, term string) string { return strings.Repeat(term+" ", n) }
	for _, c := range []comparison{
		{"as shown", []string{"v=spf1 include:spf.postrider.example ~all"}, Verified, ""},
		{"among other TXT records", []string{"google-site-verification=x", "v=spf1 " + ours + " ~all"}, Verified, ""},
		{"among other terms", []string{"v=spf1 ip4:192.0.2.1 a mx " + ours + " exp=e.example -all"}, Verified, ""},
		{"case, final dot, several spaces", []string{"V=SPF1   Include:SPF.Postrider.Example.   ~ALL"}, Verified, ""},
		{"explicit plus", []string{"v=spf1 +" + ours + " -all"}, Verified, ""},
		{"in an include", []string{"v=spf1 include:one.example -all"}, Verified, ""},
		{"two deep", []string{"v=spf1 include:two.example -all"}, Verified, ""},
		{"through a redirect", []string{"v=spf1 redirect=one.example"}, Verified, ""},
		{"redirect in an include", []string{"v=spf1 include:redirect.example -all"}, Verified, ""},
		{"redirect before the terms", []string{"v=spf1 redirect=one.example ip4:192.0.2.1"}, Verified, ""},
		{"as the tenth lookup", []string{"v=spf1 " + many(9, "a") + ours + " -all"}, Verified, ""},
		{"as the tenth through an include", []string{"v=spf1 include:ninelooks.example " + ours + " -all"}, Verified, ""},
		{"address terms cost nothing", []string{"v=spf1 " + many(30, "ip4:192.0.2.1") + ours + " -all"}, Verified, ""},
		{"two names without records", []string{"v=spf1 a:no.example mx:no.example " + ours + " -all"}, Verified, ""},
		{"a ptr term", []string{"v=spf1 ptr a:no.example mx:no.example ptr:example.com " + ours + " -all"}, Verified, ""},
		{"an unknown modifier", []string{"v=spf1 accredit=yes.example mx-note=x " + ours + " -all"}, Verified, ""},
		{"a macro that leads to us", []string{"v=spf1 include:spf.%{d2}.example -all"}, Mismatch, "0 SPF records"},
		{"a macro in another term", []string{"v=spf1 exists:%{ir}.%{v}.%{l1r-}.example " + ours + " -all"}, Verified, ""},

		{"none", nil, Missing, "Publish a TXT record at example.com"},
		{"other TXT records only", []string{"google-site-verification=x", "v=spf10 +all"}, Missing, "include:spf.postrider.example ~all"},
		{"no space after the version", []string{"v=spf1" + ours}, Missing, "Publish"},
		{"quoted twice", []string{`"v=spf1 ` + ours + ` ~all"`}, Mismatch, "Remove the quotation marks"},
		{"without our include", []string{"v=spf1 mx -all"}, Mismatch, "Add include:spf.postrider.example"},
		{"the version alone", []string{"v=spf1"}, Mismatch, "Add include:"},
		{"open to all", []string{"v=spf1 +all"}, Mismatch, "Add include:"},
		{"name that only begins like ours", []string{"v=spf1 include:spf.postrider.example.net -all"}, Mismatch, "has 0 SPF records"},
		{"two records", []string{"v=spf1 " + ours + " ~all", "v=spf1 mx -all"}, Mismatch, "Merge the 2 SPF records"},
		{"after all", []string{"v=spf1 -all " + ours}, Mismatch, "before its all term"},
		{"after all in an include", []string{"v=spf1 include:closed.example -all"}, Mismatch, "Add include:"},
		{"redirect is ignored next to all", []string{"v=spf1 -all redirect=one.example"}, Mismatch, "Add include:"},
		{"with a minus", []string{"v=spf1 -" + ours + " ~all"}, Mismatch, "must not have the qualifier -, ~ or ?"},
		{"with a question mark", []string{"v=spf1 ?" + ours + " ~all"}, Mismatch, "must not have the qualifier"},
		{"in an include with a tilde", []string{"v=spf1 ~include:one.example -all"}, Mismatch, "must not have the qualifier"},
		{"as the eleventh lookup", []string{"v=spf1 " + many(10, "a") + ours + " -all"}, Mismatch, "more than 10 lookups"},
		{"as the eleventh through an include", []string{"v=spf1 include:ninelooks.example a " + ours + " -all"}, Mismatch, "more than 10 lookups"},
		{"a loop ends", []string{"v=spf1 include:loop.example " + ours + " -all"}, Mismatch, "more than 10 lookups"},
		{"three names without records", []string{"v=spf1 a:no.example mx:no.example exists:not.example " + ours +
			" -all"}, Mismatch,
			"more than 2 of its terms refer to names without records, the last one to not.example"},
		{"eleven mail hosts", []string{"v=spf1 mx:manymx.example " + ours + " -all"}, Mismatch, "more than 10 mail hosts"},
		{"an include that leads nowhere", []string{"v=spf1 include:nothing.example " + ours + " -all"}, Mismatch,
			"refers to nothing.example, which has 0 SPF records and must have exactly one"},
		{"an include with two records", []string{"v=spf1 include:twice.example " + ours + " -all"}, Mismatch, "has 2 SPF records"},
		{"redirect that leads nowhere", []string{"v=spf1 redirect=nothing.example"}, Mismatch, "has 0 SPF records"},
		{"a word that is not a term", []string{"v=spf1 ipv4:192.0.2.1 " + ours + " -all"}, Mismatch, `the term "ipv4:192.0.2.1" is invalid`},
		{"not valid after our include", []string{"v=spf1 " + ours + " ip4:192.0.2.256 -all"}, Mismatch, `the term "ip4:192.0.2.256" is invalid`},
		{"not valid after all", []string{"v=spf1 " + ours + " -all a:example"}, Mismatch, `the term "a:example" is invalid`},
		{"a macro for explanations only", []string{"v=spf1 " + ours + " exists:%{c}.example -all"}, Mismatch, "is invalid"},
		{"a macro without end", []string{"v=spf1 " + ours + " exists:%{d.example -all"}, Mismatch, "is invalid"},
		{"redirect twice", []string{"v=spf1 " + ours + " redirect=one.example redirect=two.example"}, Mismatch, `the term "redirect=two.example" is invalid`},
		{"an include that is not valid", []string{"v=spf1 include:broken.example " + ours + " -all"}, Mismatch,
			`the term "ipv4:192.0.2.1" of broken.example is invalid`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := compareSPF(t.Context(), testExpectation(), c.found, resolver.WithoutCache())
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, got)
		})
	}
}

func TestSPFWithoutAnswerIsInconclusive(t *testing.T) {
	t.Parallel()
	zone, resolver := spfZone(t, map[string][]string{"spf.postrider.example": {"v=spf1 ip4:192.0.2.25 -all"}})
	zone.Fault("other.example", dnsxtest.ServFail)
	for _, term := range []string{"include:other.example", "a:other.example", "mx:other.example",
		"exists:other.example"} {
		if _, err := compareSPF(t.Context(), testExpectation(), []string{"v=spf1 " + term + " -all"},
			resolver); !errors.Is(err, dnsx.ErrTemporary) {
			t.Errorf("%s: error %v, want that of the lookup", term, err)
		}
		// The terms before the unanswered one are sufficient.
		got, err := compareSPF(t.Context(), testExpectation(),
			[]string{"v=spf1 include:spf.postrider.example " + term + " -all"}, resolver)
		if err != nil || got.Status != Verified {
			t.Errorf("%s: %+v, %v, want verified", term, got, err)
		}
	}
}

// The names of development mode do not exist, so they are not looked up.
func TestSPFSkipsDevelopmentNames(t *testing.T) {
	t.Parallel()
	zone, resolver := spfZone(t, nil)
	e := testExpectation()
	e.spfInclude = "spf.postrider.test"
	got, err := compareSPF(t.Context(), e, []string{"v=spf1 ptr include:spf.postrider.test -all"}, resolver)
	if err != nil || got.Status != Verified || len(zone.Queries()) != 0 {
		t.Errorf("in development, the record is %+v, %v after the queries %v, want verified without queries", got, err,
			zone.Queries())
	}
}

// The actual record under our own name decides. If it is missing or broken, receivers get none or permerror
// for the domain, which its owner cannot fix.
func TestSPFReportsOperatorsBrokenRecord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		ours     []string
		fault    dnsxtest.Fault
		found    string
		want     Status
		operator bool
		advice   string
		err      bool
	}{
		{name: "sound", ours: []string{"v=spf1 ip4:192.0.2.25 -all"}, want: Verified},
		{name: "sound, without an all term", ours: []string{"v=spf1 ip4:192.0.2.25"}, want: Verified},
		{name: "missing", want: Mismatch, operator: true, advice: "there is no SPF record at spf.postrider.example"},
		{name: "missing among other values", ours: []string{"hello"}, want: Mismatch, operator: true,
			advice: "there is no SPF record at spf.postrider.example"},
		{name: "two", ours: []string{"v=spf1 -all", "v=spf1 ip4:192.0.2.25 -all"}, want: Mismatch, operator: true, advice: "there are 2 SPF records"},
		{name: "not valid", ours: []string{"v=spf1 ipv4:192.0.2.25 -all"}, want: Mismatch, operator: true, advice: `the term "ipv4:192.0.2.25" is invalid`},
		{name: "an include that leads nowhere", ours: []string{"v=spf1 include:gone.example -all"}, want: Mismatch,
			operator: true, advice: "has 0 SPF records"},
		{name: "no answer", fault: dnsxtest.ServFail, err: true},
		{name: "silent", fault: dnsxtest.Timeout, err: true},
		// The owner's own mistake comes first, because the owner can fix it.
		{name: "missing, and the domain's is wrong too", found: "v=spf1 mx -all", want: Mismatch, advice: "Add include:spf.postrider.example"},
		{name: "no answer, and the domain's is wrong", fault: dnsxtest.ServFail, found: "v=spf1 mx -all",
			want: Mismatch, advice: "Add include:spf.postrider.example"},
		// Our lookups count toward the ten.
		{name: "two lookups of ours and nine others", ours: []string{"v=spf1 a:mx.example.com mx:example.com -all"},
			found: "v=spf1 a a a a a a a a include:spf.postrider.example -all", want: Mismatch,
			advice: "more than 10 lookups"},
		{name: "two lookups of ours and eight others", ours: []string{"v=spf1 a:mx.example.com mx:example.com -all"},
			found: "v=spf1 a a a a a a a include:spf.postrider.example -all", want: Verified},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			zone, resolver := spfZone(t, map[string][]string{"spf.postrider.example": c.ours})
			zone.Fault("spf.postrider.example", c.fault)
			if c.found == "" {
				c.found = "v=spf1 include:spf.postrider.example ~all"
			}
			got, err := compareSPF(t.Context(), testExpectation(), []string{c.found}, resolver)
			if c.err {
				if !errors.Is(err, dnsx.ErrTemporary) {
					t.Errorf("with our name unanswered, the result is %+v, %v, want the error of the lookup", got, err)
				}
				return
			}
			if err != nil || got.Status != c.want || got.Operators != c.operator ||
				!strings.Contains(got.Advice, c.advice) || strings.Contains(got.Advice, "operator") != c.operator {
				t.Errorf("got %+v, %v, want %s, operator's fault %t, and advice that contains %q", got, err, c.want,
					c.operator, c.advice)
			}
		})
	}
}
