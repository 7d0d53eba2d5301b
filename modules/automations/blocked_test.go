package automations

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/automations/figures"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

// withAccount stores the test's account on the free plan, as the accounts module does.
func (w *world) withAccount(t *testing.T) (*accounts.Service, *plans.Service) {
	t.Helper()
	w.Exec(t,
		`INSERT INTO accounts (id, name, email, plan_id, created_at, updated_at) VALUES ($1, 'Ada', 'ada@example.com', 'free', now(), now()) ON CONFLICT (id) DO NOTHING`, sendingtest.Account)
	s, err := accounts.New(accounts.Params{DB: w.DB, Cursors: page.NewCodec(make([]byte, 16)), Logger: w.Logger})
	if err != nil {
		t.Fatal(err)
	}
	return s, plans.New(w.DB, s)
}

// newestRun returns the newest run.
func (w *world) newestRun(t *testing.T) RunDetail {
	t.Helper()
	row, err := w.DB.Ent.AutomationRun.Query().Only(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run, err := w.Run(t.Context(), sendingtest.Account, row.ID)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

const condition = `{"key": "c", "type": "condition", "if": "true"}`

// wantBlocked checks why a run is blocked and for how long.
func wantBlocked(t *testing.T, run RunDetail, step, code string, wait time.Duration) {
	t.Helper()
	if run.Status != "waiting" || run.Blocked == nil || run.Waiting == nil || run.WaitingStep == nil {
		t.Fatalf("the run is %s, waiting until %v because of %v; want a blocked wait", run.Status, run.Waiting,
			run.Blocked)
	}
	if run.Blocked.Code != code || run.Blocked.Message == "" || run.WaitingStep.Key != step {
		t.Errorf("step %s waits because of %q, want %s because of %s", run.WaitingStep.Key, run.Blocked, step, code)
	}
	if got := run.Waiting.Until.Sub(run.Blocked.Since); got < wait-time.Second || got > wait+time.Minute {
		t.Errorf("the step waits %s, want %s", got, wait)
	}
}

// A run whose account cannot send waits and reports the reason, along with the steps it took before.
func TestBlockedRunReportsReason(t *testing.T) {
	t.Parallel()
	for code, c := range map[string]struct {
		block, free func(*world)
		wait        time.Duration
	}{
		"plan_limit":        {func(w *world) { w.Near.Left, w.Near.ResetIn = 0, 9*time.Hour }, func(w *world) { w.Near.Left = -1 }, 9 * time.Hour},
		"account_suspended": {func(w *world) { w.Near.Owner.Suspended = true }, func(w *world) { w.Near.Owner.Suspended = false }, 5 * time.Minute},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.block(w)
			a := w.activate(t, `{"event": "start"}`, condition+`, `+mail)
			w.post(t, "start", `{}`)
			w.drain(t)
			first := w.newestRun(t)
			wantBlocked(t, first, "mail", code, c.wait)
			if len(first.Steps) != 1 || first.Steps[0].Key != "c" || first.StepIndex != 1 {
				t.Errorf("the run has taken %d steps and is at %d, want the condition taken and the mail next",
					len(first.Steps), first.StepIndex)
			}
			if got := countedOf(t, w.newFigures(t, nil), sendingtest.Account, a.ID).
				Runs; got != (figures.Runs{Started: 1, Waiting: 1}) {
				t.Errorf("the figures are %+v, want one waiting run", got)
			}
			list, err := w.Timeline(t.Context(), sendingtest.Account, first.ID)
			if err != nil {
				t.Fatal(err)
			}
			if last := list[len(list)-1]; last.Source != SourceWait || last.StepKey != "mail" || last.Blocked == nil ||
				last.Blocked.Code != code || last.Blocked.Type != "send_email" {
				t.Errorf("the timeline ends with %+v, want the wait", last)
			}
			w.advanceTime(t, c.wait+time.Minute) // rejected again
			w.drain(t)
			again := w.newestRun(t)
			if wantBlocked(t, again, "mail", code, c.wait); again.Blocked != nil &&
				!again.Blocked.Since.Equal(first.Blocked.Since) {
				t.Errorf("after another try the step is blocked since %s, want since the first try at %s",
					again.Blocked.Since, first.Blocked.Since)
			}
			c.free(w)
			w.advanceTime(t, c.wait+time.Minute)
			w.drain(t)
			if last := w.newestRun(t); last.Status != "completed" || last.Blocked != nil || len(last.Steps) != 2 ||
				w.Count(t, "emails") != 1 {
				t.Errorf("finally the run is %s with %d steps, blocked by %v, and %d emails are sent; want it completed", last.Status, len(last.Steps), last.Blocked, w.Count(t, "emails"))
			}
			if got, want := w.eventsOfRuns(t),
				"started 0 running, step_completed 0 running, step_completed 1 running, completed 1 completed"; got != want {
				t.Errorf("webhook events: %s, want %s", got, want)
			}
		})
	}
}

