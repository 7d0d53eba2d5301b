package dnscheck

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
)

const testKey = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA7fJ0"

func testExpectation() Set {
	key := &ent.DKIMKey{Selector: "pr1abc", Algorithm: dkimkey.AlgorithmRsaSha256, State: dkimkey.StateActive,
		PublicKey: testKey}
	return Set{name: "example.com", ownershipToken: "tok3n", keys: []*ent.DKIMKey{key},
		returnPathHost: "rp.postrider.example", ownTarget: "t0ken.rp.postrider.example",
		shownTarget: "rp.postrider.example", spfInclude: "spf.postrider.example"}
}

// comparison is one row of the tables below.
type comparison struct {
	name   string
	found  []string
	want   Status
	advice string // part of the advice
}

func (c comparison) check(t *testing.T, got Observation) {
	t.Helper()
	if got.Status != c.want || got.Unanswered {
		t.Errorf("got the status %s, want %s (%s)", got.Status, c.want, got.Advice)
	}
	if (got.Advice == "") != (c.want == Verified) {
		t.Errorf("a record with the status %s has the advice %q", got.Status, got.Advice)
	}
	if !strings.Contains(got.Advice, c.advice) {
		t.Errorf("the advice %q does not contain %q", got.Advice, c.advice)
	}
	if got.Advice != "" && (!strings.HasSuffix(got.Advice, ".") || strings.ToUpper(got.Advice[:1]) != got.Advice[:1]) {
		t.Errorf("the advice %q is not a sentence", got.Advice)
	}
}

func runComparisons(t *testing.T, compare func(Set, []string) Observation, table []comparison) {
	t.Helper()
	for _, c := range table {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, compare(testExpectation(), c.found))
		})
	}
}

func TestCompareOwnership(t *testing.T) {
	t.Parallel()
	runComparisons(t, compareOwnership, []comparison{
		{"as shown", []string{"postrider-verification=tok3n"}, Verified, ""},
		{"among others", []string{"google-site-verification=x", "postrider-verification=tok3n", "v=spf1 -all"}, Verified, ""},
		{"pasted with quotes and space", []string{` "postrider-verification=tok3n" `}, Verified, ""},
		{"none", nil, Missing, "Publish a TXT record at _service.example.com"},
		{"another account's", []string{"postrider-verification=0ther"}, Mismatch, "Add a TXT record at _service.example.com"},
		{"wildcard answer", []string{"v=spf1 -all"}, Mismatch, "do not match"},
		{"case matters in a token", []string{"postrider-verification=TOK3N"}, Mismatch, ""},
		{"only part of it", []string{"postrider-verification=tok3"}, Mismatch, ""},
	})
}

func TestCompareReturnPath(t *testing.T) {
	t.Parallel()
	runComparisons(t, compareReturnPath, []comparison{
		{"direct", []string{"rp.postrider.example."}, Verified, ""},
		{"without final dot, other case", []string{"RP.Postrider.Example"}, Verified, ""},
		{"through a chain", []string{"a.example.net.", "b.example.net.", "rp.postrider.example."}, Verified, ""},
		{"through its own target", []string{"T0ken.rp.postrider.example.", "rp.postrider.example."}, Verified, ""},
		{"its own target, without the operator's wildcard", []string{"t0ken.rp.postrider.example."}, Mismatch,
			"operator of this mail service: there is no CNAME record at t0ken.rp.postrider.example that points to"},
		{"another's target, without the wildcard", []string{"0ther.rp.postrider.example."}, Mismatch,
			"Point the CNAME record at rp.example.com to rp.postrider.example"},
		{"none", nil, Missing, "Publish a CNAME record at rp.example.com that points to rp.postrider.example"},
		{"elsewhere", []string{"bounces.example.net."}, Mismatch, "it points to bounces.example.net now"},
		{"zone appended by a control panel", []string{"rp.postrider.example.example.com."}, Mismatch, ""},
	})
}

