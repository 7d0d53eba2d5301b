package faults_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/billing/stripetest"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// meteredServer is a server that bills by usage, and the Stripe double that it reports to.
type meteredServer struct {
	*faults.Server

	t            *testing.T
	stripe       *stripetest.Stripe
	subscription string
	customer     string
	start        time.Time       // the first hour of the emails
	sent         map[int64]int64 // emails by the hour

	mu     sync.Mutex
	atTell func() stripetest.Fault // called at the next reported hour; may be nil
	atSync func() stripetest.Fault // called at the next query of subscriptions
	then   func() stripetest.Fault // if set, replaces the function that was called
}

func newMeteredServer(t *testing.T, emails, hours int) *meteredServer {
	t.Helper()
	s := stripetest.New(t)
	s.Meter()
	s.Plan("pool", 9900, 100, "0.04")
	l := &meteredServer{t: t, stripe: s, sent: map[int64]int64{}}
	s.SetFault(l.fault)
	l.Server = faults.Start(t, dbtest.URL(t), "POSTRIDER_STRIPE_KEY="+stripetest.Key,
		"POSTRIDER_STRIPE_WEBHOOK_SECRET="+stripetest.Secret, "POSTRIDER_STRIPE_URL="+s.URL)
	l.buy()
	ledger := faults.NewLedger()
	const batch = 50
	for n := 0; n < emails; n += batch {
		to := make([]string, batch)
		for i := range to {
			to[i] = fmt.Sprintf("n%d@example.net", n+i)
		}
		if got := ledger.SendBatch(t.Context(), l.Server, to); got.Status != http.StatusOK {
			t.Fatalf("a batch returned %d %s", got.Status, got.Body)
		}
	}
	if err := l.Stop(); err != nil {
		t.Fatal(err)
	}
	l.ageEmails(emails, hours)
	return l
}

func (l *meteredServer) fault(r *http.Request) stripetest.Fault {
	l.mu.Lock()
	at := &l.atTell
	if r.URL.Path != "/v1/billing/meter_events" {
		at = &l.atSync
		if r.URL.Path != "/v1/subscriptions" {
			at = new(func() stripetest.Fault)
		}
	}
	do := *at
	if do != nil {
		*at = l.then
	}
	l.mu.Unlock()
	if do == nil {
		return stripetest.Fault{}
	}
	return do()
}

func (l *meteredServer) hook(tell, sync func() stripetest.Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.atTell, l.atSync = tell, sync
}

