package dnscheck

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	mox "github.com/mjl-/mox/mtasts"

	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

func testPolicySet(mode domain.MtaSts) Set {
	e := testExpectation()
	e.inboundHost, e.policyTarget, e.mtaSTS = "smtp.postrider.example", "mail.postrider.example", mode
	return e
}

// TestPoliciesAreValid parses policies and records with the library that verifies those of others.
func TestPoliciesAreValid(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for _, e := range []Set{testPolicySet(domain.MtaStsNone), testPolicySet(domain.MtaStsTesting), testPolicySet(domain.MtaStsEnforce)} {
		for _, mx := range []string{e.inboundHost, "smtp2.postrider.example"} {
			e.inboundHost = mx
			policy, err := mox.ParsePolicy(e.mtaSTSPolicy())
			if err != nil || string(policy.Mode) != string(e.mtaSTS) || len(policy.MX) != 1 || policy.MX[0].Domain.ASCII != mx ||
				policy.MX[0].Wildcard || policy.MaxAgeSeconds < 86400 {
				t.Errorf("the policy %q is %+v, %v", e.mtaSTSPolicy(), policy, err)
			}
			record, isSTS, err := mox.ParseRecord(e.mtaSTSValue())
			if err != nil || !isSTS || ids[record.ID] {
				t.Errorf("the record %q is %+v, %v, want one with an id that no other policy has", e.mtaSTSValue(), record, err)
			}
			ids[record.ID] = true
		}
	}
}

func TestCompareMTASTS(t *testing.T) {
	t.Parallel()
	value := testPolicySet(domain.MtaStsTesting).mtaSTSValue()
	compare := func(_ Set, found []string) Observation {
		return compareMTASTS(testPolicySet(domain.MtaStsTesting), found)
	}
	runComparisons(t, compare, []comparison{
		{"as shown", []string{value}, Verified, ""},
		{"other spaces", []string{strings.ReplaceAll(value, " ", "")}, Verified, ""},
		{"next to another value", []string{"hello", value}, Verified, ""},
		{"none", nil, Missing, "after the record mta-sts.example.com"},
		{"wildcard answer", []string{"v=spf1 -all"}, Mismatch, "begin with"},
		{"two", []string{value, value}, Mismatch, "Keep only one"},
		{"of another mode", []string{testPolicySet(domain.MtaStsEnforce).mtaSTSValue()}, Mismatch, "only if the id changes"},
		{"broken", []string{"v=STSv1; id"}, Mismatch, "Correct the MTA-STS record"},
	})
}

func TestPolicyHostIsCheckedToTheEnd(t *testing.T) {
	t.Parallel()
	e := testPolicySet(domain.MtaStsTesting)
	const alias = "mta-sts.example.com. 60 IN CNAME "
	for name, c := range map[string]struct {
		zone   []string
		text   string
		err    error
		status Status
		says   string
		allow  bool // whether the host may have a certificate
	}{
		"good":         {[]string{alias + "mail.postrider.example."}, e.mtaSTSPolicy(), nil, Verified, "", true},
		"two aliases":  {[]string{alias + "sts.example.com.", "sts.example.com. 60 IN CNAME mail.postrider.example."}, e.mtaSTSPolicy(), nil, Verified, "", true},
		"missing":      {nil, "", nil, Missing, "Publish a CNAME record at mta-sts.example.com", false},
		"elsewhere":    {[]string{alias + "example.net."}, "", nil, Mismatch, "it points to example.net now", false},
		"another":      {[]string{alias + "mail.postrider.example."}, "version: STSv1\r\n", nil, Mismatch, "another policy", true},
		"out of reach": {[]string{alias + "mail.postrider.example."}, "", &url.Error{Op: "Get", URL: "https://x/", Err: errors.New("bad certificate\x00")}, Mismatch, "(bad certificate\uFFFD)", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := policyChecker(t, c.zone, nil, func(context.Context, string) (string, error) { return c.text, c.err }).lookPolicyHost(t.Context(), e)
			if o.Status != c.status || !strings.Contains(o.Advice, c.says) || (o.Advice == "") != (c.status == Verified) {
				t.Errorf("got %+v, want %s with %q", o, c.status, c.says)
			}
			if allow := HasPolicyHost(Merge(nil, []Observation{o}), "mail.postrider.example"); allow != c.allow {
				t.Errorf("HasPolicyHost returned %v, want %v", allow, c.allow)
			}
		})
	}
	if HasPolicyHost([]shape.RecordState{{Purpose: "mta_sts", Found: []string{"mail.postrider.example"}}}, "mail.postrider.example") {
		t.Error("HasPolicyHost accepted another record")
	}
}

