package deliverability

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/modules/statistics/store"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/event"
)

// publisher collects published events.
type publisher struct {
	mu     sync.Mutex
	events []event.Degradation
	wrong  []string
}

func (p *publisher) Publish(_ context.Context, _ db.Execer, facts ...event.Fact) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range facts {
		var d event.Degradation
		if err := json.Unmarshal(f.Data, &d); err != nil {
			return err
		}
		p.events = append(p.events, d)
		if f.Type != event.DomainDeliverabilityDegraded || f.SubjectID != d.DomainID {
			p.wrong = append(p.wrong, string(f.Type)+" of "+f.SubjectID)
		}
	}
	return nil
}

func (*publisher) Wake() {}

// horizon is the time before which every event was counted.
type horizon struct{ at time.Time }

func (h horizon) Horizon(context.Context) (time.Time, error) { return h.at, nil }

// mailer adds outcomes of mail to the statistics, and the replies to the event log.
type mailer struct {
	*world
	*publisher

	now time.Time
	n   int
}

func newMailer(t *testing.T) *mailer {
	t.Helper()
	m := &mailer{world: newWorld(t), publisher: &publisher{}}
	var err error
	m.now, err = db.Now(t.Context(), m.db.SQL)
	check(t, err)
	m.Service.statistics = statistics.New(statistics.Params{DB: m.db, Facts: horizon{m.now}, Logger: slog.New(slog.DiscardHandler)})
	m.Service.publisher = m.publisher
	return m
}

// count adds outcomes of the mail of ada's domain to the statistics.
func (m *mailer) count(t *testing.T, kind, recipientDomain string, at time.Time, count int64) {
	t.Helper()
	r := rollup.New()
	r.Add(&rollup.Facts{AccountID: m.ada, Type: kind, At: [rollup.Placements]time.Time{at, at}, Count: count,
		By: rollup.By{DomainID: m.domain.ID}, Named: true, Domain: recipientDomain, Recipients: 1,
		Destinations: []string{recipientDomain}, Bin: -1})
	check(t, m.db.InTx(t.Context(), func(tx *ent.Tx) error { return store.Apply(t.Context(), tx, store.Days, r) }))
}

// answer adds an email whose recipient got a reply of a class.
func (m *mailer) answer(t *testing.T, kind, recipient, class, reply string) {
	t.Helper()
	m.n++
	mail, domain := id.New(id.Email), recipient[slices.Index([]byte(recipient), '@')+1:]
	dbtest.Exec(t, m.db, `INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", subject, message_id, status, last_event, unsubscribe)
		VALUES ($1, $2, $3, 'a@example.com', 'a@example.com', '[]', 's', $1, 'sent', 'email.sent', $4)`, mail, m.ada, m.domain.ID, m.n%2 == 0)
	dbtest.Exec(t, m.db, `INSERT INTO recipients (email_id, account_id, kind, address, destination, state) VALUES ($1, $2, 'to', $3, $4, 'deferred')`,
		mail, m.ada, recipient, domain)
	dbtest.Exec(t, m.db, `INSERT INTO attempts (recipient_id, email_id, account_id, number, fence, started_at, class, reply)
		SELECT id, email_id, account_id, 1, 1, now(), $2, $3 FROM recipients WHERE email_id = $1`, mail, class, reply)
	dbtest.Exec(t, m.db, `INSERT INTO facts (id, account_id, type, subject_id, data, created_at) VALUES ($1, $2, $3, $4, jsonb_build_object('recipient', $5::text), now())`,
		id.New(id.Fact), m.ada, kind, mail, recipient)
}

// check runs the check like three processes, and compares the published events.
func (m *mailer) check(t *testing.T, what string, want ...string) {
	t.Helper()
	dbtest.Exec(t, m.db, `UPDATE deliverability_turns SET due_at = now()`)
	m.watch(t)
	var got []string
	for _, e := range m.events {
		got = append(got, fmt.Sprintf("%s %s %d/%d %.2f after %.2f %s %q", e.Provider, e.Problem, e.Affected, e.Recipients,
			e.Share, e.PreviousShare, e.Cause, e.Reply))
		if e.DomainID != m.domain.ID || e.Name != "example.com" || e.Reason == "" || e.Fix == "" {
			t.Errorf("%s: the event %+v lacks the domain, the reason or the fix", what, e)
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) || len(m.wrong) > 0 {
		t.Errorf("%s: published %q %q, want %q", what, got, m.wrong, want)
	}
	m.events = nil
}

func (m *mailer) watch(t *testing.T) {
	t.Helper()
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			if err := m.WatchProviders(t.Context()); err != nil {
				t.Errorf("the check failed: %v", err)
			}
		})
	}
	wait.Wait()
}

