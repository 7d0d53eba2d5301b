package emails

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/openapi"
)

// schedule is the part of sending that the operation on a scheduled email uses.
type schedule interface {
	Reschedule(ctx context.Context, accountID, emailID string, at time.Time) (*ent.Email, error)
	Cancel(ctx context.Context, accountID, emailID string) (*ent.Email, error)
}

// changing adds the operation on a scheduled email.
func (e *edge) changing(g *api.TagGroup) {
	api.HandleBody(g, api.Operation{
		Method: http.MethodPatch, Path: "/emails/{id}", ID: "updateEmail", Needs: rights.Write,
		Stores:  api.StoresNothing,
		Summary: "Reschedule or cancel an email",
		Description: "Reschedules or cancels an email whose status is `scheduled`. Any other status fails with 409 " +
			"`email_not_scheduled` and is reported in `details.status`. Send exactly one of `scheduled_at`, with the " +
			"limits of a new email and before `expires_at`, and `cancel`. Once a cancellation returns 200, the email is " +
			"never sent.",
		Body: &api.Body{About: "The new time, or `cancel`.", Examples: map[string]any{
			"reschedule": map[string]any{"scheduled_at": openapi.Tomorrow + "T09:30:00Z"},
			"cancel":     map[string]any{"cancel": true},
		}},
		Example: map[string]any{"email": cancelledExample()}, Problems: []int{http.StatusNotFound, http.StatusConflict},
		Of: email,
	}, changeBody, e.change)
}

func cancelledExample() map[string]any {
	e := emailExample()
	maps.Copy(e, map[string]any{"status": "cancelled", "last_event": "email.cancelled",
		"scheduled_at": "2026-01-16T09:30:00.000Z",
		"cancelled_at": "2026-01-15T10:00:00.000Z", "sent_at": nil, "delivered_at": nil})
	return e
}

// change reschedules or cancels an email.
type change struct {
	at     time.Time
	cancel bool
}

func changeBody(in *change) body.Object {
	return body.Object{Name: "UpdateEmail", Single: true, Fields: []body.Field{
		{Name: "scheduled_at", Aliases: scheduledAtAliases, Type: body.Time(&in.at), About: "When to send the " +
			"email: with an offset or `Z`, at most 365 days in the future and 60 seconds in the past."},
		{Name: "cancel", Type: onlyTrue{&in.cancel}, About: "Cancels the email. Must be true."},
	}, Check: func(d *body.Decoder) {
		switch len(d.GivenFields()) {
		case 0:
			d.Refuse("scheduled_at", "is required unless cancel is true")
		case 2:
			d.Refuse("cancel", "cannot be combined with scheduled_at")
		}
	}}
}

// onlyTrue reads true and refuses false.
type onlyTrue struct{ to *bool }

func (t onlyTrue) Read(d *body.Decoder, path string, v body.Value) {
	if d.Expect(path, v, body.KindBoolean) && !v.IsTrue() {
		d.Refuse(path, "must be true if present")
	}
	*t.to = true
}

func (onlyTrue) Schema(body.Components) *huma.Schema {
	return &huma.Schema{Type: huma.TypeBoolean, Enum: []any{true}}
}

func (e *edge) change(ctx context.Context, c *api.Call, in *api.Item, to change) (answer emailAnswer, err error) {
	var changed *ent.Email
	if to.cancel {
		changed, err = e.sender.Cancel(ctx, c.AccountID, in.ID)
	} else {
		changed, err = e.sender.Reschedule(ctx, c.AccountID, in.ID, to.at)
	}
	if err != nil {
		return answer, err
	}
	return newEmailAnswer(changed), nil
}