func TestCompareDKIM(t *testing.T) {
	t.Parallel()
	runComparisons(t, compareFirstKey, []comparison{
		{"as shown", []string{"v=DKIM1; k=rsa; p=" + testKey}, Verified, ""},
		{"only the key", []string{"p=" + testKey}, Verified, ""},
		{"tag order and white space", []string{"v=DKIM1 ;p= " + testKey[:20] + " \t" + testKey[20:] + " ; k = rsa;"}, Verified, ""},
		{"final semicolon and notes", []string{"v=DKIM1;k=rsa;n=our key;t=y:s;p=" + testKey + ";"}, Verified, ""},
		{"hash and service lists", []string{"v=DKIM1; h=sha1:sha256; s=*; p=" + testKey}, Verified, ""},
		{"quotes pasted", []string{`"v=DKIM1; k=rsa; p=` + testKey + `"`}, Verified, ""},
		{"none", nil, Missing, "Publish a TXT record at pr1abc._domainkey.example.com"},
		{"another key", []string{"v=DKIM1; k=rsa; p=" + strings.Replace(testKey, "7fJ0", "7fJ1", 1)}, Mismatch, "another key, or was truncated"},
		{"cut off", []string{"v=DKIM1; k=rsa; p=" + testKey[:24]}, Mismatch, "truncated"},
		{"key in other case", []string{"v=DKIM1; k=rsa; p=" + strings.ToLower(testKey)}, Mismatch, "another key"},
		{"revoked", []string{"v=DKIM1; p="}, Mismatch, "revoked"},
		{"no p tag", []string{"v=DKIM1; k=rsa"}, Mismatch, "no p= tag"},
		{"wrong type", []string{"v=DKIM1; k=ed25519; p=" + testKey}, Mismatch, "k=rsa"},
		{"wrong version", []string{"v=DKIM2; p=" + testKey}, Mismatch, "v=DKIM1"},
		{"version not first", []string{"p=" + testKey + "; v=DKIM1"}, Mismatch, "not the first tag"},
		{"sha1 only", []string{"v=DKIM1; h=sha1; p=" + testKey}, Mismatch, "sha256"},
		{"not for email", []string{"v=DKIM1; s=tlsrpt; p=" + testKey}, Mismatch, "email"},
		{"tag twice", []string{"v=DKIM1; p=" + testKey + "; p=" + testKey}, Mismatch, "occurs twice"},
		{"not a key record", []string{"hello there"}, Mismatch, "not a key record"},
		{"two records", []string{"v=DKIM1; p=" + testKey, "v=DKIM1; p=AAAA"}, Mismatch, "Keep only one TXT record"},
	})
}

func compareFirstKey(e Set, found []string) Observation {
	return compareDKIM(e, e.keys[0], found)
}

func TestCompareEd25519(t *testing.T) {
	t.Parallel()
	const p = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
	key := &ent.DKIMKey{Selector: "pe1abc", Algorithm: dkimkey.AlgorithmEd25519Sha256, State: dkimkey.StatePending,
		PublicKey: p}
	compare := func(e Set, found []string) Observation { return compareDKIM(e, key, found) }
	runComparisons(t, compare, []comparison{
		{"as shown", []string{"v=DKIM1; k=ed25519; p=" + p}, Verified, ""},
		{"no padding", []string{"v=DKIM1; k=ed25519; p=" + strings.TrimRight(p, "=")}, Verified, ""},
		{"none", nil, Missing, "signs as soon as a check finds the record"},
		{"no key type, which means RSA", []string{"v=DKIM1; p=" + p}, Mismatch, "Add k=ed25519"},
		{"another key type", []string{"v=DKIM1; k=rsa; p=" + p}, Mismatch, "Change k=rsa to k=ed25519"},
		{"another key", []string{"v=DKIM1; k=ed25519; p=" + testKey}, Mismatch, "Replace the key"},
	})
	retired := time.Date(2026, 1, 10, 23, 0, 0, 0, time.UTC)
	gone := &ent.DKIMKey{Selector: "pe1abc", Algorithm: key.Algorithm, State: dkimkey.StateRetired, PublicKey: p,
		RetiredAt: &retired}
	runComparisons(t, func(e Set, found []string) Observation { return compareDKIM(e, gone, found) }, []comparison{
		{"retired, still there", []string{"v=DKIM1; k=ed25519; p=" + p}, Verified, ""},
		{"retired and gone", nil, Missing, "until 2026-01-17"},
		{"retired and replaced", []string{"v=DKIM1; p="}, Mismatch, "until 2026-01-17"},
	})
}

