package sending

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/work/event"
)

// schedule schedules an email; a time in the past is due immediately.
func (f *fixture) schedule(t *testing.T, in time.Duration, to ...string) string {
	t.Helper()
	m := simpleMessage(to...)
	at := time.Now().Add(in)
	m.ScheduledAt = &at
	return f.send(t, m)
}

func TestReschedule(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.schedule(t, time.Hour, "bob@example.net")
	at := time.Now().Add(48 * time.Hour).Truncate(time.Millisecond).In(time.FixedZone("", 3600))
	got, err := f.Reschedule(t.Context(), sendingtest.Account, id, at.Add(123*time.Microsecond))
	if err != nil {
		t.Fatal(err)
	}
	e, recipients, _, types := f.state(t, id)
	if got.Status != email.StatusScheduled || !got.ScheduledAt.Equal(at) || !e.ScheduledAt.Equal(at) ||
		!e.ReleaseAt.Equal(at) || *e.Uncommon != "scheduled" {
		t.Errorf("Reschedule returned %v %v and stored %v %v %v, want %v", got.Status, got.ScheduledAt, e.ScheduledAt,
			e.ReleaseAt,
			e.Uncommon, at)
	}
	if diff := cmp.Diff([]string{"email.scheduled", "email.rescheduled"}, types); diff != "" ||
		recipients[0].DueAt != nil {
		t.Errorf("due at %v, facts (-want +got):\n%s", recipients[0].DueAt, diff)
	}
	if data := f.Payload(t, id, 1); data.ScheduledAt == nil || !data.ScheduledAt.Equal(at) ||
		data.Status != "scheduled" || data.CC == nil {
		t.Errorf("payload: %+v", data)
	}
}

func TestRescheduleIsNotSentToWebhooks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.schedule(t, time.Hour, "bob@example.net")
	for i := range 3 {
		if _, err := f.Reschedule(t.Context(), sendingtest.Account, id, time.Now().
			Add(time.Duration(i+2)*time.Hour)); err != nil {
			t.Fatalf("reschedule %d: %v", i, err)
		}
	}
	e, _, _, types := f.state(t, id)
	if diff := cmp.Diff([]string{"email.scheduled", "email.rescheduled", "email.rescheduled", "email.rescheduled"},
		types); diff != "" || e.LastEvent != "email.scheduled" {
		t.Errorf("the last event is %s, want email.scheduled; the timeline is (-want +got):\n%s", e.LastEvent, diff)
	}
	if entry, known := event.Lookup(event.EmailRescheduled); !known || entry.IsPublic() {
		t.Errorf("email.rescheduled is in the catalog: %v, offered to webhooks: %v, want true and false", known,
			entry.IsPublic())
	}
}

func TestRescheduleAndCancelAdjustCaps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.Left = 2
	moved, cancelled := f.schedule(t, time.Hour, "bob@example.net"), f.schedule(t, time.Hour, "bob@example.net")
	f.Near.Left = 1
	first, _, _, _ := f.state(t, moved)
	due := first.ScheduledAt.UTC()
	to := due.AddDate(0, 0, 2)
	if _, err := f.Reschedule(t.Context(), sendingtest.Account, moved, to); err != nil {
		t.Fatal(err)
	}
	want := []accounts.EmailUsage{{AccountID: sendingtest.Account, Due: due}, {AccountID: sendingtest.Account, Due: to}}
	if diff := cmp.Diff(want, sendingtest.InUTC(f.Near.Moved)); diff != "" {
		t.Errorf("moves between caps (-want +got):\n%s", diff)
	}
	f.Near.Left = 0
	if _, err := f.Reschedule(t.Context(), sendingtest.Account, moved, to.AddDate(0, 0, 2)); !errors.Is(err,
		sendingtest.ErrCap) {
		t.Errorf("a move to a full day returned %v, want the error of the cap", err)
	}
	if e, _, _, types := f.state(t, moved); !e.ScheduledAt.Equal(to) || len(types) != 2 {
		t.Errorf("after the failed move the email is due at %s with the timeline %v, want %s and two events",
			e.ScheduledAt, types, to)
	}
	if _, err := f.Cancel(t.Context(), sendingtest.Account, cancelled); err != nil {
		t.Fatal(err)
	}
	second, _, _, _ := f.state(t, cancelled)
	if diff := cmp.Diff([]accounts.EmailUsage{{AccountID: sendingtest.Account, Due: second.ScheduledAt.UTC()}},
		sendingtest.InUTC(f.Near.Back)); diff != "" {
		t.Errorf("refund for the cancelled email (-want +got):\n%s", diff)
	}
}

