package release

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

func TestReleasesScheduledEmailOnTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.schedule(t, time.Hour, "a@example.net", "b@example.net")
	f.releaseAll(t)
	if e, _, _, _ := f.State(t, id); e.Status != email.StatusScheduled || len(f.ClaimAll(t)) != 0 {
		t.Fatalf("released before its time: %s", e.Status)
	}
	// Five days later.
	f.Exec(t, `UPDATE emails SET created_at = created_at - interval '5 days', scheduled_at = now(), release_at = now()`)
	f.Exec(t, `UPDATE recipients SET created_at = created_at - interval '5 days', queued_at = queued_at - interval '5 days'`)
	f.releaseAll(t)
	e, recipients, _, types := f.State(t, id)
	if e.Status != email.StatusSent || e.LastEvent != "email.sent" || e.SentAt == nil ||
		e.SentAt.Before(*e.ScheduledAt) || e.ReleaseAt != nil || e.Uncommon != nil {
		t.Errorf("email: %+v", e)
	}
	if diff := cmp.Diff([]string{"email.scheduled", "email.sent"}, types); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	jobs := f.ClaimAll(t)
	if len(jobs) != 2 || time.Since(recipients[0].QueuedAt) > time.Minute {
		t.Errorf("claimed %d recipients queued at %s, want two of a fresh message", len(jobs), recipients[0].QueuedAt)
	}
	if recipients[0].QueuedAt.Before(*e.ScheduledAt) {
		t.Errorf("retries are counted from %s, want from the release", recipients[0].QueuedAt)
	}
	f.releaseAll(t)
	if _, _, _, types := f.State(t, id); len(types) != 2 {
		t.Errorf("a second release returned %v", types)
	}
}

// Permission at acceptance does not guarantee permission at the scheduled time.
func TestReleaseRepeatsAllChecks(t *testing.T) {
	t.Parallel()
	gone := fault.Forbiddenf(fault.CodeDomainNotVerified, "The domain example.com is not a domain of this account")
	for name, c := range map[string]struct {
		change     func(*sendingtest.Fakes)
		code       string // code of the failure
		event      string
		suppressed []string
		diagnostic string // diagnostic of the first recipient
	}{
		"domain is gone": {change: func(n *sendingtest.Fakes) { n.SenderErr = fmt.Errorf("identity: %w", gone) },
			code: fault.CodeDomainNotVerified, event: "email.failed", diagnostic: gone.Message},
		"account is gone": {change: func(n *sendingtest.Fakes) {
			n.OwnerErr = fault.NoSuch("account",
				sendingtest.Account)
		}, code: fault.CodeNotFound, event: "email.failed", diagnostic: "No such account: " + sendingtest.Account},
		"sandbox sender": {change: func(n *sendingtest.Fakes) { n.Sender.Sandbox = true }, code: fault.CodeSandboxRecipient, event: "email.failed"},
		"production locked": {change: func(n *sendingtest.Fakes) { n.Owner.Plan = accounts.Plan{Sandboxed: true} },
			code: fault.CodeProductionLocked, event: "email.failed"},
		"suppressed": {change: func(n *sendingtest.Fakes) { n.Suppressed["b@example.net"] = "bounce" }, event: "email.suppressed",
			suppressed: []string{"b@example.net"},
			diagnostic: "not sent: another recipient of the message is suppressed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			id := f.schedule(t, -time.Second, "a@example.net", "b@example.net")
			c.change(f.Near)
			f.releaseAll(t)
			f.Near.OwnerErr = nil
			e, recipients, _, types := f.State(t, id)
			if e.Status != email.StatusFailed || e.LastEvent != c.event || *e.Uncommon != "failed" || e.SentAt != nil ||
				e.ReleaseAt != nil {
				t.Errorf("email: %+v", e)
			}
			if diff := cmp.Diff([]string{"email.scheduled", c.event}, types); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			data := f.Payload(t, id, 1)
			if diff := cmp.Diff(c.suppressed, data.SuppressedRecipients); diff != "" || data.Status != "failed" {
				t.Errorf("payload %+v, suppressed (-want +got):\n%s", data, diff)
			}
			if c.code != "" && (data.Failure == nil || data.Failure.Code != c.code || data.Failure.Reason == "") {
				t.Errorf("failure: %+v", data.Failure)
			}
			for _, r := range recipients {
				if r.State != recipient.StateFailed || r.SettledAt == nil || r.DueAt != nil || r.Diagnostic == nil {
					t.Errorf("recipient: %+v", r)
				}
			}
			if c.diagnostic != "" && *recipients[0].Diagnostic != c.diagnostic {
				t.Errorf("diagnostic %q, want %q", *recipients[0].Diagnostic, c.diagnostic)
			}
			if jobs := f.ClaimAll(t); len(jobs) != 0 {
				t.Errorf("the email was delivered anyway: %+v", jobs)
			}
			if _, err := f.Sending.Cancel(t.Context(), sendingtest.Account, id); fault.Classify(err).
				Code != fault.CodeEmailNotScheduled {
				t.Errorf("cancel: %v", err)
			}
		})
	}
}