// earlierToday returns a time of the current day (UTC), also in its first hour.
func (m *mailer) earlierToday() time.Time {
	midnight, hourAgo := m.now.UTC().Truncate(24*time.Hour), m.now.Add(-time.Hour)
	if hourAgo.Before(midnight) {
		return midnight
	}
	return hourAgo
}

// A provider that starts to refuse or defer the mail of a domain is reported once, by one process, and again after it
// has recovered.
func TestReportsDegradedProvidersOnce(t *testing.T) {
	t.Parallel()
	m := newMailer(t)
	today, before := m.earlierToday(), m.now.Add(-4*24*time.Hour)
	m.count(t, "email.sent", "gmail.com", before, 1000)
	m.count(t, "email.delivered", "gmail.com", before, 1000)
	m.count(t, "email.sent", "gmail.com", today, 3)
	m.count(t, "email.failed", "gmail.com", today, 3)
	m.answer(t, "email.failed", "bob@gmail.com", "block", "550 5.7.1 Blocked, bob@gmail.com")
	m.check(t, "three refused mails")

	m.count(t, "email.sent", "gmail.com", today, 197)
	m.count(t, "email.failed", "googlemail.com", today, 37)
	m.check(t, "a fifth is refused", `Gmail refused 41/200 0.20 after 0.00 block "550 5.7.1 Blocked, …"`)
	m.check(t, "again")
	m.watch(t)
	if len(m.events) != 0 {
		t.Errorf("a check that is not due published %v", m.events)
	}

	for range 10 {
		m.answer(t, "email.delivery_delayed", "eve.smith@yahoo.de", "throttle", "421 Too much mail for Eve Smith")
	}
	m.count(t, "email.sent", "yahoo.de", today, 100)
	m.count(t, "email.delivery_delayed", "yahoo.de", today, 60)
	m.check(t, "Yahoo defers without a history", `Yahoo deferred 70/100 0.70 after 0.00 throttle "421"`)

	m.count(t, "email.sent", "gmail.com", today, 50_000)
	m.check(t, "Gmail has recovered within a day")
	m.count(t, "email.failed", "gmail.com", today, 5_000)
	m.check(t, "Gmail refuses again on the same day")
	dbtest.Exec(t, m.db, `UPDATE degraded_providers SET created_at = created_at - interval '25 hours'`)
	m.check(t, "Gmail still refuses a day later")
	m.count(t, "email.sent", "gmail.com", today, 500_000)
	m.check(t, "Gmail has recovered a day later")
	m.count(t, "email.failed", "gmail.com", today, 50_000)
	m.check(t, "Gmail refuses again after it has recovered",
		`Gmail refused 55041/550200 0.10 after 0.00 block "550 5.7.1 Blocked, …"`)

	all, err := m.Summarize(t.Context(), m.ada, m.domain.ID)
	check(t, err)
	if d := all.Degradations; len(d) != 2 || d[0].Provider != "Gmail" || d[1].Provider != "Yahoo" || d[0].Since.IsZero() {
		t.Errorf("the summary lists %+v, want Gmail, then Yahoo", d)
	}
}

// Problems that say nothing about the sender are not reported, nor those that existed in the week before.
func TestIgnoresProblemsOfOthers(t *testing.T) {
	t.Parallel()
	m := newMailer(t)
	today, before := m.earlierToday(), m.now.Add(-4*24*time.Hour)
	for domain, class := range map[string]string{"grey.example": "greylist", "down.example": "system", "slow.example": "throttle"} {
		m.count(t, "email.sent", domain, today, 100)
		m.count(t, "email.delivery_delayed", domain, today, 90)
		m.answer(t, "email.delivery_delayed", "bob@"+domain, class, "451 later")
	}
	m.count(t, "email.sent", "slow.example", before, 1000)
	m.count(t, "email.delivery_delayed", "slow.example", before, 500)
	m.count(t, "email.sent", "silent.example", today, 100)
	m.count(t, "email.failed", "silent.example", today, 90)
	m.count(t, "email.sent", "strange.example", today, 100)
	m.count(t, "email.failed", "strange.example", today, 90)
	m.answer(t, "email.failed", "bob@strange.example", "bad_address", "550 no such user")
	m.check(t, "greylisting, an outage, an old problem, no replies, unknown addresses")
}