// buy makes the owner buy a metered plan.
func (l *meteredServer) buy() {
	l.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		l.t.Fatal(err)
	}
	owner := &http.Client{Jar: jar, Timeout: expect.Patience}
	l.t.Cleanup(owner.CloseIdleConnections)
	post := func(path string, body any, into any) {
		l.t.Helper()
		content, err := json.Marshal(body)
		if err != nil {
			l.t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(l.t.Context(), http.MethodPost, l.BaseURL+path, bytes.NewReader(content))
		if err != nil {
			l.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", l.BaseURL)
		answer, err := owner.Do(r)
		if err != nil {
			l.t.Fatal(err)
		}
		defer answer.Body.Close()
		said, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK || json.Unmarshal(said, into) != nil {
			l.t.Fatalf("%s returned %d %s (%v), want 200 with JSON", path, answer.StatusCode, said, err)
		}
	}
	post("/api/session", map[string]string{"email": l.Owner.Email, "password": l.Owner.Password}, &struct{}{})
	var page struct{ URL string }
	post("/api/billing/checkout", map[string]string{"plan": "pool"}, &page)
	l.subscription = l.stripe.Pay(page.URL)
	l.stripe.Backdate(l.subscription, time.Now().Add(-20*24*time.Hour))
	l.postEvents()
	l.awaitBilled("active")
	l.customer = l.Query(`SELECT customer_id FROM billing_customers`)[0][0]
}

// postEvents posts the events of the double.
func (l *meteredServer) postEvents() {
	l.t.Helper()
	for _, e := range l.stripe.Events() {
		if status, said := stripetest.Post(l.t, l.BaseURL+"/api/billing/stripe", stripetest.Secret, e.Body,
			time.Now()); status != http.StatusOK {
			l.t.Fatalf("posting %s returned %d %s, want 200", e.Type, status, said)
		}
	}
}

// awaitBilled waits until the account has the plan, with the status of its subscription.
func (l *meteredServer) awaitBilled(status string) {
	l.t.Helper()
	var b struct {
		Billing struct {
			Status string
			Plan   struct{ ID string }
		}
	}
	expect.Eventually(l.t, "the account has Pool, and its subscription is "+status, func() bool {
		answer := l.Do(l.t.Context(), http.MethodGet, "/api/billing", "")
		return json.Unmarshal(answer.Body, &b) == nil && b.Billing.Status == status && b.Billing.Plan.ID == "pool"
	})
}

// ageEmails moves sent emails into past hours, including their edges. None of them is counted yet.
func (l *meteredServer) ageEmails(emails, hours int) {
	l.t.Helper()
	facts := l.Query(`SELECT id FROM facts WHERE type = 'email.sent' ORDER BY id`)
	if len(facts) != emails {
		l.t.Fatalf("%d emails were accepted, but there are %d facts about them", emails, len(facts))
	}
	l.start = time.Now().UTC().Truncate(time.Hour).Add(-time.Duration(hours+2) * time.Hour)
	var olds, news []string
	for i, row := range facts {
		hour := l.start.Add(time.Duration(i%hours) * time.Hour)
		at := hour.Add(rand.N(time.Hour))
		switch i / hours % 5 {
		case 0:
			at = hour
		case 1:
			at = hour.Add(time.Hour - time.Millisecond)
		}
		olds, news = append(olds, row[0]), append(news, id.Since(id.Fact, at)[:14]+row[0][14:])
		l.sent[hour.Unix()]++
	}
	l.Query(`UPDATE facts f SET id = m.new FROM unnest($1::text[], $2::text[]) AS m (old, new) WHERE f.id = m.old`, pgArray(olds), pgArray(news))
	l.Query(`DELETE FROM usage_marks`)
	l.Query(`DELETE FROM usage_hours`)
}

func pgArray(list []string) string { return "{" + strings.Join(list, ",") + "}" }

// expireWaits ends every wait and lease.
func (l *meteredServer) expireWaits() {
	l.t.Helper()
	l.Query(`UPDATE usage_reports SET due_at = now() WHERE reported_revision < revision`)
	l.Query(`UPDATE billing_customers SET claimed_until = NULL`)
}

// lock runs a statement in a transaction that stays open, so that the server has to wait for it.
func (l *meteredServer) lock(statement string, args ...any) (release func()) {
	l.t.Helper()
	d, err := sql.Open("postgres", l.Database())
	if err != nil {
		l.t.Error(err)
		return func() {}
	}
	tx, err := d.BeginTx(l.t.Context(), nil)
	if err == nil {
		_, err = tx.ExecContext(l.t.Context(), statement, args...)
	}
	if err != nil {
		l.t.Errorf("the lock of %s: %v", statement, err)
	}
	return func() {
		if err := errors.Join(tx.Rollback(), d.Close()); err != nil {
			l.t.Error(err)
		}
	}
}

// killWaiting kills the server while one of its statements waits for a lock.
func (l *meteredServer) killWaiting(statement string, release func()) {
	l.t.Helper()
	expect.Eventually(l.t, "the server waits in "+statement, func() bool {
		return l.Query(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%' AND pid <> pg_backend_pid()`, statement)[0][0] != "0"
	})
	l.KillNow()
	release()
	l.Kill() // and waits until the database has noticed
}

// killAt kills the server at its next request to the double: before the request takes effect, or after it
// and before the response. If the server gives up waiting before the kill, its request has no effect.
func (l *meteredServer) killAt(hook func(tell func() stripetest.Fault), after stripetest.Fault) {
	l.t.Helper()
	reached, killed := make(chan struct{}), make(chan struct{})
	l.setNextFault(func() stripetest.Fault {
		<-killed
		return stripetest.Fault{Status: http.StatusServiceUnavailable}
	})
	hook(func() stripetest.Fault {
		close(reached)
		<-killed
		return after
	})
	l.Launch()
	select {
	case <-reached:
	case <-time.After(expect.Patience):
		l.t.Fatal("the double received no request")
	}
	l.KillNow()
	l.setNextFault(nil)
	hook(nil)
	close(killed)
	l.Kill()
}

func (l *meteredServer) setNextFault(then func() stripetest.Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.then = then
}

func (l *meteredServer) count(statement string, args ...any) string {
	l.t.Helper()
	return l.Query(statement, args...)[0][0]
}

const open = `SELECT count(*) FROM usage_reports WHERE reported_revision < revision AND fence > 0`

// kill -9 at each step between a sent email and its place on the bill: the payment provider receives for
// each hour exactly the number of emails sent in it.
func TestKillsBetweenEmailAndBill(t *testing.T) { //nolint:paralleltest // needs the machine to itself
	expect.SkipWhenQuick(t, "make drill-short")
	const hours = 8
	emails := lengthOf(200, 5000)
	l := newMeteredServer(t, emails, hours)
	refused := stripetest.Fault{Status: http.StatusServiceUnavailable}
	told := func(f func() stripetest.Fault) { l.hook(f, nil) }
	asked := func(f func() stripetest.Fault) { l.hook(nil, f) }

	// Counting: some hours are counted, one is being written, and the rest has not started.
	middle := l.start.Add(hours / 2 * time.Hour)
	release := l.lock(`INSERT INTO usage_hours (account_id, hour, emails) VALUES ($1, $2, 1)`, l.AccountID, middle)
	l.Launch()
	l.killWaiting("INSERT INTO usage_hours", release)
	if counted, mark := l.count(`SELECT count(*) FROM usage_hours`), l.count(`SELECT hour = $1 FROM usage_marks`,
		middle); counted != fmt.Sprint(hours/2) || mark != "true" {
		t.Errorf("killed while the hour %s was counted: %s hours are counted, mark present: %s; want %d, and the mark",
			middle, counted, mark, hours/2)
	}
	figure(t, "hours counted at the kill while counting", hours/2, "some of 8")

	// Claimed, and not reported.
	l.killAt(told, refused)
	if n := l.count(open); n == "0" || len(l.stripe.Windows(l.customer)) != 0 {
		t.Errorf("killed before the first hour was reported: %s are claimed and %v are reported, want some and none", n,
			l.stripe.Windows(l.customer))
	}
	// Reported, and not recorded.
	l.expireWaits()
	l.killAt(told, stripetest.Fault{})
	expect.Eventually(t, "the reported hour takes effect",
		func() bool { return len(l.stripe.Windows(l.customer)) == 1 })
	recorded := l.count(`SELECT count(*) FROM usage_reports WHERE reported_revision > 0`)
	if n := number(t, l.count(open)); n < hours/2 || recorded != "0" {
		t.Errorf("killed between reporting and recording: %d hours are not recorded and %s are, want at least %d and none",
			n, recorded, hours/2)
	}
	// Reported, and being recorded.
	l.expireWaits()
	locked := make(chan func(), 1)
	told(func() stripetest.Fault {
		locked <- l.lock(`SELECT FROM usage_reports FOR UPDATE`)
		return stripetest.Fault{}
	})
	l.Launch()
	l.killWaiting("UPDATE usage_reports SET reported_revision", func() { (<-locked)() })
	// During the query of the customer's state; no event reports it again.
	l.stripe.Set(l.subscription, "status", "past_due", "customer.subscription.updated")
	l.expireWaits()
	l.Launch()
	asking := make(chan struct{})
	killed := make(chan struct{})
	asked(func() stripetest.Fault { close(asking); <-killed; return stripetest.Fault{} })
	l.postEvents()
	<-asking
	l.KillNow()
	close(killed)
	l.Kill()
	l.expireWaits()

	// At random, while every third response is cut or rejected.
	kills := lengthOf(2, 120)
	l.stripe.SetFault(func(r *http.Request) stripetest.Fault {
		if r.URL.Path != "/v1/billing/meter_events" {
			return stripetest.Fault{}
		}
		return []stripetest.Fault{{Cut: true}, {Status: http.StatusServiceUnavailable}, {}, {}, {}, {}}[rand.IntN(6)]
	})
	for n := range kills {
		if long { // some work remains for each run
			l.Query(`UPDATE usage_reports SET reported_revision = reported_revision - 1 WHERE hour = $1 AND reported_revision = revision`, l.start.Add(time.Duration(n%hours)*time.Hour))
			l.stripe.Forge(l.customer, l.start.Add(time.Duration(n*3%hours)*time.Hour).Unix(), 0)
		}
		l.expireWaits()
		l.Launch()
		<-time.After(rand.N(lengthOf(300*time.Millisecond, 4*time.Second)))
		l.Kill()
	}
	l.stripe.SetFault(nil)
	l.Launch()
	mark := l.start.Add(hours * time.Hour)
	expect.Eventually(t, "all hours are counted", func() bool { return l.count(`SELECT hour >= $1 FROM usage_marks`, mark) == "true" })
	// An invoice triggers the report of the rest, and detects forged values.
	invoice := l.stripe.Invoice(l.customer, l.start, mark)
	expect.Eventually(t, "the invoice has its usage", func() bool {
		l.expireWaits()
		status, _ := stripetest.Post(t, l.BaseURL+"/api/billing/stripe", stripetest.Secret, invoice.Body, time.Now())
		return status == http.StatusOK
	})
	if n := l.count(`SELECT count(*) FROM usage_reports WHERE reported_revision = revision`); n != fmt.Sprint(hours) {
		t.Errorf("%s hours are recorded as reported, want %d", n, hours)
	}
	l.awaitBilled("past_due")
	l.stripe.Events()
	l.stripe.Set(l.subscription, "status", "active", "customer.subscription.updated")
	l.postEvents()
	l.awaitBilled("active")

	sum := int64(0)
	windows := l.stripe.Windows(l.customer)
	for hour, n := range windows {
		sum += n
		if n != l.sent[hour] {
			t.Errorf("for the hour %s, %d emails are reported and %d were sent", time.Unix(hour, 0).UTC(), n,
				l.sent[hour])
		}
	}
	if sum != int64(emails) || len(windows) != hours {
		t.Errorf("%d emails are reported in %d hours, want %d in %d", sum, len(windows), emails, hours)
	}
	if kept := l.count(`SELECT sum(emails) FROM usage_hours`); kept != fmt.Sprint(emails) {
		t.Errorf("%s emails are counted, want %d", kept, emails)
	}
	tells := 0
	for _, r := range l.stripe.Requests() {
		if r == "POST /v1/billing/meter_events" {
			tells++
		}
	}
	figure(t, "kills", kills+5, "7 short, 125 long")
	figure(t, "emails sent", emails, "-")
	figure(t, "emails reported", sum, fmt.Sprint(emails))
	figure(t, "requests that reported them", tells, "-")
}