func TestReleaseIgnoresCaps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var ids []string
	for range 4 {
		ids = append(ids, f.schedule(t, -time.Second, "bob@example.net"))
	}
	ids = append(ids, f.schedule(t, -time.Second, "gone@example.net"))
	f.Near.Left, f.Near.Suppressed["gone@example.net"] = 0, "bounce"
	f.releaseAll(t)
	var got []string
	for _, id := range ids {
		e, _, _, _ := f.State(t, id)
		got = append(got, string(e.Status)+" "+e.LastEvent)
	}
	want := []string{"sent email.sent", "sent email.sent", "sent email.sent", "sent email.sent",
		"failed email.suppressed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("emails due while the caps were used up (-want +got):\n%s", diff)
	}
	gone, _, _, _ := f.State(t, ids[4])
	if diff := cmp.Diff([]accounts.EmailUsage{{AccountID: sendingtest.Account, Due: gone.ScheduledAt.UTC()}},
		sendingtest.InUTC(f.Near.Back)); diff != "" {
		t.Errorf("refunds to the caps (-want +got):\n%s", diff)
	}
}

func TestEmailsOfSuspendedAccountsWaitInQueue(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.schedule(t, -time.Second, "bob@example.net")
	f.Near.Owner.Suspended = true
	for range 2 {
		f.releaseAll(t)
		e, _, _, types := f.State(t, id)
		if e.Status != email.StatusQueued || *e.Uncommon != "queued" || e.LastEvent != "email.scheduled" ||
			len(types) != 1 || len(f.ClaimAll(t)) != 0 {
			t.Fatalf("the email is %+v with facts %v", e, types)
		}
		if wait := time.Until(*e.ReleaseAt); wait < 50*time.Second || wait > 61*time.Second {
			t.Errorf("the email is checked again in %s, want a minute", wait)
		}
		f.Exec(t, `UPDATE emails SET release_at = now()`)
	}
	if _, err := f.Sending.Cancel(t.Context(), sendingtest.Account, id); fault.Classify(err).Details["status"] != "queued" {
		t.Errorf("cancel: %v", err)
	}
	f.Near.Owner.Suspended = false
	f.releaseAll(t)
	if e, _, _, types := f.State(t, id); e.Status != email.StatusSent || e.Uncommon != nil || e.ReleaseAt != nil ||
		len(types) != 2 || len(f.ClaimAll(t)) != 1 {
		t.Errorf("after the account was resumed the email is %+v with facts %v", e, types)
	}
}

func TestInterruptedReleaseHasNoEffect(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.schedule(t, -time.Second, "bob@example.net")
	before, _, _, _ := f.State(t, id)
	f.Near.BlockedErr = fault.DatabaseUnavailable(nil)
	if _, err := f.Release(t.Context(), releaseBatch); fault.KindOf(err) != fault.Unavailable {
		t.Fatalf("the interrupted release returned %v", err)
	}
	e, recipients, _, types := f.State(t, id)
	if e.Status != email.StatusScheduled || !e.ReleaseAt.Equal(*before.ReleaseAt) || recipients[0].DueAt != nil ||
		len(types) != 1 {
		t.Errorf("the email is %+v with facts %v", e, types)
	}
	f.releaseAll(t)
	if e, _, _, _ := f.State(t, id); e.Status != email.StatusSent {
		t.Errorf("the next pass left the email %s", e.Status)
	}
}

func TestBadEmailDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, f *fixture, id string){
		"bad row": func(t *testing.T, f *fixture, id string) {
			t.Helper()
			f.Exec(t, `UPDATE emails SET "to" = '"x"' WHERE id = $1`, id)
		},
		"bad sender": func(t *testing.T, f *fixture, id string) {
			t.Helper()
			f.Exec(t, `UPDATE emails SET "from" = '@' WHERE id = $1`, id)
		},
		"bad recipient address": func(t *testing.T, f *fixture, id string) {
			t.Helper()
			f.Exec(t, `UPDATE recipients SET address = '@' WHERE email_id = $1`, id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			bad, good := f.schedule(t, -2*time.Second, "bad@example.net"), f.schedule(t, -time.Second,
				"good@example.net")
			spoil(t, f, bad)
			f.releaseAll(t)
			var status string
			var wait float64
			if err := f.DB.SQL.QueryRowContext(t.Context(),
				`SELECT status, extract(epoch FROM release_at - now()) FROM emails WHERE id = $1`, bad).Scan(&status, &wait); err != nil {
				t.Fatal(err)
			}
			if status != "scheduled" || wait < 50 || wait > 61 {
				t.Errorf("the bad email is %s and checked in %.1f s, want a minute", status, wait)
			}
			if e, _, _, _ := f.State(t, good); e.Status != email.StatusSent {
				t.Errorf("the good email is %s", e.Status)
			}
		})
	}
}

// An email that was due when it was found may no longer be due when it is locked.
func TestRespectsChangesBeforeLock(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	moved, cancelled, stays := f.schedule(t, -time.Second, "a@example.net"), f.schedule(t, -time.Second,
		"b@example.net"), f.schedule(t, -time.Second, "c@example.net")
	due, err := f.dueForRelease(t.Context(), releaseBatch)
	if err != nil || len(due) != 3 {
		t.Fatalf("due: %+v %v", due, err)
	}
	if _, err := f.Sending.Reschedule(t.Context(), sendingtest.Account, moved, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Sending.Cancel(t.Context(), sendingtest.Account, cancelled); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, everything is done
		if err := f.releaseTogether(t.Context(), due); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]string{moved: "scheduled [email.scheduled email.rescheduled]",
		cancelled: "cancelled [email.scheduled email.cancelled]",
		stays:     "sent [email.scheduled email.sent]"} {
		if e, _, _, types := f.State(t, id); fmt.Sprint(e.Status, " ", types) != want {
			t.Errorf("%s %v, want %s", e.Status, types, want)
		}
	}
}

