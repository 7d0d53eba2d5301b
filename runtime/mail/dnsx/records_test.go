package dnsx_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func resolver(t *testing.T, s *dnsxtest.Server, shape ...func(*dnsx.Config)) *dnsx.Resolver {
	t.Helper()
	cfg := dnsx.Config{Server: s.Addr(), Timeout: 5 * time.Second, Rounds: 1}
	for _, f := range shape {
		f(&cfg)
	}
	r, err := dnsx.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTXTStringsAreJoinedAndUnescaped(t *testing.T) {
	t.Parallel()
	key := "v=DKIM1; k=rsa; p=" + strings.Repeat("A", 300)
	s := dnsxtest.New(t,
		`sel._domainkey.example.test. 300 IN TXT "`+key[:250]+`" "`+key[250:]+`"`,
		`odd.example.test. 300 IN TXT "a \"quoted\" back\\slash \195\169\009tab"`,
		`odd.example.test. 300 IN TXT "second"`)
	r := resolver(t, s)
	got, err := r.LookupTXT(t.Context(), "SEL._domainkey.Example.TEST")
	if err != nil || len(got) != 1 || got[0] != key {
		t.Errorf("got %q, %v", got, err)
	}
	got, err = r.LookupTXT(t.Context(), "odd.example.test")
	if diff := cmp.Diff([]string{"a \"quoted\" back\\slash é\ttab", "second"}, got); diff != "" || err != nil {
		t.Errorf("LookupTXT of odd.example.test returned error %v, want both texts unescaped; the difference is %s",
			err, diff)
	}
}

func TestMXAreSortedByPreference(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t,
		"example.test. 300 IN MX 20 B.example.test.", "example.test. 300 IN MX 10 a.example.test.",
		"example.test. 300 IN MX 20 c.example.test.", "example.test. 300 IN MX 0 .",
		"null.test. 300 IN MX 0 .")
	r := resolver(t, s)
	first := map[string]bool{}
	for range 50 {
		mx, err := r.LookupMX(t.Context(), "example.test.")
		if err != nil || len(mx) != 3 || mx[0].Host != "a.example.test." || mx[0].Pref != 10 {
			t.Fatalf("got %v, %v", mx, err)
		}
		first[mx[1].Host] = true
	}
	if !first["b.example.test."] || !first["c.example.test."] {
		t.Errorf("hosts of equal preference are never shuffled: %v", first)
	}
	if mx, err := r.LookupMX(t.Context(), "null.test"); err != nil || len(mx) != 1 || mx[0].Host != "." {
		t.Errorf("null MX: %v, %v", mx, err)
	}
}

func TestIPAndNS(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t, "both.test. 300 IN AAAA 2001:db8::1", "both.test. 300 IN A 192.0.2.1",
		"only6.test. 300 IN AAAA 2001:db8::2",
		"zone.test. 300 IN NS ns2.zone.test.", "zone.test. 300 IN NS NS1.zone.test.")
	r := resolver(t, s)
	for name, want := range map[string][]netip.Addr{
		"both.test":  {netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")},
		"only6.test": {netip.MustParseAddr("2001:db8::2")},
	} {
		got, err := r.LookupIP(t.Context(), name)
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" ||
			err != nil {
			t.Errorf("LookupIP of %s returned error %v, want %v; the difference is %s", name, err, want, diff)
		}
	}
	got, err := r.LookupNS(t.Context(), "zone.test")
	if diff := cmp.Diff([]string{"ns1.zone.test.", "ns2.zone.test."}, got); diff != "" || err != nil {
		t.Errorf("LookupNS of zone.test returned error %v, want both servers in order; the difference is %s", err, diff)
	}
}

func TestNamesWithULabelsAreLookedUpByTheirALabels(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t, `_dmarc.xn--bcher-kva.test. 300 IN TXT "v=DMARC1"`)
	got, err := resolver(t, s).LookupTXT(t.Context(), "_dmarc.Bücher.test")
	if err != nil || len(got) != 1 {
		t.Errorf("got %q, %v", got, err)
	}
}
