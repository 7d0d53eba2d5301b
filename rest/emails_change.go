package rest

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
)

// emailSchedule is what the operation on a scheduled email needs of sending.
type emailSchedule interface {
	Reschedule(ctx context.Context, accountID, emailID string, at time.Time) (*ent.Email, error)
	Cancel(ctx context.Context, accountID, emailID string) (*ent.Email, error)
}

// change registers the operation on a scheduled email.
func (e *emailEdge) change(a *API) {
	a.describeBody("UpdateEmail", updateEmailSchema())
	register(a, operation{
		method: http.MethodPatch, path: "/emails/{id}", id: "updateEmail", tag: tagEmails, needs: accounts.Write,
		summary: "Reschedule or cancel an email",
		description: "Only while its status is `scheduled`; any other is 409 `email_not_scheduled`, and `details.status` says which. The body is exactly one of " +
			"`scheduled_at`, with the same limits as when sending and before `expires_at`, and `cancel`. An email whose cancellation was answered 200 is never sent.",
		body: &requestBody{description: "The new time, or `cancel`.", schema: "UpdateEmail", examples: map[string]any{
			"reschedule": map[string]any{"scheduled_at": "2026-01-15T09:30:00Z"},
			"cancel":     map[string]any{"cancel": true},
		}},
		example: map[string]any{"email": cancelledExample()}, problems: []int{http.StatusNotFound, http.StatusConflict},
	}, e.update)
}

func updateEmailSchema() *huma.Schema {
	one := 1
	s := closed(withAliasProperties(map[string]*huma.Schema{
		"scheduled_at": {Type: huma.TypeString, Format: "date-time", Description: "When to send: with an offset or `Z`, at most 365 days ahead and 60 seconds ago."},
		"cancel":       {Type: huma.TypeBoolean, Enum: []any{true}, Description: "Never send it."},
	}, map[string][]string{"scheduled_at": sendAliases["scheduled_at"]}))
	s.MinProperties, s.MaxProperties = &one, &one
	return s
}

func cancelledExample() map[string]any {
	e := emailExample()
	maps.Copy(e, map[string]any{"status": "cancelled", "last_event": "email.cancelled", "scheduled_at": "2026-01-16T09:30:00.000Z",
		"cancelled_at": "2026-01-15T10:00:00.000Z", "sent_at": nil, "delivered_at": nil})
	return e
}

// emailChange is one of two changes.
type emailChange struct {
	at     *time.Time
	cancel bool
}

func (e *emailEdge) update(ctx context.Context, c *call, in *emailID) (*emailAnswer, error) {
	body, err := parseObject(c.body)
	if err != nil {
		return nil, err
	}
	change, err := decodeEmailChange(body)
	if err != nil {
		return nil, err
	}
	if !id.Is(id.Email, in.ID) {
		return nil, fault.Missing("email", shown(in.ID))
	}
	var changed *ent.Email
	if change.cancel {
		changed, err = e.send.Cancel(ctx, c.AccountID, in.ID)
	} else {
		changed, err = e.send.Reschedule(ctx, c.AccountID, in.ID, *change.at)
	}
	if err != nil {
		return nil, err
	}
	return &emailAnswer{Email: newEmailRecord(changed)}, nil
}

func decodeEmailChange(body value) (change emailChange, err error) {
	d := newDecoder()
	var given []string
	d.object("", body, withAliases(sendAliases, []field{
		{name: "scheduled_at", decode: func(path string, v value) {
			given = append(given, path)
			if at, ok := d.time(path, v); ok {
				change.at = &at
			}
		}},
		{name: "cancel", decode: func(path string, v value) {
			given = append(given, path)
			if d.expect(path, v, kindBoolean) && !v.isTrue() {
				d.refuse(path, "must be true, or left out")
			}
			change.cancel = true
		}},
	}))
	switch len(given) {
	case 0:
		d.refuse("scheduled_at", "is required, unless cancel is true")
	case 2:
		d.refuse("cancel", "must not be given together with scheduled_at")
	}
	return change, d.wrong.Err()
}
