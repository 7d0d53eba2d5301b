package deliverability

import (
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/modules/statistics/store"
)

// The placement adds up the domains of a provider. It has the median delivery time of both weeks, and the replies of
// each provider grouped by cause, in its words but without addresses.
func TestPlacementExplainsOutcomes(t *testing.T) {
	t.Parallel()
	m := newMailer(t)
	today, before := m.now.Add(-time.Hour), m.now.Add(-9*24*time.Hour)
	m.count(t, "email.sent", "gmail.com", today, 100)
	m.count(t, "email.sent", "googlemail.com", today, 30)
	m.count(t, "email.sent", "googlemail.com", before, 7)
	m.count(t, "email.failed", "gmail.com", today, 4)
	m.count(t, "email.sent", "quiet.example", today, 10)
	for bin, at := range map[int]time.Time{8: today, 30: before} {
		r := rollup.New()
		r.Add(&rollup.Facts{AccountID: m.ada, Type: "email.delivered", At: [rollup.Placements]time.Time{at, at}, Count: 50,
			By: rollup.By{DomainID: m.domain.ID}, Named: true, Domain: "gmail.com", Recipients: 1, Destinations: []string{"gmail.com"}, Bin: bin})
		check(t, m.db.InTx(t.Context(), func(tx *ent.Tx) error { return store.Apply(t.Context(), tx, store.Days, r) }))
	}
	m.answer(t, "email.failed", "bob@gmail.com", "block", "550 5.7.1 Blocked, bob@gmail.com")
	for range 3 {
		m.answer(t, "email.delivery_delayed", "eve@gmail.com", "throttle", "421 4.7.28 Unusual rate")
	}
	m.answer(t, "email.failed", "carol@gmail.com", "throttle", "421 4.7.28 Still an unusual rate")
	m.answer(t, "email.failed", "dan@gmail.com", "content", "550 5.7.1 Spam")
	m.answer(t, "email.bounced", "erin@gmail.com", "bad_address", "550 5.1.1 No such user")
	m.answer(t, "email.bounced", "gone@gmail.com", "bad_address", "550 5.1.1 No such user")
	m.answer(t, "email.bounced", "frank@googlemail.com", "bad_address", "550 5.1.1 No such user")
	m.answer(t, "email.failed", "zoe@other.example", "block", "550 elsewhere")
	got, err := m.Summarize(t.Context(), m.ada, m.domain.ID)
	check(t, err)
	if len(got.Placement) != 3 || got.Placement[0].Provider != "Gmail" || len(got.Placement[1].Causes) != 0 {
		t.Fatalf("the placement is %+v", got.Placement)
	}
	p := got.Placement[0]
	if strings.Join(p.RecipientDomains, " ") != "gmail.com googlemail.com" || p.This.Recipients != 130 || p.Last.Recipients != 7 {
		t.Errorf("Gmail has %d and %d recipients at %q, want 130 and 7 at both domains", p.This.Recipients, p.Last.Recipients,
			p.RecipientDomains)
	}
	now, known := p.This.LatencyWithin(0.5)
	last, knownBefore := p.Last.LatencyWithin(0.5)
	if !known || !knownBefore || now <= 0 || last <= now {
		t.Errorf("the medians are %s and %s, want both, and that of the week before larger", now, last)
	}
	var causes []string
	for _, c := range p.Causes {
		causes = append(causes, c.Cause+": "+c.Reply)
		if c.Reason == "" || c.Fix == "" {
			t.Errorf("the cause %+v lacks the reason or the fix", c)
		}
	}
	const want = "bad_address: 550 5.1.1 No such user|throttle: 421 4.7.28 Still an unusual rate|block: 550 5.7.1 Blocked, …"
	if strings.Join(causes, "|") != want || p.Causes[0].Recipients != 3 || p.Causes[1].Recipients != 2 {
		t.Errorf("the causes are %q (%+v), want %q", causes, p.Causes, want)
	}
	many, err := m.SummarizeMany(t.Context(), m.ada, m.domain.ID)
	check(t, err)
	if causes := many[m.domain.ID].Placement[0].Causes; causes != nil {
		t.Errorf("the summary of several domains reads the replies %+v", causes)
	}
}
