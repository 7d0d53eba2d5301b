package delivery

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/attempt"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// claimAll claims all due recipients, without a worker.
func (f *fixture) claimAll(t *testing.T) []Job {
	t.Helper()
	jobs, err := f.claimer.claimJobs(t.Context(), 100, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

func (f *fixture) settleWith(t *testing.T, jobs []Job, out smtpclient.Outcome) {
	t.Helper()
	var results []worker.Result[Job, smtpclient.Outcome]
	for _, j := range jobs {
		results = append(results, worker.Result[Job, smtpclient.Outcome]{Job: j, Value: out})
	}
	if err := f.settler.settleResults(t.Context(), results); err != nil {
		t.Fatal(err)
	}
}

func TestAttemptRowExistsBeforeTheAttempt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.send(t, simpleMessage("bob@example.net"))
	jobs := f.claimAll(t)
	_, recipients, attempts, _ := f.loadState(t, id)
	if len(jobs) != 1 || len(attempts) != 1 || attempts[0].Outcome != nil || attempts[0].Fence != recipients[0].Fence ||
		recipients[0].Attempts != 1 {
		t.Fatalf("jobs %+v attempts %+v", jobs, attempts)
	}
	if again := f.claimAll(t); len(again) != 0 {
		t.Errorf("a claimed recipient was claimed again: %+v", again)
	}
}

func TestCutOffAttemptIsUnknown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.send(t, simpleMessage("bob@example.net"))
	first := f.claimAll(t)
	f.MakeDue(t) // the lease is over
	second := f.claimAll(t)
	_, _, attempts, _ := f.loadState(t, id)
	if len(attempts) != 2 || attempts[0].Outcome == nil || *attempts[0].Outcome != attempt.OutcomeUnknown ||
		attempts[1].Outcome != nil {
		t.Fatalf("attempts: %+v", attempts)
	}
	// The first owner continues: its attempt row gets the outcome, but the recipient stays with the second
	// owner.
	f.settleWith(t, first, smtpclient.Outcome{Kind: smtpclient.Permanent, Code: 550, Reply: "550 late"})
	e, recipients, attempts, types := f.loadState(t, id)
	if e.Status != email.StatusSent || recipients[0].State != recipient.StateQueued || len(types) != 1 {
		t.Errorf("a stale owner changed the email: %v %v %v", e.Status, recipients[0].State, types)
	}
	if *attempts[0].Outcome != attempt.OutcomeBounced {
		t.Errorf("the late attempt's outcome is %v", *attempts[0].Outcome)
	}
	f.settleWith(t, second, smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"})
	if e, _, _, _ := f.loadState(t, id); e.Status != email.StatusDelivered {
		t.Errorf("status is %s", e.Status)
	}
}

func TestOutcomesSettleTheEmailOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.send(t, simpleMessage("a@example.net", "b@example.net", "c@example.net"))
	jobs := f.claimAll(t)
	f.settleWith(t, jobs[:1], smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"})
	if e, _, _, _ := f.loadState(t, id); e.Status != email.StatusSent || e.LastEvent != "email.delivered" ||
		e.DeliveredAt != nil {
		t.Errorf("after the first: %s %s %v", e.Status, e.LastEvent, e.DeliveredAt)
	}
	f.settleWith(t, jobs[1:], smtpclient.Outcome{Kind: smtpclient.Permanent, Code: 550, EnhancedCode: "5.1.1",
		Reply: "550 5.1.1 no such user", RemoteHost: "mx.example.net"})
	f.settleWith(t, jobs, smtpclient.Outcome{Kind: smtpclient.Delivered}) // settled twice: nothing to do
	e, recipients, _, types := f.loadState(t, id)
	if e.Status != email.StatusBounced || e.BounceReason == nil || *e.BounceReason != "550 5.1.1 no such user" ||
		e.BouncedAt == nil || e.DeliveredAt != nil {
		t.Errorf("email: %+v", e)
	}
	if r := recipients[2]; r.State != recipient.StateBounced || *r.Code != 550 || *r.EnhancedCode != "5.1.1" ||
		*r.RemoteMta != "mx.example.net" || r.DueAt != nil || r.SettledAt == nil {
		t.Errorf("recipient: %+v", r)
	}
	if diff := cmp.Diff([]string{"email.sent", "email.delivered", "email.bounced", "email.bounced"},
		types); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestDeferralsAreAnnouncedOnceInFourHours(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.send(t, simpleMessage("bob@example.net"))
	busy := smtpclient.Outcome{Kind: smtpclient.Temporary, Code: 451, EnhancedCode: "4.7.1", Reply: "451 4.7.1 later"}
	for range 3 {
		f.settleWith(t, f.claimAll(t), busy)
		f.MakeDue(t)
	}
	if _, err := f.DB.SQL.ExecContext(t.Context(), `UPDATE recipients SET delay_notified_at = now() - interval '4 hours'`); err != nil {
		t.Fatal(err)
	}
	f.settleWith(t, f.claimAll(t), busy)
	_, recipients, attempts, types := f.loadState(t, id)
	if diff := cmp.Diff([]string{"email.sent", "email.delivery_delayed", "email.delivery_delayed"}, types); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if r := recipients[0]; r.State != recipient.StateDeferred || r.Attempts != 4 || len(attempts) != 4 {
		t.Errorf("recipient %+v, %d attempts", r, len(attempts))
	}
	if wait := time.Until(*recipients[0].DueAt); wait < 25*time.Minute || wait > 31*time.Minute {
		t.Errorf("after the fourth attempt the next is in %s, want 30m", wait)
	}
}

func TestRetriesEndAfterSeventyTwoHours(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.send(t, simpleMessage("bob@example.net"))
	if _, err := f.DB.SQL.ExecContext(t.Context(), `UPDATE recipients SET queued_at = now() - interval '73 hours'`); err != nil {
		t.Fatal(err)
	}
	f.settleWith(t, f.claimAll(t), smtpclient.Outcome{Kind: smtpclient.Temporary, Code: 451, Reply: "451 still later"})
	if e, _, _, types := f.loadState(t, id); e.Status != email.StatusBounced || types[len(types)-1] != "email.bounced" {
		t.Errorf("status %s, facts %v", e.Status, types)
	}
}

func TestReleasedDeliveryIsAsIfNeverClaimed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.send(t, simpleMessage("bob@example.net"))
	if err := f.claimer.releaseJobs(t.Context(), f.claimAll(t)); err != nil {
		t.Fatal(err)
	}
	_, recipients, attempts, _ := f.loadState(t, id)
	if recipients[0].Attempts != 0 || len(attempts) != 0 {
		t.Errorf("recipient %+v, attempts %+v", recipients[0], attempts)
	}
	if again := f.claimAll(t); len(again) != 1 || again[0].attempt != 1 {
		t.Errorf("claimed again: %+v", again)
	}
}

func TestExtendReportsLostLeases(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.send(t, simpleMessage("a@example.net", "b@example.net"))
	jobs := f.claimAll(t)
	f.settleWith(t, jobs[:1], smtpclient.Outcome{Kind: smtpclient.Delivered})
	held, err := f.claimer.extendLeases(t.Context(), jobs, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bool{false, true}, held); diff != "" {
		t.Errorf("held (-want +got):\n%s", diff)
	}
}

func TestWorkerDeliversEverything(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	big := simpleMessage("big@example.net")
	big.HTML = "<p>" + longText(300<<10) + "</p>"
	big.Attachments = []sending.Attachment{{Name: "a.txt", Data: []byte("attached")}}
	ids := []string{f.send(t, big)}
	for range 30 {
		ids = append(ids, f.send(t, simpleMessage("a@example.net", "b@example.net")))
	}
	if err := f.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	expect.Eventually(t, "all emails are delivered", func() bool { return f.Count(t, "emails WHERE status <> 'delivered'") == 0 })
	if n := len(f.Peer.Seen); n != 61 {
		t.Errorf("%d transactions for 61 recipients", n)
	}
}

func longText(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'x'
	}
	return string(b)
}
