package dnsprovider

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const include = "spf.postrider.test"

func txt(name, value string) Record { return Record{Type: "TXT", Name: name, Value: value} }
func cname(name, host string) Record {
	return Record{Type: "CNAME", Name: name, Value: host}
}
func mx(name string, priority uint16, host string) Record {
	return Record{Type: "MX", Name: name, Value: host, Priority: priority}
}
func ns(name, host string) Record { return Record{Type: "NS", Name: name, Value: host} }

var (
	wantOwnership = Wanted{Purpose: "ownership", Record: txt("_service.example.com", "postrider-verification=abc"),
		Rule: Additional}
	wantDKIM = Wanted{Purpose: "dkim", Record: txt("s1._domainkey.example.com", "v=DKIM1; k=rsa; p=AAAA"),
		Rule: Alone}
	wantPath = Wanted{Purpose: "return_path", Record: cname("rp.example.com", "rp.postrider.test"), Rule: Alone}
	wantSPF  = Wanted{Purpose: "spf", Record: txt("example.com", "v=spf1 include:"+include+" ~all"),
		Rule: MergeSPF, Include: include}
	wantDMARC = Wanted{Purpose: "dmarc", Record: txt("_dmarc.example.com", "v=DMARC1; p=none;"), Rule: KeepPolicy}
	// wantPolicy replaces an existing policy.
	wantPolicy = Wanted{Purpose: "dmarc", Record: txt("_dmarc.example.com", "v=DMARC1; p=reject"), Rule: ReplacePolicy}
	wantTLS    = Wanted{Purpose: "tls_reports", Record: txt("_smtp._tls.example.com", "v=TLSRPTv1; rua=mailto:d@rp.test"), Rule: KeepPolicy}
	wantMX     = Wanted{Purpose: "inbound_mx", Record: mx("example.com", 10, "in.postrider.test"), Rule: Alone}
)

