package publish

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/ops/dnsprovider"
)

// example returns a domain with an active and a pending key.
func example() *ent.Domain {
	return &ent.Domain{Name: "example.com", OwnershipToken: "tok3n", Edges: ent.DomainEdges{Keys: []*ent.DKIMKey{
		{Selector: "pr1abc", Algorithm: dkimkey.AlgorithmRsaSha256, State: dkimkey.StateActive, PublicKey: "MIIB"},
		{Selector: "pr2abc", Algorithm: dkimkey.AlgorithmRsaSha256, State: dkimkey.StatePending, PublicKey: "MIIC"},
	}}}
}

func expected(d *ent.Domain) dnscheck.Set {
	return dnscheck.NewSet(d, dnscheck.Hosts{ReturnPath: "rp.postrider.example", SPFInclude: "spf.postrider.example"})
}

// Every record has a rule, and the records of both keys are published during a rotation.
func TestEveryRecordIsPublished(t *testing.T) {
	t.Parallel()
	d := example()
	records := expected(d).RecordChecks(d)
	rules := wantedRecords(records, expected(d).SPFInclude())
	plan := dnsprovider.Compare("example.com", rules, nil)
	shown := changes(records, plan.Applied)
	if len(rules) != len(records) || len(shown) != len(records) {
		t.Fatalf("got %d records, %d wanted and %d shown", len(records), len(rules), len(shown))
	}
	for i, c := range shown {
		if c.Purpose != records[i].Purpose || c.Name != records[i].Name || !cmp.Equal(c.After, []string{c.Write}) {
			t.Errorf("the change of %s is %+v, want only the record itself afterwards", records[i].Purpose, c)
		}
	}
}

// The includes of a merged record may use up the lookups; an unanswered lookup
// is not an objection.
// A chosen DMARC record is the only one that is written, and must be valid.
func TestChosenPolicyIsPublishedAlone(t *testing.T) {
	t.Parallel()
	d := example()
	wanted := wantedRecords(expected(d).RecordChecks(d), expected(d).SPFInclude())
	const record = "v=DMARC1; p=quarantine; rua=mailto:dmarc@example.com"
	got := chosenPolicy(wanted, record)
	if len(got) != 1 || got[0].Name != "_dmarc.example.com" || got[0].Value != record || got[0].Rule != dnsprovider.ReplacePolicy {
		t.Errorf("got %+v, want only the DMARC record, as a replacement", got)
	}
	for text, reason := range map[string]string{
		record: "", "p=reject": "must begin with", "v=DMARC1; p=all": "p=none, p=quarantine or p=reject", "v=DMARC1; rua=x": "p=none",
		"v=DMARC1; p=none\nx": "ASCII", `v=DMARC1; p=none; x="`: "ASCII", "v=DMARC1; p=none; rua=" + strings.Repeat("a", 1000): "1000 characters",
	} {
		in := ApplyInput{Provider: "gandi", Credentials: ProviderCredentials{}, DMARC: text}
		in.Credentials.Set("bearer_token", "abcdefgh")
		wrong := in.Validate()["dmarc_record"]
		if said := fmt.Sprint(wrong); (len(wrong) == 0) != (reason == "") || !strings.Contains(said, reason) {
			t.Errorf("the record %q was refused with %q, want %q", text, said, reason)
		}
	}
}

func TestMergedSPFIsEvaluated(t *testing.T) {
	t.Parallel()
	zone := dnsxtest.New(t, `spf.postrider.example. 60 IN TXT "v=spf1 ip4:192.0.2.25 -all"`,
		`rp.postrider.example. 60 IN TXT "v=spf1 include:spf.postrider.example -all"`)
	resolver, err := dnsx.New(dnsx.Config{Server: zone.Addr(), Timeout: 5 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{checker: dnscheck.Checker{DNS: resolver.WithoutCache(), Within: 5 * time.Second}}
	d := example()
	e := expected(d)
	for n := range 11 {
		zone.Add(t, fmt.Sprintf("i%d.example.net. 60 IN TXT \"v=spf1 include:i%d.example.net -all\"", n, n+1))
	}
	zone.Add(t, `flat.example.net. 60 IN TXT "v=spf1 ip4:192.0.2.1 -all"`)
	for include, want := range map[string]string{"i0.example.net": "more than 10 lookups", "flat.example.net": ""} {
		there := dnsprovider.Record{Type: "TXT", Name: "example.com", Value: "v=spf1 include:" + include + " -all"}
		plan := dnsprovider.Compare("example.com", wantedRecords(e.RecordChecks(d), e.SPFInclude()),
			[]dnsprovider.Record{there}).
			Refuse(func(i dnsprovider.Item) string { return s.doubtSPF(t.Context(), e, i) })
		var reason strings.Builder
		for _, c := range plan.Conflicts {
			reason.WriteString(c.Reason)
		}
		if (want == "") != (reason.String() == "") || !strings.Contains(reason.String(), want) {
			t.Errorf("including %s was rejected with %q, want %q", include, reason.String(), want)
		}
	}
}
