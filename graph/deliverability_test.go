package graph

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/deliverability"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/work/event"
)

type fakeDeliverability struct{ *calls }

// SummarizeMany has a summary for each domain of ada but the last one, which was deleted.
func (f fakeDeliverability) SummarizeMany(_ context.Context, accountID string,
	ids ...string) (map[string]deliverability.Summary, error) {
	out := map[string]deliverability.Summary{}
	for _, id := range ids {
		if accountID != ada || id == "dom_002" {
			continue
		}
		share := deliverability.Share{Messages: 1 << 40, DMARC: 9, DKIM: 8, SPF: 7, Quarantined: 2, Rejected: 1}
		sessions := deliverability.TLSSessions{Succeeded: 7, Failed: 3}
		at := day
		out[id] = deliverability.Summary{DomainID: id, Domain: "example.com", Since: "2026-01-01", Until: "2026-01-30",
			Totals: share, Receivers: []deliverability.ReceiverShare{{Receiver: "receiver.example", Share: share}},
			Sources: []deliverability.Source{{Address: "192.0.2.25", Name: "<b>.example", Ours: true, Share: share, AtRisk: 3},
				{Address: "192.0.2.26", Share: share}},
			Advice: deliverability.Advice{Verdict: deliverability.VerdictFix, Policy: "none", Days: 20, Messages: 12, AtRisk: 3,
				Unknown: 4, Reason: "Authenticate the sources first."},
			Grade: deliverability.Grade{Grade: "poor", Reasons: []string{"alignment"}},
			Requirements: []deliverability.Requirement{{Code: "alignment", Providers: []string{"Gmail"}, Since: "2024-02-01",
				State: deliverability.StateBroken, Found: "75.00 % passes.", Fix: "Sign the mail."}},
			Placement: []deliverability.Placement{{Provider: "Gmail", RecipientDomains: []string{"gmail.com"},
				This: statistics.Figures{Recipients: 5, Delivered: 4}, Last: statistics.Figures{Recipients: 2, Bounced: 1}}},
			Degradations: []deliverability.Degradation{{Since: at, Degradation: event.Degradation{Provider: "Gmail",
				Problem: "refused", Recipients: 100, Affected: 40, Cause: "block", Reason: "R.", Fix: "F."}}},
			Blocklists: []deliverability.Listing{{Subject: "192.0.2.25", List: "bl.example", Status: "listed", CheckedAt: at,
				ListedSince: &at, Found: "It is listed.", Fix: "Remove it."}},
			BIMI: []shape.RecordFinding{{Code: "logo_shape", State: "broken", Found: "It is not square.", Fix: "Make it square."},
				{Code: "dmarc", State: "met", Found: "The policy is p=reject."}},
			FeedbackLoops: []deliverability.FeedbackLoop{{Provider: "Yahoo", Name: "CFL", Complaints: 3}},
			Reporting: deliverability.Reporting{Address: "dmarc+t@rp.mail.example.org", Reports: 4, LastReportAt: &at,
				Authorization: deliverability.Authorization{Name: "n", Value: "v=DMARC1;", Status: "missing"},
				Refusals:      []deliverability.Refusal{{Reason: "malformed", Messages: 1}}},
			TLS: deliverability.TLSSummary{Reports: 2, TLSSessions: sessions,
				Days:      []deliverability.TLSDay{{Day: "2026-01-29", TLSSessions: sessions}},
				Receivers: []deliverability.TLSReceiver{{Receiver: "receiver.example", Organization: "R", TLSSessions: sessions}},
				Failures: []deliverability.TLSFailure{{Type: "certificate-expired", Policy: "sts", Sessions: 3,
					Reason: "It expired.", Fix: "Renew it."}}}}
	}
	return out, f.call("deliverability.SummarizeMany")
}

// The domains of a page are summarized once, whatever their number and the number of aliases.
func TestDeliverabilityOfPageIsReadOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	a := s.ask(t, `{ domains(first: 100) { nodes { id deliverability { grade } again: deliverability { tls { failed } } } } }`, nil)
	const want = `{"id":"dom_001","deliverability":{"grade":"poor"},"again":{"tls":{"failed":3}}}`
	if a.status != 200 || len(a.Errors) != 0 || !strings.Contains(a.body, want) ||
		!strings.Contains(a.body, `{"id":"dom_002","deliverability":null,"again":null}`) {
		t.Errorf("got status %d and %s, want %s, and null for a deleted domain", a.status, a.body, want)
	}
	if n := s.calls.counted()["deliverability.SummarizeMany"]; n != 1 {
		t.Errorf("the service was called %d times, want once", n)
	}
}

// Without the module, the field is unknown.
func TestDeliverabilityWithoutModule(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{on: []string{"accounts", "domains", "sending"}})
	if a := s.ask(t, `{ domain(id: "dom_001") { deliverability { grade } } }`, nil); a.status != 400 ||
		!strings.Contains(a.message(), fmt.Sprintf("Cannot query field %q", "deliverability")) {
		t.Errorf("got status %d and %s", a.status, a.body)
	}
}

// A key that cannot read domains cannot read their deliverability.
func TestDeliverabilityRequiresRead(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	const query = `{ domains(first: 1) { nodes { deliverability { grade } } } }`
	if a := s.askAs(t, "svc_sending", query, nil); a.codes() != "insufficient_scope" {
		t.Errorf("a sending key got %s", a.body)
	}
	if a := s.askAs(t, "svc_bob", query, nil); strings.Contains(a.body, "poor") || len(a.Errors) != 0 {
		t.Errorf("another account got %s", a.body)
	}
	if n := s.calls.counted()["deliverability.SummarizeMany"]; n != 1 {
		t.Errorf("the service was called %d times, want once, for bob", n)
	}
}