// A run does not wait for a cap that has no reset time.
func TestCapWithoutResetFailsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Near.Left = 0
	w.activate(t, `{"event": "start"}`, mail)
	w.post(t, "start", `{}`)
	w.drain(t)
	if got := w.countStatuses(t); got["failed"] != 1 {
		t.Errorf("runs are %v, want one that failed because of the cap", got)
	}
}

// A change to an account resumes the runs of that account, and of no other.
func TestAccountChangeEndsBlockedWaits(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*accounts.Service, *plans.Service, *testing.T) error{
		"a new plan": func(a *accounts.Service, _ *plans.Service, t *testing.T) error {
			_, err := a.UpdateAccount(t.Context(), sendingtest.Account, accounts.AccountChange{Plan: new("pro")})
			return err
		},
		"another limit": func(a *accounts.Service, _ *plans.Service, t *testing.T) error {
			_, err := a.UpdateAccount(t.Context(), sendingtest.Account,
				accounts.AccountChange{MonthlyLimit: new(new(5000))})
			return err
		},
		"a payment": func(a *accounts.Service, _ *plans.Service, t *testing.T) error {
			_, err := a.UpdateAccount(t.Context(), sendingtest.Account, accounts.AccountChange{PaymentDue: new(false)})
			return err
		},
		"the end of a suspension": func(a *accounts.Service, _ *plans.Service, t *testing.T) error {
			_, err := a.UpdateAccount(t.Context(), sendingtest.Account, accounts.AccountChange{Suspended: new(false)})
			return err
		},
		"a higher plan limit": func(_ *accounts.Service, p *plans.Service, t *testing.T) error {
			_, err := p.Set(t.Context(), "free", plans.PlanChange{DailyEmails: new(new(1000))})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a, p := w.withAccount(t)
			w.Near.Left, w.Near.ResetIn = 0, 9*time.Hour
			w.activate(t, `{"event": "start"}`, mail)
			w.post(t, "start", `{}`)
			w.drain(t)
			w.Near.Left = -1
			look := func(what string, want map[string]int) {
				t.Helper()
				if err := w.steps.RetryRefused(t.Context()); err != nil {
					t.Fatal(err)
				}
				w.drain(t)
				if diff := cmp.Diff(want, w.countStatuses(t)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
			look("before the change", map[string]int{"waiting": 1})
			if err := change(a, p, t); err != nil {
				t.Fatal(err)
			}
			look("after the change", map[string]int{"completed": 1})
		})
	}
}

// A process caches account data for a few seconds. A step that it rejects because of outdated data is retried
// once after the cache expires, and not again.
func TestAccountChangeWithOutdatedCache(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, _ := w.withAccount(t)
	w.Near.Left, w.Near.ResetIn = 0, 9*time.Hour
	w.activate(t, `{"event": "start"}`, mail)
	w.post(t, "start", `{}`)
	w.drain(t)
	if _, err := a.UpdateAccount(t.Context(), sendingtest.Account,
		accounts.AccountChange{Plan: new("pro")}); err != nil {
		t.Fatal(err)
	}
	tries := func(want int, when string) {
		t.Helper()
		for range 3 {
			if err := w.steps.RetryRefused(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		n, err := w.Drain(t.Context())
		if err != nil || n != want {
			t.Errorf("%s the step was tried %d times, %v; want %d", when, n, err, want)
		}
	}
	tries(1, "after the change")
	tries(0, "soon after it")
	w.Exec(t, `UPDATE accounts SET changed_at = changed_at - interval '6 seconds'`)
	w.Exec(t, `UPDATE automation_works SET refused_at = refused_at - interval '6 seconds'`)
	tries(1, "after every process has seen the change,")
	tries(0, "later")
}

// A step claimed by a worker stays with that worker until its lease expires.
func TestClaimedStepIsNotMadeDue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, _ := w.withAccount(t)
	w.Near.Left, w.Near.ResetIn = 0, 9*time.Hour
	w.activate(t, `{"event": "start"}`, mail)
	w.post(t, "start", `{}`)
	w.drain(t)
	w.advanceTime(t, 10*time.Hour)
	if list, err := w.steps.Claim(t.Context(), 10, time.Minute); err != nil || len(list) != 1 {
		t.Fatalf("claimed %d runs, %v; want one", len(list), err)
	}
	if _, err := a.UpdateAccount(t.Context(), sendingtest.Account,
		accounts.AccountChange{Plan: new("pro")}); err != nil {
		t.Fatal(err)
	}
	if err := w.steps.RetryRefused(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list, err := w.steps.Claim(t.Context(), 10, time.Minute); err != nil || len(list) != 0 {
		t.Errorf("claimed %d runs a second time, %v; want none", len(list), err)
	}
}

// Waits between attempts of a webhook step are reported like other waits. They do not depend on the account,
// and earlier attempts still count.
func TestRetriedWebhookReportsReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, _ := w.withAccount(t)
	var status atomic.Int32
	status.Store(http.StatusBadGateway)
	hook := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter,
		_ *http.Request) {
		answer.WriteHeader(int(status.Load()))
	}))
	t.Cleanup(hook.Close)
	w.activate(t, `{"event": "start"}`, `{"key": "call", "type": "webhook", "url": "`+hook.URL+`"}`)
	w.post(t, "start", `{}`)
	for try, wait := range []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute} {
		w.drain(t)
		run := w.newestRun(t)
		if run.Blocked == nil || run.Blocked.Code != "webhook_failed" || run.Blocked.Message != hook.URL+
			" answered 502" || run.Next.Before(time.Now().Add(wait-10*time.Second)) ||
			run.Next.After(time.Now().Add(wait)) {
			t.Errorf("after %d tries the run waits until %s because of %q, want %s because of the response", try+1,
				run.Next, run.Blocked, wait)
		}
		if _, err := a.UpdateAccount(t.Context(), sendingtest.Account,
			accounts.AccountChange{Plan: new("pro")}); err != nil {
			t.Fatal(err)
		}
		if err := w.steps.RetryRefused(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n, err := w.Drain(t.Context()); n != 0 || err != nil {
			t.Errorf("a change to the account made %d webhook steps due, %v; want none", n, err)
		}
		w.advanceTime(t, wait)
	}
	status.Store(http.StatusNoContent)
	w.drain(t)
	if run := w.newestRun(t); run.Status != "completed" || run.Blocked != nil {
		t.Errorf("finally the run is %s, blocked by %v; want it completed", run.Status, run.Blocked)
	}
}