func TestCompare(t *testing.T) {
	t.Parallel()
	long := "v=spf1 " + strings.Repeat("ip4:192.0.2.1 ", 20) + "-all"
	tests := map[string]struct {
		want     Wanted
		existing []Record
		list     string // expected purposes in applied, unchanged, conflicts
		after    []string
		reason   string // part of the reason
	}{
		"no records": {want: wantOwnership, list: "applied", after: []string{"postrider-verification=abc"}},
		"the same record exists": {want: wantOwnership,
			existing: []Record{txt("_service.example.com", "postrider-verification=abc")}, list: "unchanged",
			after: []string{"postrider-verification=abc"}},
		"another text stays": {want: wantOwnership,
			existing: []Record{txt("_service.example.com", "other")}, list: "applied",
			after: []string{"other", "postrider-verification=abc"}},
		"a record with a similar name": {want: wantOwnership,
			existing: []Record{txt("x_service.example.com", "postrider-verification=abc")}, list: "applied",
			after: []string{"postrider-verification=abc"}},
		"conflicting alias": {want: wantOwnership,
			existing: []Record{cname("_service.example.com", "x.test")}, list: "conflicts", after: []string{},
			reason: "Remove the CNAME record at _service.example.com, which points to x.test"},
		"delegated below": {want: wantOwnership, existing: []Record{ns("example.com", "ns1.x.test"),
			ns("_service.example.com", "ns2.x.test")}, list: "conflicts", after: []string{}, reason: "delegated"},
		"a DNAME above": {want: wantOwnership,
			existing: []Record{{Type: "DNAME", Name: "example.com", Value: "x.test"}}, list: "conflicts",
			after: []string{}, reason: "DNAME"},
		"outside of the zone": {want: Wanted{Record: txt("badexample.com", "x")}, list: "conflicts", after: []string{}, reason: "outside"},
		"dkim, the same key": {want: wantDKIM,
			existing: []Record{txt("s1._domainkey.example.com", "k=rsa;v=DKIM1; p=AA AA ;")}, list: "unchanged",
			after: []string{"k=rsa;v=DKIM1; p=AA AA ;"}},
		"dkim, another key": {want: wantDKIM,
			existing: []Record{txt("s1._domainkey.example.com", "v=DKIM1; p=BBBB")}, list: "conflicts",
			after: []string{"v=DKIM1; p=BBBB"}, reason: "another TXT record already"},
		"dkim, both keys": {want: wantDKIM,
			existing: []Record{txt("s1._domainkey.example.com", "v=DKIM1; k=rsa; p=AAAA"),
				txt("s1._domainkey.example.com", "v=DKIM1; p=BBBB")}, list: "conflicts",
			after: []string{"v=DKIM1; k=rsa; p=AAAA", "v=DKIM1; p=BBBB"}, reason: "another"},
		"return path": {want: wantPath, list: "applied", after: []string{"rp.postrider.test"}},
		"return path exists": {want: wantPath,
			existing: []Record{cname("rp.example.com", "rp.postrider.test")}, list: "unchanged",
			after: []string{"rp.postrider.test"}},
		"return path leads elsewhere": {want: wantPath, existing: []Record{cname("rp.example.com", "x.test")},
			list: "conflicts", after: []string{"x.test"}, reason: "is an alias of x.test"},
		"return path has an address": {want: wantPath,
			existing: []Record{{Type: "A", Name: "rp.example.com", Value: "192.0.2.1"}}, list: "conflicts",
			after: []string{}, reason: "Remove the A record"},
		"return path, signatures only": {want: wantPath, existing: []Record{{Type: "NSEC", Name: "rp.example.com"}},
			list: "applied", after: []string{"rp.postrider.test"}},
		"chosen policy, none": {want: wantPolicy, existing: []Record{txt("_dmarc.example.com", "other")}, list: "applied",
			after: []string{"other", "v=DMARC1; p=reject"}},
		"chosen policy, another": {want: wantPolicy, existing: []Record{txt("_dmarc.example.com", "V=dmarc1 ; p=none"),
			txt("_dmarc.example.com", "other")}, list: "applied", after: []string{"other", "v=DMARC1; p=reject"}},
		"chosen policy, the same": {want: wantPolicy, existing: []Record{txt("_dmarc.example.com", "v=DMARC1; p=reject")},
			list: "unchanged", after: []string{"v=DMARC1; p=reject"}},
		"chosen policy, several": {want: wantPolicy, existing: []Record{txt("_dmarc.example.com", "v=DMARC1; p=none"),
			txt("_dmarc.example.com", "v=DMARC1; p=reject")}, list: "conflicts",
			after: []string{"v=DMARC1; p=none", "v=DMARC1; p=reject"}, reason: "remove all but one"},
		"chosen policy at an alias": {want: wantPolicy, existing: []Record{cname("_dmarc.example.com", "x.test")},
			list: "conflicts", after: []string{}, reason: "Remove the CNAME"},
		"spf, none": {want: wantSPF,
			existing: []Record{txt("example.com", "google-site-verification=1")}, list: "applied",
			after: []string{"google-site-verification=1", "v=spf1 include:" + include + " ~all"}},
		"spf at a flattened apex": {want: wantSPF, existing: []Record{cname("example.com", "shop.test")},
			list: "applied", after: []string{"v=spf1 include:" + include + " ~all"}},
		"spf, merged": {want: wantSPF, existing: []Record{txt("example.com", "v=spf1 mx -all"),
			txt("example.com", "other")}, list: "applied",
			after: []string{"other", "v=spf1 mx include:" + include + " -all"}},
		"spf, the include exists": {want: wantSPF,
			existing: []Record{txt("example.com", "V=SPF1 +Include:"+strings.ToUpper(include)+". -all")},
			list:     "unchanged", after: []string{"V=SPF1 +Include:" + strings.ToUpper(include) + ". -all"}},
		"spf, the include fails": {want: wantSPF,
			existing: []Record{txt("example.com", "v=spf1 ?include:"+include+" -all")}, list: "conflicts",
			after: []string{"v=spf1 ?include:" + include + " -all"}, reason: "Remove the qualifier"},
		"spf, the include is ignored": {want: wantSPF,
			existing: []Record{txt("example.com", "v=spf1 -all include:"+include)}, list: "conflicts",
			after: []string{"v=spf1 -all include:" + include}, reason: "before the all term"},
		"spf, several": {want: wantSPF, existing: []Record{txt("example.com", "v=spf1 mx -all"),
			txt("example.com", "v=spf1 a -all")}, list: "conflicts", after: []string{"v=spf1 a -all", "v=spf1 mx -all"},
			reason: "2 SPF records"},
		"spf, one listed twice": {want: wantSPF, existing: []Record{txt("example.com", "v=spf1 -all"),
			txt("example.com", "v=spf1 -all")}, list: "applied",
			after: []string{"v=spf1 include:" + include + " -all"}},
		"spf, a redirect": {want: wantSPF,
			existing: []Record{txt("example.com", "v=spf1 redirect=_spf.x.test")}, list: "applied",
			after: []string{"v=spf1 include:" + include + " redirect=_spf.x.test"}},
		"spf, no end": {want: wantSPF, existing: []Record{txt("example.com", "v=spf1 a")},
			list: "applied", after: []string{"v=spf1 a include:" + include}},
		"spf, empty": {want: wantSPF, existing: []Record{txt("example.com", "v=spf1")},
			list: "applied", after: []string{"v=spf1 include:" + include}},
		"spf, long": {want: wantSPF, existing: []Record{txt("example.com", long)}, list: "applied",
			after: []string{strings.TrimSuffix(long, "-all") + "include:" + include + " -all"}},
		"spf, ten look-ups already": {want: wantSPF,
			existing: []Record{txt("example.com",
				"v=spf1 a mx ptr exists:x a:b mx:c include:d include:e include:f include:g -all")}, list: "conflicts",
			after:  []string{"v=spf1 a mx ptr exists:x a:b mx:c include:d include:e include:f include:g -all"},
			reason: "ten DNS look-ups"},
		"spf, nine look-ups": {want: wantSPF,
			existing: []Record{txt("example.com",
				"v=spf1 a mx ptr exists:x a:b mx:c include:d include:e include:f ip4:192.0.2.1 -all")}, list: "applied",
			after: []string{"v=spf1 a mx ptr exists:x a:b mx:c include:d include:e include:f ip4:192.0.2.1 include:" +
				include + " -all"}},
		"spf, escapes": {want: wantSPF, existing: []Record{txt("example.com", `v=spf1 \195 -all`)},
			list: "conflicts", after: []string{`v=spf1 \195 -all`}, reason: "by hand"},
		"spf, a longer version": {want: wantSPF, existing: []Record{txt("example.com", "v=spf10 -all")},
			list: "applied", after: []string{"v=spf1 include:" + include + " ~all", "v=spf10 -all"}},
		"dmarc, none": {want: wantDMARC, existing: []Record{txt("_dmarc.example.com", "other")},
			list: "applied", after: []string{"other", "v=DMARC1; p=none;"}},
		"dmarc, stricter": {want: wantDMARC,
			existing: []Record{txt("_dmarc.example.com", "v = dmarc1;p=reject")}, list: "unchanged",
			after: []string{"v = dmarc1;p=reject"}},
		"TLS reporting, the owner's": {want: wantTLS,
			existing: []Record{txt(wantTLS.Name, "v=TLSRPTv1;rua=mailto:own@example.com")},
			list:     "unchanged", after: []string{"v=TLSRPTv1;rua=mailto:own@example.com"}},
		"TLS reporting, none": {want: wantTLS, existing: []Record{txt(wantTLS.Name, "v=DMARC1; p=none")},
			list: "applied", after: []string{"v=DMARC1; p=none", wantTLS.Value}},
		"dmarc, kept elsewhere": {want: wantDMARC, existing: []Record{cname("_dmarc.example.com", "x.test")},
			list: "unchanged", after: []string{"CNAME x.test"}},
		"mx, none": {want: wantMX, list: "applied", after: []string{"10 in.postrider.test"}},
		"mx, ours with another priority": {want: wantMX, existing: []Record{mx("example.com", 5, "in.postrider.test")},
			list: "unchanged", after: []string{"5 in.postrider.test"}},
		"mx, others": {want: wantMX, existing: []Record{mx("example.com", 1, "mx.google.test")},
			list: "conflicts", after: []string{"1 mx.google.test"},
			reason: "another MX record already (1 mx.google.test)"},
		"mx, next to others": {want: wantMX, existing: []Record{mx("example.com", 1, "mx.google.test"),
			mx("example.com", 10, "in.postrider.test")}, list: "conflicts",
			after: []string{"1 mx.google.test", "10 in.postrider.test"}, reason: "another"},
		"mx, null": {want: wantMX, existing: []Record{mx("example.com", 0, "")},
			list: "conflicts", after: []string{"0 "}, reason: "another"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compare("Example.com.", []Wanted{c.want}, c.existing)
			lists := map[string][]Item{"applied": p.Applied, "unchanged": p.Unchanged, "conflicts": p.Conflicts}
			got := lists[c.list]
			if len(got) != 1 || len(p.Applied)+len(p.Unchanged)+len(p.Conflicts) != 1 {
				t.Fatalf("want the record in %s: %+v", c.list, p)
			}
			if diff := cmp.Diff(c.after, got[0].After); diff != "" {
				t.Errorf("got the record %s after the change", diff)
			}
			if (c.reason == "") != (got[0].Reason == "") || !strings.Contains(got[0].Reason, c.reason) {
				t.Errorf("got the reason %q, want %q", got[0].Reason, c.reason)
			}
		})
	}
}

