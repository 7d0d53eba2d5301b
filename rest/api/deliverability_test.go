package api_test

import (
	"context"
	"testing"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/deliverability"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/work/event"
)

// fakeDeliverability has the summary of one domain.
type fakeDeliverability struct{}

func (fakeDeliverability) Summarize(_ context.Context, account, domain string) (deliverability.Summary, error) {
	if account != accountID || domain != domainID {
		return deliverability.Summary{}, fault.NoSuch("domain", domain)
	}
	at := time.Date(2026, 1, 30, 9, 0, 0, 0, time.UTC)
	share := deliverability.Share{Messages: 12, DMARC: 9, DKIM: 8, SPF: 7, Quarantined: 2, Rejected: 1}
	return deliverability.Summary{DomainID: domainID, Domain: "example.com", Since: "2026-01-01", Until: "2026-01-30",
		Grade:  deliverability.Grade{Grade: "poor", Reasons: []string{"alignment"}},
		Totals: share, Receivers: []deliverability.ReceiverShare{{Receiver: "receiver.example", Share: share}},
		Sources: []deliverability.Source{{Address: "192.0.2.25", Share: share, AtRisk: 3}},
		Advice: deliverability.Advice{Verdict: deliverability.VerdictFix, Policy: "none", Days: 20, Messages: 12, AtRisk: 3,
			Reason: "Authenticate the sources that fail first."},
		Requirements: []deliverability.Requirement{{Code: "alignment", Providers: []string{"Gmail"}, Since: "2024-02-01",
			State: deliverability.StateBroken, Found: "75.00 % passes.", Fix: "Sign the mail."}},
		Placement: []deliverability.Placement{{Provider: "Gmail", RecipientDomains: []string{"gmail.com"}, Causes: []deliverability.ReplyCause{{Cause: "block",
			Recipients: 4, Reason: "It distrusts you.", Fix: "Ask it.", Reply: "550 5.7.1 Blocked"}}}},
		Degradations: []deliverability.Degradation{{Since: at, Degradation: event.Degradation{Provider: "Gmail", Problem: "refused",
			Recipients: 100, Affected: 40, PreviousShare: 0.01, Cause: "block", Reason: "It distrusts you.", Fix: "Ask it."}}},
		Blocklists: []deliverability.Listing{{Subject: "192.0.2.25", List: "bl.example", Status: "listed", CheckedAt: at,
			ListedSince: &at, Found: "It is listed.", Fix: "Remove it.", Page: "https://bl.example/"},
			{Subject: "example.com", List: "dbl.example", Status: "clear", CheckedAt: at, Found: "It is not listed."}},
		BIMI: []shape.RecordFinding{{Code: "logo_shape", State: "broken", Found: "It is not square.", Fix: "Make it square."},
			{Code: "dmarc", State: "met", Found: "The policy is p=reject."}},
		FeedbackLoops: []deliverability.FeedbackLoop{{Provider: "Yahoo", Name: "CFL", Complaints: 3, About: "It reports.",
			Fix: "Register.", Page: "https://loop.example/"}},
		Reporting: deliverability.Reporting{Address: "dmarc+t@rp.mail.example.org", Reports: 4,
			Authorization: deliverability.Authorization{Name: "n", Value: "v=DMARC1;", Status: "missing"},
			Refusals:      []deliverability.Refusal{{Reason: "malformed", Messages: 1}}},
		TLS: deliverability.TLSSummary{Reports: 2, TLSSessions: deliverability.TLSSessions{Succeeded: 7, Failed: 3},
			Days: []deliverability.TLSDay{{Day: "2026-01-29", TLSSessions: deliverability.TLSSessions{Succeeded: 7, Failed: 3}}},
			Receivers: []deliverability.TLSReceiver{{Receiver: "receiver.example", Organization: "<b>R</b>",
				TLSSessions: deliverability.TLSSessions{Succeeded: 7, Failed: 3}}},
			Failures: []deliverability.TLSFailure{{Type: "certificate-expired", Policy: "sts", Sessions: 3, Reason: "It expired.",
				Fix: "Renew it."}}},
	}, nil
}

func TestDeliverability(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, key string
		status    int
	}{
		"deliverability":         {domainID, "read", 200},
		"deliverability_unknown": {"dom_01kf0m4w7he6x8q2v5b3n9c1tb", "read", 404},
		"deliverability_scope":   {domainID, "sending", 403},
	} {
		path := "/api/domains/" + c.path + "/deliverability"
		got := newBundleFor(t, path).do(t, request{method: "GET", path: path, key: c.key})
		if got.status != c.status {
			t.Errorf("%s: status %d, want %d: %s", name, got.status, c.status, got.body)
		}
		expect.Golden(t, "answers/"+name+".json", got.body)
	}
}