func TestDueTimeNearMidnight(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ at, now, want time.Time }{
		"later":                      {midnight.Add(time.Hour), midnight, midnight.Add(time.Hour)},
		"a moment ago":               {midnight.Add(time.Second), midnight.Add(30 * time.Second), midnight.Add(time.Second)},
		"yesterday":                  {midnight.Add(-time.Second), midnight.Add(30 * time.Second), midnight.Add(30 * time.Second)},
		"yesterday in its time zone": {midnight.Add(-time.Second).In(time.FixedZone("", 7200)), midnight.Add(time.Second), midnight.Add(time.Second)},
	} {
		if got := dueAt(c.at, c.now); !got.Equal(c.want) {
			t.Errorf("%s: an email for %s is due at %s, want %s", name, c.at, got, c.want)
		}
	}
}

func TestCancelledEmailIsNotDelivered(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.schedule(t, -30*time.Second, "a@example.net", "b@example.net") // due but not released yet
	got, err := f.Cancel(t.Context(), sendingtest.Account, id)
	if err != nil {
		t.Fatal(err)
	}
	f.releaseAll(t)
	e, recipients, _, types := f.state(t, id)
	if got.Status != email.StatusCancelled || got.CancelledAt == nil || e.Status != email.StatusCancelled ||
		e.LastEvent != "email.cancelled" || *e.Uncommon != "cancelled" ||
		e.ReleaseAt != nil || e.SentAt != nil || e.ScheduledAt == nil {
		t.Errorf("Cancel returned %+v and stored %+v", got, e)
	}
	for _, r := range recipients {
		if r.DueAt != nil || r.SettledAt == nil || r.Diagnostic == nil || *r.Diagnostic != "cancelled" {
			t.Errorf("recipient: %+v", r)
		}
	}
	if diff := cmp.Diff([]string{"email.scheduled", "email.cancelled"}, types); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if data := f.Payload(t, id, 1); data.ScheduledAt == nil || data.Status != "cancelled" {
		t.Errorf("payload: %+v", data)
	}
	if jobs := f.claimAll(t); len(jobs) != 0 {
		t.Errorf("a cancelled email was delivered: %+v", jobs)
	}
}

func TestChangesOnlyScheduledEmailsOfAccount(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const stranger = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
	sent, scheduled, cancelled := f.send(t, simpleMessage("bob@example.net")), f.schedule(t, time.Hour,
		"bob@example.net"), f.schedule(t, time.Hour, "bob@example.net")
	if _, err := f.Cancel(t.Context(), sendingtest.Account, cancelled); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		account, id string
		at          time.Time
		kind        fault.Kind
		text        string
	}{
		"sent":                    {sendingtest.Account, sent, later, fault.Conflict, "sent"},
		"cancelled":               {sendingtest.Account, cancelled, later, fault.Conflict, "cancelled"},
		"another account's email": {stranger, scheduled, later, fault.NotFound, scheduled},
		"unknown":                 {sendingtest.Account, "msg_01kf0m4w7he6x8q2v5b3n9c1tb", later, fault.NotFound, "No such email"},
		"an invalid id":           {sendingtest.Account, "x", later, fault.NotFound, "No such email"},
		"in the past":             {sendingtest.Account, scheduled, time.Now().Add(-61 * time.Second), fault.Invalid, "scheduled_at"},
		"too far in advance":      {sendingtest.Account, scheduled, time.Now().AddDate(1, 0, 2), fault.Invalid, "scheduled_at"},
	} {
		_, err := f.Reschedule(t.Context(), c.account, c.id, c.at)
		if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: reschedule: %v", name, err)
		}
		if c.kind == fault.Invalid {
			continue
		}
		_, err = f.Cancel(t.Context(), c.account, c.id)
		if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: cancel: %v", name, err)
		}
		if known := fault.Classify(err); c.kind == fault.Conflict &&
			(known.Code != fault.CodeEmailNotScheduled || known.Details["status"] != c.text) {
			t.Errorf("%s: the conflict has code %s and details %v, want %s and the status %s", name, known.Code,
				known.Details, fault.CodeEmailNotScheduled, c.text)
		}
	}
	if e, _, _, types := f.state(t, scheduled); e.Status != email.StatusScheduled || len(types) != 1 {
		t.Errorf("the email was changed by another account: %s %v", e.Status, types)
	}
}