// While the policy enforces TLS, a backup server or an invalid certificate is reported: senders would not deliver.
func TestEnforcedPolicyIsWatched(t *testing.T) {
	t.Parallel()
	const ours, theirs = "example.com. 60 IN MX 10 smtp.postrider.example.", "example.com. 60 IN MX 20 backup.example.net."
	invalid := &tls.CertificateVerificationError{Err: errors.New("expired")}
	for name, c := range map[string]struct {
		mode domain.MtaSts
		zone []string
		mail error
		says string
	}{
		"fits":                   {domain.MtaStsEnforce, []string{ours}, nil, ""},
		"backup":                 {domain.MtaStsEnforce, []string{ours, theirs}, nil, "Remove the MX record at example.com that points to backup.example.net"},
		"backup while testing":   {domain.MtaStsTesting, []string{ours, theirs}, nil, ""},
		"expired":                {domain.MtaStsEnforce, []string{ours}, fmt.Errorf("tls: %w", invalid), "fixed by the operator"},
		"expired while testing":  {domain.MtaStsTesting, []string{ours}, invalid, ""},
		"cannot reach ourselves": {domain.MtaStsEnforce, []string{ours}, errors.New("no route"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checker := policyChecker(t, c.zone, func(context.Context, string) error { return c.mail }, nil)
			o := checker.lookMX(t.Context(), testPolicySet(c.mode))
			if (o.Status == Verified) != (c.says == "") || !strings.Contains(o.Advice, c.says) {
				t.Errorf("got %+v, want %q", o, c.says)
			}
		})
	}
}

func policyChecker(t *testing.T, zone []string, mail MailHostChecker, policies PolicyFetcher) Checker {
	t.Helper()
	server := dnsxtest.New(t, zone...)
	resolver, err := dnsx.New(dnsx.Config{Server: server.Addr(), Timeout: 5 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	return Checker{DNS: resolver.WithoutCache(), Policies: policies, MailHost: mail, Within: 5 * time.Second}
}

func TestEnforceIsRefusedUnlessMailArrives(t *testing.T) {
	t.Parallel()
	const ours, theirs = "example.com. 60 IN MX 10 smtp.postrider.example.", "example.com. 60 IN MX 20 backup.example.net."
	closed := testPolicySet(domain.MtaStsTesting)
	closed.inboundHost = ""
	for name, c := range map[string]struct {
		e    Set
		zone []string
		mail error
		says string
	}{
		"fits":            {testPolicySet(domain.MtaStsTesting), []string{ours}, nil, ""},
		"no inbound":      {closed, []string{ours}, nil, "inbound_enabled"},
		"no MX":           {testPolicySet(domain.MtaStsTesting), nil, nil, "requires an MX record"},
		"backup":          {testPolicySet(domain.MtaStsTesting), []string{ours, theirs}, nil, "one points to backup.example.net"},
		"bad certificate": {testPolicySet(domain.MtaStsTesting), []string{ours}, errors.New("it has expired"), "at port 25: it has expired"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checker := policyChecker(t, c.zone, func(_ context.Context, host string) error {
				if host != "smtp.postrider.example" {
					t.Errorf("the host %s was checked", host)
				}
				return c.mail
			}, nil)
			if got := checker.RefuseEnforce(t.Context(), c.e); (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
				t.Errorf("got %q, want %q", got, c.says)
			}
		})
	}
}
