package dnscheck

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dkim"
)

func zoneLine(r RecordCheck) string {
	if r.Type == "TXT" {
		return fmt.Sprintf("%s. 300 IN TXT %s", r.Name, dkim.ZoneText(r.Value))
	}
	return fmt.Sprintf("%s. 300 IN %s %s.", r.Name, r.Type, r.Value)
}

func TestRecordsToPublish(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, name := range []string{"example.com", "mail.xn--bcher-kva.example"} {
		e := testExpectation()
		e.name = name
		for _, r := range e.records() {
			fmt.Fprintf(&got, "%-11s required=%-5t %s\n", r.Purpose, r.Required, zoneLine(r))
		}
	}
	expect.Golden(t, "records.golden", got.String())
}

func TestRecordsOfKeysToPublish(t *testing.T) {
	t.Parallel()
	e := testExpectation()
	e.keys = InOrder([]*ent.DKIMKey{
		{ID: "dkm_4", Selector: "pe1abc", Algorithm: dkimkey.AlgorithmEd25519Sha256, State: dkimkey.StateActive,
			PublicKey: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="},
		{ID: "dkm_3", Selector: "pr1new", Algorithm: dkimkey.AlgorithmRsaSha256, State: dkimkey.StatePending, PublicKey: testKey},
		{ID: "dkm_1", Selector: "pr1old", Algorithm: dkimkey.AlgorithmRsaSha256, State: dkimkey.StateRetired, PublicKey: testKey},
		{ID: "dkm_2", Selector: "pr1now", Algorithm: dkimkey.AlgorithmRsaSha256, State: dkimkey.StateActive, PublicKey: testKey},
	})
	var got []string
	for _, r := range e.records() {
		if r.Purpose == DKIM {
			got = append(got, zoneLine(r))
		}
	}
	want := []string{
		`pr1now._domainkey.example.com. 300 IN TXT "v=DKIM1; k=rsa; p=` + testKey + `"`,
		`pr1new._domainkey.example.com. 300 IN TXT "v=DKIM1; k=rsa; p=` + testKey + `"`,
		`pr1old._domainkey.example.com. 300 IN TXT "v=DKIM1; k=rsa; p=` + testKey + `"`,
		`pe1abc._domainkey.example.com. 300 IN TXT "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestZoneFile(t *testing.T) {
	t.Parallel()
	e := testExpectation()
	e.name, e.inboundHost = "mail.xn--bcher-kva.example", "smtp.postrider.example"
	retired := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	e.keys = []*ent.DKIMKey{
		{Selector: "pr2abc", Algorithm: dkimkey.AlgorithmRsaSha256, State: dkimkey.StateActive, PublicKey: strings.Repeat("A", 392)},
		{Selector: "pr3abc", Algorithm: dkimkey.AlgorithmRsaSha256, State: dkimkey.StatePending, PublicKey: strings.Repeat("B", 392)},
		{Selector: "pr1abc", Algorithm: dkimkey.AlgorithmRsaSha256, State: dkimkey.StateRetired, RetiredAt: &retired, PublicKey: strings.Repeat("C", 392)},
		{Selector: "pe1abc", Algorithm: dkimkey.AlgorithmEd25519Sha256, State: dkimkey.StateActive, PublicKey: strings.Repeat("D", 44)},
	}
	expect.Golden(t, "zone.golden", ZoneFile(&ent.Domain{Name: e.name, Edges: ent.DomainEdges{Keys: e.keys}},
		e.records()))
}
