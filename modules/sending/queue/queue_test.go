package queue

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/postrider/postrider/ent/attempt"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

var delivered = smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"}

func greylisted() smtpclient.Outcome {
	return smtpclient.Outcome{Kind: smtpclient.Temporary, Phase: smtpclient.PhaseRcpt, Code: 451, EnhancedCode: "4.7.1",
		Reply: "451 4.7.1 Greylisted", RemoteHost: "mx.example.net"}
}

// mustChange fails the test if an operation fails.
func mustChange(t *testing.T) func(Result, error) Result {
	t.Helper()
	return func(r Result, err error) Result {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

func (f *fixture) listQueued(t *testing.T, s Selection) []Queued {
	t.Helper()
	list, err := f.Service.List(t.Context(), s, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func (f *fixture) listStates(t *testing.T, s Selection) []string {
	t.Helper()
	var out []string
	for _, r := range f.listQueued(t, s) {
		line := strings.TrimSuffix(r.Address, "@"+r.Destination) + " " + string(r.State)
		if r.Running {
			line += " running"
		}
		out = append(out, line)
	}
	return out
}

func TestQueueListsStatesOfRecipients(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.Send(t, rooms.SimpleMessage("deferred@example.net", "running@example.net"))
	jobs := f.ClaimAll(t)
	f.SettleWith(t, jobs[:1], greylisted())
	f.Send(t, rooms.SimpleMessage("queued@example.net", "parked@example.org", "held@example.org"))
	f.Exec(t, `UPDATE recipients SET lane = ' example.org' WHERE address = 'parked@example.org'`)
	f.Exec(t, `UPDATE recipients SET held_by = 'operator' WHERE address = 'held@example.org'`)
	later := rooms.SimpleMessage("scheduled@example.net")
	later.ScheduledAt = sendingtest.At(time.Hour)
	f.Send(t, later)
	f.Exec(t, `UPDATE recipients SET queued_at = now() - interval '90 seconds' WHERE address = 'deferred@example.net'`)

	want := []string{"deferred deferred", "running queued running", "queued queued", "parked parked", "held held"}
	if diff := cmp.Diff(want, f.listStates(t, Selection{All: true})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, c := range map[string]struct {
		s    Selection
		want []string
	}{
		"destination":           {Selection{Destination: "EXAMPLE.org"}, want[3:]},
		"email":                 {Selection{EmailID: id}, want[:2]},
		"account":               {Selection{AccountID: sendingtest.Account}, want},
		"stranger":              {Selection{AccountID: "acc_01kf0m4w7he6x8q2v5b3n9c1tb"}, nil},
		"stranger by recipient": {Selection{AccountID: "acc_01kf0m4w7he6x8q2v5b3n9c1tb", RecipientIDs: []int64{jobs[0].RecipientID()}}, nil},
		"recipient":             {Selection{RecipientIDs: []int64{jobs[0].RecipientID()}}, want[:1]},
		"queued":                {Selection{State: InQueue}, want[1:3]},
		"deferred":              {Selection{State: Deferred}, want[:1]},
		"parked":                {Selection{State: Parked}, want[3:4]},
		"held":                  {Selection{State: OnHold}, want[4:]},
	} {
		if diff := cmp.Diff(c.want, f.listStates(t, c.s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	list := f.listQueued(t, Selection{All: true})
	if d := list[0]; d.Attempts != 1 || d.NextAttempt == nil || d.Diagnostic != "451 4.7.1 Greylisted" ||
		d.Age < 90*time.Second || d.AccountID != sendingtest.Account || d.EmailID != id {
		t.Errorf("deferred: %+v", d)
	}
	if list[1].NextAttempt != nil || list[4].NextAttempt != nil || list[3].Lane != " example.org" ||
		list[4].Lane != "" {
		t.Errorf("next attempts and lanes: %+v", list)
	}
	rest, err := f.Service.List(t.Context(), Selection{}, list[1].RecipientID, 2)
	if err != nil || len(rest) != 2 || rest[0].RecipientID != list[2].RecipientID {
		t.Errorf("page after the second recipient: %+v %v", rest, err)
	}

	sums, err := f.Service.Summary(t.Context(), Selection{All: true}, 10)
	if err != nil {
		t.Fatal(err)
	}
	wantSums := []Backlog{
		{Destination: "example.net", Due: 1, Running: 1, Deferred: 1, Diagnostic: "451 4.7.1 Greylisted"},
		{Destination: "example.org", Parked: 1, Held: 1},
	}
	if diff := cmp.Diff(wantSums, sums, cmpopts.IgnoreFields(Backlog{}, "Oldest")); diff != "" ||
		sums[0].Oldest < 90*time.Second || sums[0].Total() != 3 {
		t.Errorf("oldest %s, (-want +got):\n%s", sums[0].Oldest, diff)
	}
	wantSums[0].Diagnostic = "451 4.7.1"
	forAll, err := f.Service.Destinations(t.Context(), 1)
	if diff := cmp.Diff(wantSums[:1], forAll, cmpopts.IgnoreFields(Backlog{}, "Oldest")); err != nil || diff != "" {
		t.Errorf("for the whole installation: %v, (-want +got):\n%s", err, diff)
	}
}

func TestRetrySkipsRunningAndHeldRecipients(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Send(t, rooms.SimpleMessage("deferred@example.net", "running@example.net", "parked@example.net",
		"held@example.net"))
	jobs := f.ClaimAll(t)
	f.SettleWith(t, append(jobs[:1:1], jobs[2:]...), greylisted())
	f.Exec(t, `UPDATE recipients SET lane = 'parked' WHERE address ~ '^parked'`)
	f.Exec(t, `UPDATE recipients SET held_by = 'operator' WHERE address ~ '^held'`)
	q := f.Service
	if got := mustChange(t)(q.Retry(t.Context(),
		Operation{Selection: Selection{All: true}, DryRun: true})); got != (Result{Matched: 4}) ||
		len(f.ClaimAll(t)) != 0 {
		t.Errorf("dry run: %+v", got)
	}
	if got := mustChange(t)(q.Retry(t.Context(),
		Operation{Selection: Selection{Destination: "example.net"}})); got != (Result{Matched: 4, Changed: 2}) {
		t.Errorf("retry: %+v", got)
	}
	var again []string
	for _, j := range f.ClaimAll(t) {
		again = append(again, j.Address())
	}
	if diff := cmp.Diff([]string{"deferred@example.net", "parked@example.net"}, again,
		cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
		t.Errorf("claimed (-want +got):\n%s", diff)
	}
}

func TestHeldRecipientWaitsForItsRelease(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.Send(t, rooms.SimpleMessage("idle@example.net", "running@example.net"))
	f.Exec(t, `UPDATE recipients SET due_at = now() + interval '1 hour' WHERE address ~ '^idle'`)
	running := f.ClaimAll(t)
	q := f.Service
	if got := mustChange(t)(q.Hold(t.Context(), Operation{Selection: Selection{EmailID: id}})); got.Changed != 2 {
		t.Fatalf("hold: %+v", got)
	}
	// The running attempt ends as it would without the hold.
	f.SettleWith(t, running, greylisted())
	_, recipients, attempts, _ := f.State(t, id)
	if recipients[1].State != recipient.StateDeferred || !records.IsHeld(recipients[1]) ||
		records.NextAttemptAt(recipients[1]) != nil || *attempts[0].Outcome != attempt.OutcomeDeferred {
		t.Errorf("recipient %+v, attempt %+v", recipients[1], attempts[0])
	}
	f.MakeDue(t)
	if jobs := f.ClaimAll(t); len(jobs) != 0 {
		t.Fatalf("held recipients were claimed: %+v", jobs)
	}
	if got := mustChange(t)(q.Release(t.Context(),
		Operation{Selection: Selection{EmailID: id}})); got.Changed != 2 {
		t.Errorf("release: %+v", got)
	}
	jobs := f.ClaimAll(t)
	if len(jobs) != 2 {
		t.Fatalf("claimed %+v", jobs)
	}
	// A running recipient that is released keeps its lease.
	mustChange(t)(q.Hold(t.Context(), Operation{Selection: Selection{EmailID: id}}))
	mustChange(t)(q.Release(t.Context(), Operation{Selection: Selection{EmailID: id}}))
	if again := f.ClaimAll(t); len(again) != 0 {
		t.Errorf("claimed twice: %+v", again)
	}
	f.SettleWith(t, jobs, delivered)
	if e, _, _, _ := f.State(t, id); e.Status != email.StatusDelivered {
		t.Errorf("email is %s", e.Status)
	}
}

func TestDroppedRecipientFailsWhateverItsAttemptReturns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.Send(t, rooms.SimpleMessage("a@example.net", "b@example.net"))
	jobs := f.ClaimAll(t)
	f.SettleWith(t, jobs[:1], delivered)
	q := f.Service
	var steps []string
	got := mustChange(t)(q.Drop(t.Context(), Operation{Selection: Selection{EmailID: id},
		Progress: func(done, of int) { steps = append(steps, fmt.Sprint(done, "/", of)) }},
		"the customer asked for it"))
	if got != (Result{Matched: 1, Changed: 1}) || len(steps) != 1 || steps[0] != "1/1" {
		t.Errorf("drop: %+v, %v", got, steps)
	}
	if held := f.Extend(t, jobs[1:]); held[0] {
		t.Errorf("the worker kept its lease: %v", held)
	}
	f.SettleWith(t, jobs[1:], delivered)
	e, recipients, attempts, types := f.State(t, id)
	if r := recipients[1]; r.State != recipient.StateFailed || r.DueAt != nil || r.SettledAt == nil ||
		*r.Diagnostic != "the customer asked for it" {
		t.Errorf("recipient: %+v", r)
	}
	if *attempts[1].Outcome != attempt.OutcomeDelivered {
		t.Errorf("attempt: %+v", attempts[1])
	}
	if e.Status != email.StatusFailed || e.LastEvent != "email.failed" || e.Uncommon == nil || *e.Uncommon != "failed" {
		t.Errorf("email: %+v", e)
	}
	if diff := cmp.Diff([]string{"email.sent", "email.delivered", "email.failed"}, types); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	data := f.Payload(t, id, 2)
	if data.Recipient != "b@example.net" || data.Status != "failed" || data.Failure.Code != CodeDropped ||
		data.Failure.Reason != "the customer asked for it" || data.CC == nil {
		t.Errorf("payload: %+v", data)
	}
	if again := mustChange(t)(q.Drop(t.Context(), Operation{Selection: Selection{EmailID: id}},
		"again")); again.Matched != 0 {
		t.Errorf("dropped twice: %+v", again)
	}
}

// The email stays open while another recipient is open.
func TestDropKeepsOtherRecipientsOpen(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.Send(t, rooms.SimpleMessage("a@example.net", "b@example.org"))
	mustChange(t)(f.Service.Drop(t.Context(), Operation{Selection: Selection{Destination: "example.org"}},
		"no such customer"))
	if e, _, _, _ := f.State(t, id); e.Status != email.StatusSent {
		t.Errorf("email is %s while a recipient is open", e.Status)
	}
	f.SettleWith(t, f.ClaimAll(t), delivered)
	if e, _, _, _ := f.State(t, id); e.Status != email.StatusFailed {
		t.Errorf("email is %s", e.Status)
	}
}

func TestLargeChangesRunInSteps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.Send(t, rooms.SimpleMessage("a@example.net"))
	f.Exec(t, `INSERT INTO recipients (email_id, account_id, kind, address, destination, state, due_at, created_at)
		SELECT email_id, account_id, kind, n || address, destination, state, due_at + interval '1 hour', created_at FROM recipients, generate_series(1, 2500) n`)
	var steps []int
	q := f.Service
	got := mustChange(t)(q.Retry(t.Context(), Operation{Selection: Selection{AccountID: sendingtest.Account},
		Progress: func(done, of int) {
			if of != 2501 {
				t.Errorf("total is %d, want 2501", of)
			}
			steps = append(steps, done)
		}}))
	if diff := cmp.Diff([]int{1000, 2000, 2501}, steps); diff != "" || got != (Result{Matched: 2501, Changed: 2500}) {
		t.Errorf("%+v, steps (-want +got):\n%s", got, diff)
	}
	if got := mustChange(t)(q.Drop(t.Context(), Operation{Selection: Selection{EmailID: id}},
		"enough")); got.Changed != 2501 {
		t.Errorf("drop: %+v", got)
	}
	if e, _, _, types := f.State(t, id); e.Status != email.StatusFailed || len(types) != 2502 {
		t.Errorf("%s, %d facts", e.Status, len(types))
	}
}

func TestQueueOperationsRequireASelectionAndDropAReason(t *testing.T) {
	t.Parallel()
	q := newFixture(t).Service
	for name, s := range map[string]Selection{"nothing": {}, "all and some": {All: true, EmailID: "msg_1"},
		"no such state": {State: "late"}} {
		if _, err := q.Retry(t.Context(), Operation{Selection: s}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: Retry returned %v, want kind Invalid", name, err)
		}
	}
	for _, reason := range []string{"", strings.Repeat("x", 501)} {
		if _, err := q.Drop(t.Context(), Operation{Selection: Selection{All: true}},
			reason); fault.KindOf(err) != fault.Invalid {
			t.Errorf("reason of %d characters: %v", len(reason), err)
		}
	}
}

// A database restored to a point in time has the claims of that time. Attempts that had begun by then have
// very likely been sent.
func TestDropIncludesAttemptsBegunBeforeAFailure(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Send(t, rooms.SimpleMessage("claimed@example.net", "back@example.net", "deferred@example.net"))
	f.ClaimAll(t)
	f.Send(t, rooms.SimpleMessage("due@example.net", "later@example.net"))
	f.Exec(t,
		`UPDATE attempts SET outcome = 'not_started', finished_at = now() + interval '1 minute' WHERE recipient_id IN (SELECT id FROM recipients WHERE address ~ '^back')`)
	f.Exec(t, `UPDATE attempts SET outcome = 'temporary', finished_at = now() WHERE recipient_id IN (SELECT id FROM recipients WHERE address ~ '^deferred')`)
	f.Exec(t, `UPDATE recipients SET due_at = now() + interval '1 hour' WHERE address ~ '^(later|back|deferred)'`)
	failure := time.Now().Add(time.Second)
	if waiting, err := f.Service.CountWaiting(t.Context(), failure); err != nil || waiting.Recipients != 3 {
		t.Errorf("%d recipients were due or begun (%v), want 3: claimed, back and due", waiting.Recipients, err)
	}
	dropped, err := f.Service.Drop(t.Context(),
		Operation{Selection: Selection{All: true, DueBefore: failure, Begun: true}}, "restored")
	if err != nil || dropped.Changed != 3 {
		t.Errorf("%d recipients were dropped (%v), want 3: claimed, back and due", dropped.Changed, err)
	}
	if left := f.Count(t, `recipients WHERE due_at IS NOT NULL AND address ~ '^(later|deferred)'`); left != 2 {
		t.Errorf("%d recipients remain, want the 2 that were due later", left)
	}
}

func TestLateIsTheAgeOfTheOldestDueRecipient(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	late := func() time.Duration {
		d, err := f.Service.MeasureLag(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if got := late(); got != 0 {
		t.Errorf("an empty queue is %s late", got)
	}
	f.Send(t, rooms.SimpleMessage("due@example.net"))
	f.Send(t, rooms.SimpleMessage("held@example.net", "parked@example.net", "later@example.net"))
	f.Exec(t, `UPDATE recipients SET due_at = now() - interval '2 hours'`)
	f.Exec(t, `UPDATE recipients SET held_by = 'operator' WHERE address ~ '^held'`)
	f.Exec(t, `UPDATE recipients SET lane = ' example.net' WHERE address ~ '^parked'`)
	f.Exec(t, `UPDATE recipients SET due_at = now() + interval '1 hour' WHERE address ~ '^later'`)
	f.Exec(t, `UPDATE recipients SET due_at = now() - interval '90 seconds' WHERE address ~ '^due'`)
	if got := late(); got < 90*time.Second || got > 2*time.Minute {
		t.Errorf("late by %s, want 90s", got)
	}
	f.ClaimAll(t)
	if got := late(); got != 0 {
		t.Errorf("late by %s while it is claimed", got)
	}
}
