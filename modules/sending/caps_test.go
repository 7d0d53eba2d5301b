package sending

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/release"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// cappedFixture is a fixture whose caps are counted by the real accounts module, in several processes on one database.
type cappedFixture struct {
	*fixture
	quotas    []*accounts.Service
	processes []*Service
	releasing []*release.Service // services of the same processes
	caller    accounts.Caller
}

const (
	dailyCap   = 20
	monthlyCap = 50
)

func newCapped(t *testing.T) *cappedFixture {
	t.Helper()
	c := &cappedFixture{fixture: newFixture(t)}
	c.Exec(t, `UPDATE plans SET daily_emails = $1, monthly_emails = $2 WHERE id = 'free'`, dailyCap, monthlyCap)
	for range 2 {
		quota, err := accounts.New(accounts.Params{DB: c.DB, Cursors: c.Pages, Logger: c.Logger,
			Config: accounts.Config{CacheTTL: 20 * time.Millisecond, RecountAfter: 50 * time.Millisecond,
				RecountEvery: 20 * time.Millisecond}})
		if err != nil {
			t.Fatal(err)
		}
		if err := quota.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		s, err := New(Params{DB: c.DB, Bus: c.Bus, Accounts: c.Near, Domains: c.Near, Suppression: c.Near,
			Templates: c.Near, Quota: quota,
			Records: c.records, Idempotency: c.Parts.Idempotency, Signals: sendingtest.NoSignals{}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx := context.WithoutCancel(t.Context())
			if err := s.Stop(ctx); err != nil {
				t.Error(err)
			}
			if err := quota.Stop(ctx); err != nil {
				t.Error(err)
			}
		})
		c.quotas, c.processes = append(c.quotas, quota), append(c.processes, s)
		c.releasing = append(c.releasing,
			release.New(release.Params{DB: c.DB, Bus: c.Bus, Accounts: c.Near, Domains: c.Near, Suppression: c.Near,
				Quota:   quota,
				Signals: sendingtest.NoSignals{}, Logger: c.Logger}))
	}
	made, err := c.quotas[0].CreateAccount(t.Context(), accounts.NewAccount{Name: "Acme", Email: "owner@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	c.caller = accounts.Caller{AccountID: made.ID}
	return c
}

func (c *cappedFixture) scheduleAt(t *testing.T, at time.Time) (string, error) {
	t.Helper()
	m := simpleMessage("bob@example.net")
	m.ScheduledAt = &at
	receipt, err := c.processes[rand.IntN(2)].Send(t.Context(), c.caller, Request{Message: m})
	return receipt.ID, err
}

// readCounters returns the nonzero counters.
func (c *cappedFixture) readCounters(t *testing.T) map[string]int {
	t.Helper()
	return c.countPeriods(t, `SELECT period, emails FROM usages WHERE account_id = $1 AND emails <> 0`)
}

// expectedCounters computes the counters from the emails: each sent or waiting email counts in the day and the
// month in which it is due.
func (c *cappedFixture) expectedCounters(t *testing.T) map[string]int {
	t.Helper()
	const counting = `FROM emails WHERE account_id = $1 AND status IN ('sent', 'scheduled', 'queued')`
	const at = `coalesce(scheduled_at, created_at) AT TIME ZONE 'UTC'`
	return c.countPeriods(t, `SELECT to_char(`+at+`, 'YYYY-MM-DD'), count(*) `+counting+
		` GROUP BY 1 UNION ALL SELECT to_char(`+at+`, 'YYYY-MM'), count(*) `+counting+` GROUP BY 1`)
}

func (c *cappedFixture) countPeriods(t *testing.T, query string) map[string]int {
	t.Helper()
	found := map[string]int{}
	err := db.Each(t.Context(), c.DB.SQL, func(row db.Row) error {
		var period string
		var n int
		err := row.Scan(&period, &n)
		found[period] = n
		return err
	}, query, c.caller.AccountID)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestScheduledEmailsCountOnDueDay(t *testing.T) {
	t.Parallel()
	c := newCapped(t)
	noon := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
	day := noon.AddDate(0, 1, 0) // not in the current month
	for day.Day() > 20 {
		day = day.AddDate(0, 0, 1)
	}
	ids := make([]string, 0, dailyCap)
	for i := range dailyCap + 5 {
		id, err := c.scheduleAt(t, day.Add(time.Duration(i)*time.Minute))
		switch limit := fault.Classify(err); {
		case i < dailyCap && err != nil:
			t.Fatalf("scheduling email %d of %d for one day: %v", i+1, dailyCap, err)
		case i >= dailyCap && (limit == nil || limit.Code != fault.CodePlanLimit || limit.Details["cap"] != "daily"):
			t.Fatalf("scheduling email %d for a day with a cap of %d returned %v, want plan_limit for the day", i+1,
				dailyCap, err)
		case err == nil:
			ids = append(ids, id)
		}
	}
	if _, err := c.scheduleAt(t, day.AddDate(0, 0, 1)); err != nil {
		t.Errorf("scheduling for the day after was rejected: %v", err)
	}
	// Today's cap applies only to today.
	for i := range dailyCap {
		if _, err := c.processes[i%2].Send(t.Context(), c.caller,
			Request{Message: simpleMessage("bob@example.net")}); err != nil {
			t.Fatalf("sending email %d of %d today: %v", i+1, dailyCap, err)
		}
	}
	if _, err := c.processes[0].Send(t.Context(), c.caller,
		Request{Message: simpleMessage("bob@example.net")}); fault.KindOf(err) != fault.Limit {
		t.Errorf("sending above today's cap returned %v, want an error", err)
	}
	if _, err := c.scheduleAt(t, day.AddDate(0, 0, 2)); err != nil {
		t.Errorf("with today's cap used up, scheduling for another month returned %v", err)
	}
	// Cancelling or moving an email frees its share of the cap.
	if _, err := c.processes[0].Cancel(t.Context(), c.caller.AccountID, ids[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := c.processes[1].Reschedule(t.Context(), c.caller.AccountID, ids[1], day.AddDate(0, 0, 3)); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := c.scheduleAt(t, day); (err != nil) != (i == 2) {
			t.Errorf("email %d after one was cancelled and one moved away returned %v, want room for two", i+1, err)
		}
	}
	if _, err := c.processes[1].Reschedule(t.Context(), c.caller.AccountID, ids[1],
		day); fault.KindOf(err) != fault.Limit {
		t.Errorf("moving an email to a full day returned %v, want an error", err)
	}
	if diff := cmp.Diff(c.expectedCounters(t), c.readCounters(t)); diff != "" {
		t.Errorf("the counters differ from the accepted emails (-accepted +counted):\n%s", diff)
	}
}

// churn sends, schedules, moves, cancels and releases at random in two processes concurrently, and calls each
// meanwhile.
func (c *cappedFixture) churn(t *testing.T, each func(*rand.Rand)) {
	t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	var known []string
	now := time.Now()
	for worker := range 6 {
		random := rand.New(rand.NewPCG(uint64(worker), uint64(now.UnixNano())))
		s, releases := c.processes[worker%2], c.releasing[worker%2]
		all.Go(func() {
			for range 60 {
				at := now.AddDate(0, 0, random.IntN(45)-1).Add(time.Hour)
				if at.Before(now) {
					at = now.Add(-time.Second) // due soon
				}
				mu.Lock()
				id := ""
				if len(known) > 0 {
					id = known[random.IntN(len(known))]
				}
				mu.Unlock()
				var err error
				switch random.IntN(10) {
				case 0, 1:
					_, err = s.Send(t.Context(), c.caller, Request{Message: simpleMessage("bob@example.net")})
				case 2, 3, 4:
					if id, err = c.scheduleAt(t, at); err == nil {
						mu.Lock()
						known = append(known, id)
						mu.Unlock()
					}
				case 5, 6:
					_, err = s.Reschedule(t.Context(), c.caller.AccountID, id, at)
				case 7:
					_, err = s.Cancel(t.Context(), c.caller.AccountID, id)
				case 8:
					_, err = releases.Release(t.Context(), 5)
				default:
					each(random)
				}
				if kind := fault.KindOf(err); err != nil && kind != fault.Limit && kind != fault.Conflict &&
					kind != fault.NotFound {
					t.Errorf("a concurrent operation returned %v", err)
				}
			}
		})
	}
	all.Wait()
}

func TestCapsAreExactUnderConcurrentChanges(t *testing.T) {
	t.Parallel()
	c := newCapped(t)
	today := time.Now().UTC().Day()
	c.churn(t, func(random *rand.Rand) {
		m := simpleMessage(fmt.Sprintf("gone-%d@example.net", random.IntN(1000)))
		at := time.Now().Add(-time.Second)
		m.ScheduledAt = &at
		if _, err := c.processes[0].Send(t.Context(), c.caller, Request{Message: m}); err != nil &&
			fault.KindOf(err) != fault.Limit {
			t.Error(err)
		}
	})
	if time.Now().UTC().Day() != today {
		t.Skip("the day ended during the test, and the clocks of process and database may differ")
	}
	counted := c.readCounters(t)
	if diff := cmp.Diff(c.expectedCounters(t), counted); diff != "" {
		t.Errorf("the counters differ from the accepted emails (-accepted +counted):\n%s", diff)
	}
	for period, n := range counted {
		most := dailyCap
		if len(period) == len("2006-01") {
			most = monthlyCap
		}
		if n > most {
			t.Errorf("%d emails were accepted for %s, whose cap is %d", n, period, most)
		}
	}
}

func TestCapsAreExactWhilePlansChange(t *testing.T) {
	t.Parallel()
	c := newCapped(t)
	today := time.Now().UTC().Day()
	change := func(s *accounts.Service, plan string) {
		if _, err := s.UpdateAccount(t.Context(), c.caller.AccountID, accounts.AccountChange{Plan: &plan}); err != nil {
			t.Errorf("change to the plan %s: %v", plan, err)
		}
	}
	c.churn(t, func(random *rand.Rand) {
		change(c.quotas[random.IntN(2)], []string{accounts.PlanFree, accounts.PlanPro}[random.IntN(2)])
	})
	change(c.quotas[0], accounts.PlanPro)
	change(c.quotas[1], accounts.PlanFree)
	expect.EventuallyWithin(t, 30*time.Second, "the counters reflect the last change of plan", func() bool {
		left, err := db.One(t.Context(), c.DB.SQL, db.Value[int], `SELECT count(*) FROM usage_recounts WHERE account_id = $1`, c.caller.AccountID)
		return err == nil && left == 0
	})
	if time.Now().UTC().Day() != today {
		t.Skip("the day ended during the test, and the clocks of process and database may differ")
	}
	if diff := cmp.Diff(c.expectedCounters(t), c.readCounters(t)); diff != "" {
		t.Errorf("the counters differ from the emails accepted under all plans (-accepted +counted):\n%s", diff)
	}
}