func TestCompareDetectsConflictsWithinPlan(t *testing.T) {
	t.Parallel()
	alias := Wanted{Record: cname("x.example.com", "y.test"), Rule: Alone}
	text := Wanted{Record: txt("x.example.com", "hello")}
	p := Compare("example.com", []Wanted{alias, text}, nil)
	if len(p.Applied) != 1 || len(p.Conflicts) != 1 {
		t.Errorf("the plan for an alias and a text with the same name is %+v, want one applied and one conflict", p)
	}
}

func TestRefuseTurnsChangeIntoConflict(t *testing.T) {
	t.Parallel()
	existing := []Record{txt("example.com", "v=spf1 -all")}
	p := Compare("example.com", []Wanted{wantSPF, wantPath}, existing).Refuse(func(i Item) string {
		if i.Purpose == "spf" {
			return "No."
		}
		return ""
	})
	if len(p.Applied) != 1 || len(p.Conflicts) != 1 {
		t.Fatalf("the plan after a refusal is %+v, want one applied and one conflict", p)
	}
	if c := p.Conflicts[0]; c.Reason != "No." || !cmp.Equal(c.After, []string{"v=spf1 -all"}) ||
		c.Write != wantSPF.Value {
		t.Errorf("the refused item is %+v, want its reason, the unchanged record, and the value %s", c, wantSPF.Value)
	}
}

