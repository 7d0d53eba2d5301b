package domains

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestCompareSPF(t *testing.T) {
	t.Parallel()
	zone := map[string][]string{
		"one.example":       {"v=spf1 include:spf.postrider.example -all"},
		"two.example":       {"unrelated", "v=spf1 ip4:192.0.2.0/24 include:one.example ?all"},
		"closed.example":    {"v=spf1 -all include:spf.postrider.example"},
		"twice.example":     {"v=spf1 -all", "v=spf1 +all"},
		"loop.example":      {"v=spf1 include:loop.example -all"},
		"redirect.example":  {"v=spf1 redirect=one.example"},
		"tencheap.example":  {"v=spf1 ip4:192.0.2.1 ip6:2001:db8::/32 -all"},
		"ninelooks.example": {"v=spf1 a mx a:a.example mx:b.example ptr exists:c.example a/24 mx/28 -all"},
	}
	ours := "include:spf.postrider.example"
	many := func(n int, term string) string { return strings.Repeat(term+" ", n) }
	for _, c := range []comparison{
		{"as shown", []string{"v=spf1 include:spf.postrider.example ~all"}, Verified, ""},
		{"beside other TXT records", []string{"google-site-verification=x", "v=spf1 " + ours + " ~all"}, Verified, ""},
		{"among other terms", []string{"v=spf1 ip4:192.0.2.1 a mx " + ours + " exp=e.example -all"}, Verified, ""},
		{"case, final dot, several spaces", []string{"V=SPF1   Include:SPF.Postrider.Example.   ~ALL"}, Verified, ""},
		{"explicit plus", []string{"v=spf1 +" + ours + " -all"}, Verified, ""},
		{"in an include", []string{"v=spf1 include:one.example -all"}, Verified, ""},
		{"two deep", []string{"v=spf1 include:two.example -all"}, Verified, ""},
		{"through a redirect", []string{"v=spf1 redirect=one.example"}, Verified, ""},
		{"redirect in an include", []string{"v=spf1 include:redirect.example -all"}, Verified, ""},
		{"redirect stands before the terms", []string{"v=spf1 redirect=one.example ip4:192.0.2.1"}, Verified, ""},
		{"as the tenth look-up", []string{"v=spf1 " + many(9, "a") + ours + " -all"}, Verified, ""},
		{"address terms cost nothing", []string{"v=spf1 " + many(30, "ip4:192.0.2.1") + ours + " -all"}, Verified, ""},
		{"a macro is passed by", []string{"v=spf1 include:%{d}._spf.example " + ours + " -all"}, Verified, ""},

		{"none", nil, Missing, "Publish a TXT record at example.com"},
		{"other TXT records only", []string{"google-site-verification=x", "v=spf10 +all"}, Missing, "include:spf.postrider.example ~all"},
		{"without our include", []string{"v=spf1 mx -all"}, Mismatch, "Add include:spf.postrider.example"},
		{"name that only begins like ours", []string{"v=spf1 include:spf.postrider.example.net -all"}, Mismatch, "leads to 0"},
		{"two records", []string{"v=spf1 " + ours + " ~all", "v=spf1 mx -all"}, Mismatch, "Merge the 2 SPF records"},
		{"after all", []string{"v=spf1 -all " + ours}, Mismatch, "before its all term"},
		{"after all in an include", []string{"v=spf1 include:closed.example -all"}, Mismatch, "Add include:"},
		{"redirect beside all counts for nothing", []string{"v=spf1 -all redirect=one.example"}, Mismatch, "Add include:"},
		{"with a minus", []string{"v=spf1 -" + ours + " ~all"}, Mismatch, "must not have a -, ~ or ?"},
		{"with a question mark", []string{"v=spf1 ?" + ours + " ~all"}, Mismatch, "must not have"},
		{"in an include with a tilde", []string{"v=spf1 ~include:one.example -all"}, Mismatch, "must not have"},
		{"as the eleventh look-up", []string{"v=spf1 " + many(10, "a") + ours + " -all"}, Mismatch, "more than 10 look-ups"},
		{"as the eleventh through an include", []string{"v=spf1 include:ninelooks.example a " + ours + " -all"}, Mismatch, "more than 10 look-ups"},
		{"a loop ends", []string{"v=spf1 include:loop.example " + ours + " -all"}, Mismatch, "more than 10 look-ups"},
		{"an include that leads nowhere", []string{"v=spf1 include:nothing.example " + ours + " -all"}, Mismatch, "leads to 0 SPF records"},
		{"an include with two records", []string{"v=spf1 include:twice.example " + ours + " -all"}, Mismatch, "leads to 2 SPF records"},
		{"redirect that leads nowhere", []string{"v=spf1 redirect=nothing.example"}, Mismatch, "redirect=nothing.example leads to 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := compareSPF(t.Context(), testExpectation(), c.found, func(_ context.Context, name string) ([]string, error) {
				return zone[name], nil
			})
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, got)
		})
	}
}