// A waiting trial run is reported too, although it has no version.
func TestBlockedTrialReportsReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Near.Left, w.Near.ResetIn = 0, 9*time.Hour
	draft := w.draftOf(t, `{"event": "start"}`, condition+`, `+mail)
	tried, err := w.try(t, draft.ID, "start", `{}`, true)
	if err != nil {
		t.Fatal(err)
	}
	w.drain(t)
	run, err := w.Run(t.Context(), sendingtest.Account, tried.RunID)
	if err != nil {
		t.Fatal(err)
	}
	wantBlocked(t, run, "mail", "plan_limit", 9*time.Hour)
	if got := fmt.Sprint(run.Blocked); got != "plan_limit: that is all for today" {
		t.Errorf("the reason is %q", got)
	}
}

// A change to an account also resumes the runs of its test mode.
func TestAccountChangeEndsBlockedWaitsOfTestMode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, _ := w.withAccount(t)
	w.Near.Left, w.Near.ResetIn = 0, 9*time.Hour
	w.activate(t, `{"event": "start"}`, mail)
	if _, err := w.Post(t.Context(), ingest.Post{AccountID: id.TestTenantOf(sendingtest.Account), Name: "start", UserID: "u1",
		Email: "bob@example.net", Data: []byte(`{}`), Source: "api"}); err != nil {
		t.Fatal(err)
	}
	w.drain(t)
	w.Near.Left = -1
	for _, want := range []string{"waiting", "completed"} {
		if err := w.steps.RetryRefused(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.drain(t)
		if got := w.countStatuses(t); got[want] != 1 {
			t.Errorf("the runs are %v, want one %s", got, want)
		}
		if _, err := a.UpdateAccount(t.Context(), sendingtest.Account, accounts.AccountChange{Plan: new("pro")}); err != nil {
			t.Fatal(err)
		}
	}
}

// Each mode retries its own runs.
func TestRetryFailedSeparatesModes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start"}`, mail)
	testTenant := id.TestTenantOf(sendingtest.Account)
	for _, tenant := range []string{sendingtest.Account, testTenant} {
		if _, err := w.Post(t.Context(), ingest.Post{AccountID: tenant, Name: "start", UserID: "u1", Data: []byte(`{}`),
			Source: "api"}); err != nil {
			t.Fatal(err)
		}
	}
	w.drain(t)
	w.Exec(t, `UPDATE automation_runs SET event = jsonb_set(event, '{email}', '"bob@example.net"')`)
	for _, tenant := range []string{testTenant, sendingtest.Account} {
		n, err := w.RetryFailed(t.Context(), tenant, a.ID, Failed{Since: time.Now().Add(-time.Hour), Step: "mail"})
		if err != nil || n != 1 {
			t.Errorf("retry of %s: %d runs, %v, want one", tenant, n, err)
		}
		w.drain(t)
		if got := w.Count(t, "emails WHERE account_id = '"+tenant+"'"); got != 1 {
			t.Errorf("%d emails of %s, want one", got, tenant)
		}
		if tenant == testTenant && w.Count(t, "emails") != 1 {
			t.Error("a retry in test mode sent live mail")
		}
	}
}