// Cancellations race with releases in several processes. Each email has one outcome, and both sides report the
// same.
func TestCancelRacesRelease(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const n = 300
	ids := make([]string, n)
	for i := range ids {
		ids[i] = f.schedule(t, time.Hour, "bob@example.net")
	}
	f.Exec(t,
		`UPDATE emails e SET scheduled_at = v.at, release_at = v.at FROM (SELECT id, now() + (random() - 0.1) * interval '1 second' AS at FROM emails WHERE id <> ALL($1)) v WHERE v.id = e.id`,
		db.Array(ids[:10])) // reserved for cancellations, however late they run
	// at least one is released, however early the cancellations run
	if _, err := f.Release(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var releasing, cancelling sync.WaitGroup
	for range 3 {
		releasing.Go(func() {
			for ctx.Err() == nil {
				if _, err := f.Release(context.WithoutCancel(ctx), 20); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	errs := make([]error, n)
	order := rand.Perm(n)
	for part := range 4 {
		cancelling.Go(func() {
			for k := part; k < n; k += 4 {
				_, errs[order[k]] = f.Sending.Cancel(context.WithoutCancel(ctx), sendingtest.Account, ids[order[k]])
			}
		})
	}
	cancelling.Wait()
	expect.EventuallyWithin(t, 20*time.Second, "no email is still scheduled", func() bool {
		var left int
		err := f.DB.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM emails WHERE status = 'scheduled'`).Scan(&left)
		return err == nil && left == 0
	})
	stop()
	releasing.Wait()

	due := map[string]int{}
	for range 4 {
		for _, job := range f.ClaimAll(t) {
			due[job.EmailID()]++
		}
	}
	cancelled := 0
	for i, id := range ids {
		e, _, _, types := f.State(t, id)
		switch {
		case errs[i] == nil:
			cancelled++
			if e.Status != email.StatusCancelled || due[id] != 0 ||
				!cmp.Equal(types, []string{"email.scheduled", "email.cancelled"}) {
				t.Errorf("cancel succeeded, but the email is %s, due %d, facts %v", e.Status, due[id], types)
			}
		case fault.Classify(errs[i]).Code == fault.CodeEmailNotScheduled:
			if e.Status != email.StatusSent || due[id] != 1 ||
				!cmp.Equal(types, []string{"email.scheduled", "email.sent"}) || e.SentAt.Before(*e.ScheduledAt) {
				t.Errorf("cancel failed, but the email is %s, due %d, facts %v", e.Status, due[id], types)
			}
		default:
			t.Errorf("cancel: %v", errs[i])
		}
	}
	if cancelled == 0 || cancelled == n {
		t.Errorf("%d of %d were cancelled, so there was no race", cancelled, n)
	}
}

func TestLoopReleasesOnTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start(t)
	var ids []string
	for i := range 20 {
		ids = append(ids, f.schedule(t, time.Duration(i)*100*time.Millisecond, fmt.Sprintf("u%d@example.net", i)))
	}
	moved := f.schedule(t, time.Hour, "moved@example.net")
	if _, err := f.Sending.Reschedule(t.Context(), sendingtest.Account, moved, time.Now().
		Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	stays := f.schedule(t, time.Hour, "stays@example.net")
	expect.EventuallyWithin(t, 20*time.Second, "all emails are delivered", func() bool {
		var n int
		err := f.DB.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM emails WHERE status = 'delivered'`).Scan(&n)
		return err == nil && n == len(ids)+1
	})
	for _, id := range append(ids, moved) {
		e, _, _, types := f.State(t, id)
		if late := e.SentAt.Sub(*e.ScheduledAt); late < 0 || late > time.Minute {
			t.Errorf("an email was sent %s after its time", late)
		}
		if types[len(types)-1] != string(event.EmailDelivered) {
			t.Errorf("facts: %v", types)
		}
	}
	if e, _, _, _ := f.State(t, stays); e.Status != email.StatusScheduled {
		t.Errorf("an email due in an hour is %s", e.Status)
	}
	if n := len(f.Peer.Seen); n != len(ids)+1 {
		t.Errorf("%d transactions for %d recipients, want fewer", n, len(ids)+1)
	}
}

func TestAcceptingProcessesDoNotRelease(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.idle = true
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if names := f.tasks.Names(); len(names) > 0 {
		t.Errorf("a process that only accepts runs the tasks %q, want none: it releases no scheduled emails", names)
	}
}

func TestReleasingResumesAfterDatabaseOutage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.schedule(t, -time.Second, "bob@example.net")
	f.Near.BlockedErr = errors.Join(errors.New("count"), fault.DatabaseUnavailable(nil))
	f.start(t)
	expect.EventuallyWithin(t, 10*time.Second, "the email is delivered", func() bool {
		e, err := f.Records.Get(t.Context(), sendingtest.Account, id)
		return err == nil && e.Status == email.StatusDelivered
	})
}

// A release that exceeds the statement timeout would never succeed if it were repeated unchanged.
func TestShrinksOversizedBatches(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.BlockedMost = 7
	for range 40 {
		f.schedule(t, -time.Second, "bob@example.net")
	}
	f.start(t)
	expect.EventuallyWithin(t, 20*time.Second, "all emails are released", func() bool {
		var left int
		err := f.DB.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM emails WHERE status = 'scheduled'`).Scan(&left)
		return err == nil && left == 0
	})
}