func TestStringsAreSplitAndJoined(t *testing.T) {
	t.Parallel()
	long := "v=DKIM1; p=" + strings.Repeat("A", 600)
	quoted := quoteStrings(long)
	for part := range strings.SplitSeq(quoted, " \"") {
		if len(strings.Trim(part, `"`)) > maxString {
			t.Errorf("got a string of %d bytes", len(part))
		}
	}
	for in, want := range map[string]string{
		quoted:                    long,
		strings.Trim(quoted, `"`): long, // as returned by libraries that remove the outermost quotes
		long:                      long,
		`"v=spf1 " "-all"`:        "v=spf1 -all",
		`"a\"b\\c"`:               `a"b\c`,
		`say "hi"`:                `say "hi"`,
		`"`:                       `"`,
		"":                        "",
		`""`:                      "",
		`v=DMARC1\; p=none`:       "v=DMARC1; p=none",
	} {
		if got := joinStrings(in); got != want {
			t.Errorf("joining %q returned %q, want %q", in, got, want)
		}
	}
}

func TestRecordsUseTTLOfTheirSet(t *testing.T) {
	t.Parallel()
	r := Record{Type: "TXT", Name: "example.com", Value: "x", TTL: time.Hour}
	beside := []Record{{Type: "TXT", Name: "example.com", Value: "y", TTL: time.Minute},
		{Type: "A", Name: "example.com", TTL: time.Second}}
	for name, c := range map[string]struct {
		style  style
		beside []Record
		want   time.Duration
	}{
		"alone": {style{}, nil, time.Hour}, "joined": {style{}, beside, time.Minute},
		"left to the provider": {style{ownTTL: true}, beside, 0}, "first": {style{ownTTL: true}, nil, time.Hour},
	} {
		if got := c.style.write("example.com.", r, c.beside).RR(); got.TTL != c.want || got.Name != "@" {
			t.Errorf("%s: got %+v, want %s", name, got, c.want)
		}
	}
}
