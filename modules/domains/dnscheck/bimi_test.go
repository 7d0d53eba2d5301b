package dnscheck

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/domains/bimi"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

const (
	testLogo  = "https://example.com/logo.svg"
	testMark  = "https://example.com/vmc.pem"
	testValue = "v=BIMI1; l=" + testLogo + "; a=" + testMark + ";"
)

func TestCompareBIMI(t *testing.T) {
	t.Parallel()
	compare := func(e Set, found []string) Observation {
		e.bimi = bimiRecord{testLogo, testMark}
		return compareBIMI(e, found)
	}
	runComparisons(t, compare, []comparison{
		{"as shown", []string{testValue}, Verified, ""},
		{"other spaces", []string{"v=BIMI1;l=" + testLogo + ";a=" + testMark}, Verified, ""},
		{"next to another value", []string{"hello", testValue}, Verified, ""},
		{"none", nil, Missing, "optional"},
		{"wildcard answer", []string{"v=spf1 -all"}, Mismatch, "begin with"},
		{"two", []string{testValue, testValue}, Mismatch, "Keep only one"},
		{"another logo", []string{"v=BIMI1; l=https://example.com/b.svg; a=" + testMark}, Mismatch, "Replace the BIMI record"},
		{"no certificate", []string{"v=BIMI1; l=" + testLogo}, Mismatch, "Replace the BIMI record"},
		{"declined", []string{"v=BIMI1; l=; a="}, Mismatch, "Replace the BIMI record"},
		{"broken", []string{"v=BIMI1; l"}, Mismatch, "Correct the BIMI record"},
	})
}

func TestJudgeBIMIPolicy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		record    string
		subdomain bool
		state     string
		found     string
	}{
		{"v=DMARC1; p=reject", false, bimi.Met, "p=reject"},
		{"v=DMARC1; p=Quarantine", false, bimi.Met, "p=quarantine"},
		{"v=DMARC1; p=quarantine; pct=100", false, bimi.Met, "p=quarantine"},
		{"v=DMARC1; p=quarantine; pct=99", false, bimi.Broken, "for 99 %"},
		{"v=DMARC1; p=reject; pct=50", false, bimi.Met, "p=reject"},
		{"v=DMARC1; p=none", false, bimi.Broken, "p=none"},
		{"v=DMARC1; p=reject; sp=none", false, bimi.Broken, "sp=none"},
		{"v=DMARC1; p=reject; sp=quarantine", false, bimi.Met, "p=reject"},
		{"v=DMARC1; p=none; sp=reject", true, bimi.Met, "sp=reject"},
		{"v=DMARC1; p=none; sp=reject", false, bimi.Broken, "p=none"},
		{"v=DMARC1; p=reject", true, bimi.Met, "p=reject"},
		{"v=DMARC1; p=reject; sp=none", true, bimi.Broken, "sp=none"},
		{"v=DMARC1; p", false, bimi.Broken, "invalid"},
	} {
		f := judgeBIMIPolicy(c.record, "example.com", c.subdomain)
		if f.State != c.state || !strings.Contains(f.Found, c.found) || (f.Fix == "") != (c.state == bimi.Met) {
			t.Errorf("%s, subdomain %v: got %+v, want it %s with %q", c.record, c.subdomain, f, c.state, c.found)
		}
	}
}

func TestRefuseBIMIURL(t *testing.T) {
	t.Parallel()
	for url, says := range map[string]string{testLogo: "", "https://example.com/a%3Bb.svg?v=2": "", "http://example.com/a.svg": "https",
		"https://example.com/a;l=b.svg": "ASCII", "https://example.com/ä.svg": "ASCII", `https://example.com/a"b.svg`: "ASCII",
		"https://example.com/" + strings.Repeat("a", 500): "at most", "https://u:p@example.com/a.svg": "user name",
		"data:image/svg+xml,a": "URL", "https://example.com/a b": "white space"} {
		if got := RefuseBIMIURL(url); (got == "") != (says == "") || !strings.Contains(got, says) {
			t.Errorf("%s: got %q, want %q", url, got, says)
		}
	}
}

// fakeLogos returns one finding.
type fakeLogos struct{ state string }

func (f fakeLogos) Check(_ context.Context, domain, logo, certificate string) []shape.RecordFinding {
	return []shape.RecordFinding{{Code: "logo", State: f.state, Found: domain + " " + logo + " " + certificate, Fix: "Fix it."}}
}

// TestBIMIOfSubdomainUsesParentPolicy checks a record, its DMARC policy and its files together.
func TestBIMIOfSubdomainUsesParentPolicy(t *testing.T) {
	t.Parallel()
	zone := dnsxtest.New(t, `default._bimi.news.example.com. 60 IN TXT "`+testValue+`"`,
		`_dmarc.example.com. 60 IN TXT "v=DMARC1; p=none; sp=reject"`)
	resolver, err := dnsx.New(dnsx.Config{Server: zone.Addr(), Timeout: 5 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	e := testExpectation()
	e.name, e.bimi = "news.example.com", bimiRecord{testLogo, testMark}
	for state, want := range map[string]Status{bimi.Met: Verified, bimi.Close: Verified, bimi.Broken: Mismatch} {
		c := Checker{DNS: resolver.WithoutCache(), Logos: fakeLogos{state}, Within: 5 * time.Second}
		o := c.lookBIMI(t.Context(), e)
		if o.Status != want || (o.Advice == "") != (want == Verified) || len(o.Findings) != 3 {
			t.Fatalf("with a logo that is %s: got %+v, want %s and 3 findings", state, o, want)
		}
		if o.Findings[0].State != bimi.Met || o.Findings[1].State != bimi.Met || !strings.Contains(o.Findings[1].Found, "sp=reject") ||
			o.Findings[2].Found != "news.example.com "+testLogo+" "+testMark {
			t.Errorf("the findings are %+v", o.Findings)
		}
	}
}