func TestCompareDMARC(t *testing.T) {
	t.Parallel()
	runComparisons(t, compareDMARC, []comparison{
		{"as shown", []string{"v=DMARC1; p=none;"}, Verified, ""},
		{"stricter, with reports", []string{"v=DMARC1;p=reject; rua=mailto:d@example.com"}, Verified, ""},
		{"next to another value", []string{"hello", "v=DMARC1; p=quarantine"}, Verified, ""},
		{"none", nil, Missing, "not required"},
		{"wildcard answer", []string{"v=spf1 -all"}, Mismatch, "begin with"},
		{"two", []string{"v=DMARC1; p=none", "v=DMARC1; p=reject"}, Mismatch, "Keep only one"},
		{"no policy", []string{"v=DMARC1; rua=mailto:d@example.com"}, Mismatch, "Set p="},
		{"bad policy", []string{"v=DMARC1; p=maybe"}, Mismatch, "Set p="},
		{"broken", []string{"v=DMARC1; p"}, Mismatch, "Correct the DMARC record"},
	})
}

func TestCompareTLSReports(t *testing.T) {
	t.Parallel()
	runComparisons(t, compareTLSReports, []comparison{
		{"as shown", []string{"v=TLSRPTv1; rua=mailto:d@example.com"}, Verified, ""},
		{"elsewhere, twice", []string{"v=TLSRPTv1;rua=https://tls.example/r,mailto:d@example.com;"}, Verified, ""},
		{"next to another value", []string{"hello", "v=TLSRPTv1; rua=mailto:d@example.com"}, Verified, ""},
		{"none", nil, Missing, "optional"},
		{"wildcard answer", []string{"v=spf1 -all"}, Mismatch, "begin with"},
		{"two", []string{"v=TLSRPTv1; rua=mailto:a@example.com", "v=TLSRPTv1; rua=mailto:b@example.com"}, Mismatch, "Keep only one"},
		{"no address", []string{"v=TLSRPTv1;"}, Mismatch, "Add an address"},
		{"another scheme", []string{"v=TLSRPTv1; rua=ftp://example.com"}, Mismatch, "Add an address"},
	})
}

func TestCompareMX(t *testing.T) {
	t.Parallel()
	e := testExpectation()
	e.inboundHost = "smtp.postrider.example"
	for _, c := range []struct {
		name  string
		found []*net.MX
		want  Status
		says  string
	}{
		{"as shown", []*net.MX{{Host: "smtp.postrider.example.", Pref: 10}}, Verified, ""},
		{"case", []*net.MX{{Host: "SMTP.Postrider.Example.", Pref: 0}}, Verified, ""},
		{"before others", []*net.MX{{Host: "mx.example.net.", Pref: 20}, {Host: "smtp.postrider.example.", Pref: 10}}, Verified, ""},
		{"none", nil, Missing, "Publish an MX record at example.com with preference 10"},
		{"elsewhere", []*net.MX{{Host: "mx.example.net.", Pref: 10}}, Mismatch, "it points to mx.example.net now"},
		{"after another", []*net.MX{{Host: "mx.example.net.", Pref: 5}, {Host: "smtp.postrider.example.", Pref: 10}}, Mismatch, "mx.example.net has 5"},
		{"next to another", []*net.MX{{Host: "mx.example.net.", Pref: 10}, {Host: "smtp.postrider.example.", Pref: 10}}, Mismatch, "receives mail first"},
		{"null", []*net.MX{{Host: ".", Pref: 0}}, Mismatch, "null MX"},
	} {
		got := compareMX(e, c.found)
		if got.Status != c.want || !strings.Contains(got.Advice, c.says) ||
			(got.Advice == "") != (c.want == Verified) || len(got.Found) != len(c.found) {
			t.Errorf("%s: got %+v, want %s with advice that contains %q", c.name, got, c.want, c.says)
		}
	}
}
