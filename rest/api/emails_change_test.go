package api_test

import (
	"context"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
)

func (f *fakeSending) Reschedule(ctx context.Context, account, id string, at time.Time) (*ent.Email, error) {
	e, err := f.Get(ctx, account, id)
	if err != nil {
		return nil, err
	}
	at = at.UTC()
	e.Status, e.LastEvent, e.ScheduledAt, e.SentAt, e.DeliveredAt = email.StatusScheduled, "email.scheduled",
		&at, nil, nil
	return e, nil
}

func (f *fakeSending) Cancel(ctx context.Context, account, id string) (*ent.Email, error) {
	e, err := f.Reschedule(ctx, account, id, time.Date(2026, 1, 16, 9, 30, 0, 0, time.UTC))
	if err != nil {
		return nil, err
	}
	at := time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC)
	e.Status, e.LastEvent, e.CancelledAt = email.StatusCancelled, "email.cancelled", &at
	return e, nil
}

func TestEmailChangeAnswers(t *testing.T) {
	t.Parallel()
	one := "/api/emails/" + emailID
	sent := fault.Conflictf(fault.CodeEmailNotScheduled, "The email is not scheduled (any more): it is sent").
		With("status", "sent")
	for name, c := range map[string]struct {
		body, path, key string
		fail            error
		status          int
	}{
		"email_rescheduled":          {body: `{"scheduled_at":"2026-01-16T10:30:00+01:00"}`, status: 200},
		"email_rescheduled_by_alias": {body: `{"scheduledAt":"2026-01-16T09:30:00Z","cancel":null}`, status: 200},
		"email_cancelled":            {body: `{"cancel":true}`, status: 200},
		"email_change_both":          {body: `{"cancel":true,"scheduled_at":"2026-01-16T09:30:00Z"}`, status: 400},
		"email_change_neither":       {body: `{}`, status: 400},
		"email_change_null":          {body: `{"scheduled_at":null}`, status: 400},
		"email_change_cancel_false":  {body: `{"cancel":false}`, status: 400},
		"email_change_types":         {body: `{"cancel":"true","scheduled_at":1768469400}`, status: 400},
		"email_change_no_offset":     {body: `{"scheduled_at":"2026-01-16T09:30:00"}`, status: 400},
		"email_change_words":         {body: `{"scheduled_at":"tomorrow"}`, status: 400},
		"email_change_unknown_field": {body: `{"schedule_at":"2026-01-16T09:30:00Z","subject":"x"}`, status: 400},
		"email_change_alias_twice":   {body: `{"scheduled_at":"2026-01-16T09:30:00Z","scheduledAt":"2026-01-16T09:30:00Z"}`, status: 400},
		"email_change_array":         {body: `[{"cancel":true}]`, status: 400},
		"email_change_not_scheduled": {body: `{"cancel":true}`, fail: sent, status: 409},
		"email_change_unknown":       {body: `{"cancel":true}`, path: "/api/emails/msg_01kf0m4w7he6x8q2v5b3n9c1tb", status: 404},
		"email_change_garbage_id":    {body: `{"cancel":true}`, path: "/api/emails/%00%ff", status: 404},
		"email_change_scope_read":    {body: `{"cancel":true}`, key: "read", status: 403},
		"email_change_scope_sending": {body: `{"cancel":true}`, key: "sending", status: 403},
		"email_change_empty_body":    {body: " ", status: 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundleFor(t, "/api/emails")
			b.sending.fail = c.fail
			if c.path == "" {
				c.path = one
			}
			got := b.do(t, request{method: "PATCH", path: c.path, body: c.body, key: c.key})
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}
