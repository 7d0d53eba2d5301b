package sending

import (
	"testing"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/fault"
)

func TestExpiryIsWithinRetryPeriod(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	at := func(d time.Duration) *time.Time { moment := now.Add(d); return &moment }
	for name, c := range map[string]struct {
		expires, scheduled *time.Time
		want               string
	}{
		"none":                              {},
		"soon":                              {expires: at(time.Millisecond)},
		"now":                               {expires: at(0), want: "must be in the future"},
		"at the limit":                      {expires: at(72 * time.Hour)},
		"later":                             {expires: at(72*time.Hour + 1), want: "must be at most 72 hours after the message is sent"},
		"at its scheduled time":             {expires: at(time.Hour), scheduled: at(time.Hour), want: "must be after scheduled_at"},
		"after its scheduled time":          {expires: at(time.Hour + 1), scheduled: at(time.Hour)},
		"72 hours after its scheduled time": {expires: at(73 * time.Hour), scheduled: at(time.Hour)},
		"more than 72 hours after it":       {expires: at(73*time.Hour + 1), scheduled: at(time.Hour), want: "must be at most 72 hours after the message is sent"},
		"a schedule far ahead":              {expires: at(72*time.Hour - 1), scheduled: at(-30 * time.Second)},
	} {
		m := simpleMessage("bob@example.net")
		m.ExpiresAt, m.ScheduledAt = c.expires, c.scheduled
		if _, wrong := m.parse(now); wrong["expires_at"] != c.want {
			t.Errorf("%s: %q, want %q", name, wrong["expires_at"], c.want)
		}
	}
}

func TestResendDoesNotCopyExpiry(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := simpleMessage("bob@example.net")
	at := time.Now().Add(time.Hour).In(time.FixedZone("", 3600))
	m.ExpiresAt = &at
	id := f.send(t, m)
	e, _, _, _ := f.state(t, id)
	if e.ExpiresAt == nil || !e.ExpiresAt.Equal(at.Truncate(time.Millisecond)) {
		t.Errorf("stored %v, want %v", e.ExpiresAt, at)
	}
	again, err := f.Resend(t.Context(), f.Caller(), Resend{EmailID: id})
	if err != nil {
		t.Fatal(err)
	}
	if e, _, _, _ := f.state(t, again.ID); e.ExpiresAt != nil {
		t.Errorf("the resent email expires at %v, want no expiry", e.ExpiresAt)
	}
}

func TestRescheduleStaysBeforeExpiry(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := simpleMessage("bob@example.net")
	now := time.Now()
	at, expires := now.Add(time.Hour), now.Add(2*time.Hour)
	m.ScheduledAt, m.ExpiresAt = &at, &expires
	id := f.send(t, m)
	for late, refused := range map[time.Duration]bool{90 * time.Minute: false, 3 * time.Hour: true} {
		_, err := f.Reschedule(t.Context(), sendingtest.Account, id, now.Add(late))
		if refused != (fault.KindOf(err) == fault.Invalid) || !refused && err != nil {
			t.Errorf("moving by %s returned %v", late, err)
		}
	}
	if _, err := f.Cancel(t.Context(), sendingtest.Account, id); err != nil {
		t.Errorf("cancel: %v", err)
	}
}

// The account was suspended at the scheduled time, and resumed after the expiry.
func TestExpiredEmailIsNotReleased(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := simpleMessage("a@example.net", "b@example.net")
	at, expires := time.Now().Add(-30*time.Second), time.Now().Add(time.Hour)
	m.ScheduledAt, m.ExpiresAt = &at, &expires
	id := f.send(t, m)
	f.Near.Owner.Suspended = true
	f.releaseAll(t)
	if e, _, _, _ := f.state(t, id); e.Status != email.StatusQueued {
		t.Fatalf("the held email is %s", e.Status)
	}
	f.Exec(t, `UPDATE emails SET release_at = now(), expires_at = now()`)
	f.Near.Left = 1
	f.releaseAll(t)
	e, recipients, _, types := f.state(t, id)
	if e.Status != email.StatusFailed || types[len(types)-1] != "email.failed" || len(types) != 2 || f.Near.Left != 1 {
		t.Errorf("the email is %s, facts %v, %d left of the cap", e.Status, types, f.Near.Left)
	}
	if data := f.Payload(t, id, 1); data.Failure == nil || data.Failure.Code != lifecycle.CodeExpired {
		t.Errorf("payload: %+v", data)
	}
	for _, r := range recipients {
		if r.State != recipient.StateFailed || r.DueAt != nil || r.Diagnostic == nil ||
			*r.Diagnostic != lifecycle.ExpiredDiagnostic {
			t.Errorf("recipient: %+v", r)
		}
	}
}