func TestSPFWithoutAnswerIsNoFinding(t *testing.T) {
	t.Parallel()
	down := errors.New("SERVFAIL")
	lookup := func(_ context.Context, name string) ([]string, error) { return nil, fmt.Errorf("%s: %w", name, down) }
	if _, err := compareSPF(t.Context(), testExpectation(), []string{"v=spf1 include:other.example -all"}, lookup); !errors.Is(err, down) {
		t.Errorf("error %v, want the look-up's", err)
	}
	// What stands before the include that gave no answer is enough.
	got, err := compareSPF(t.Context(), testExpectation(), []string{"v=spf1 include:spf.postrider.example include:other.example -all"}, lookup)
	if err != nil || got.status != Verified {
		t.Errorf("%+v, %v, want verified", got, err)
	}
}

// The cases of the RFC 7208 test suite (openspf's, sections named as there) that
// bear on a search for an include. What a real evaluation needs beside it, the
// sender's address and the look-ups of a, mx, ptr and exists, the search does not
// do: it counts their terms, but not how many of them find nothing.
func TestSPFSuiteWhereItBearsOnIncludes(t *testing.T) {
	t.Parallel()
	ours := "include:spf.postrider.example"
	zone := map[string][]string{
		"e2.example": {}, "e3.example": {"v=spf1 " + ours + " -all", "v=spf1 -all"},
		"e4.example": {"v=spf1 include:e5.example -all"}, "e5.example": {"v=spf1 include:e4.example -all"},
		"e6.example": {"v=spf1 a a a a a a a a a a a -all"}, "pass.example": {"v=spf1 " + ours + " -all"},
		"neutral.example": {"v=spf1 ?all"}, "other.example": {"some text", "v=spf1 " + ours},
	}
	for _, c := range []comparison{
		{"Record lookup: multitxt1", []string{"other text", "v=spf1 " + ours + " -all"}, Verified, ""},
		{"Selecting records: nospace2", []string{"v=spf1" + ours}, Missing, "Publish"},
		{"Selecting records: nospf", []string{"spf1 " + ours}, Missing, "Publish"},
		{"Selecting records: empty", []string{"v=spf1"}, Mismatch, "Add include:"},
		{"Selecting records: case-insensitive", []string{"V=sPf1 " + ours}, Verified, ""},
		{"Selecting records: multispf1", []string{"v=spf1 -all", "v=spf1 " + ours}, Mismatch, "Merge the 2"},
		{"Include: include-fail", []string{"v=spf1 include:neutral.example " + ours}, Verified, ""},
		{"Include: include-none", []string{"v=spf1 include:e2.example " + ours}, Mismatch, "leads to 0"},
		{"Include: include-permerror", []string{"v=spf1 include:e3.example"}, Mismatch, "leads to 2"},
		{"Include: other TXT at the target", []string{"v=spf1 include:other.example -all"}, Verified, ""},
		{"Redirect: domain without records", []string{"v=spf1 redirect=e2.example"}, Mismatch, "leads to 0"},
		{"Redirect: to a record with the include", []string{"v=spf1 redirect=pass.example"}, Verified, ""},
		{"Processing limits: include-loop", []string{"v=spf1 include:e4.example"}, Mismatch, "more than 10"},
		{"Processing limits: include-at-limit", []string{"v=spf1 a mx a mx a mx a ptr include:pass.example"}, Verified, ""},
		{"Processing limits: include-over-limit", []string{"v=spf1 a mx a mx a mx a ptr a include:pass.example"}, Mismatch, "more than 10"},
		{"Processing limits: mech-limit in an include", []string{"v=spf1 include:e6.example " + ours}, Mismatch, "more than 10"},
		{"All: all-double ends the record", []string{"v=spf1 ?all -all " + ours}, Mismatch, "before its all term"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := compareSPF(t.Context(), testExpectation(), c.found, func(_ context.Context, name string) ([]string, error) {
				return zone[name], nil
			})
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, got)
		})
	}
}
