package rest

import (
	"context"
	"net/http"
	"reflect"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/idempotency"
)

// resend registers the operation that sends a stored email once more.
func (e *emailEdge) resend(a *API) {
	add(a, operation{
		method: http.MethodPost, path: "/emails/{id}/resend", id: "resendEmail", tag: tagEmails, needs: accounts.Send, idempotent: true,
		summary: "Send a stored email once more",
		description: "Makes a new email, with an id of its own, of what the stored one said: `from`, all recipients, `subject`, bodies, `tags`, `headers`, `reply_to`, " +
			"`unsubscribe` and `category`. Attachments and `expires_at` are left out. It is sent at once, whatever became of the stored one and whenever that was to be sent, and all rules of a send apply anew. " +
			"409 `conflict` when the body has been deleted.",
		problems: []int{http.StatusNotFound, http.StatusBadGateway},
		answer:   reflect.TypeFor[emailReceipt](), example: map[string]any{"id": "msg_01kf0m4w7he6x8q2v5b3n9c1tb", "status": "sent"},
	}, e.sendAgain)
}

func (e *emailEdge) sendAgain(ctx context.Context, in *emailID) (*stored, error) {
	c := callOf(ctx)
	if len(c.body) == 0 {
		c.body = []byte("{}") // it takes none; the key needs something to be compared with
	}
	return e.api.once(ctx, e.store, c, "POST "+Prefix+"/emails/"+in.ID+"/resend", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		if !id.Is(id.Email, in.ID) {
			return idempotency.Answer{}, fault.Missing("email", shown(in.ID))
		}
		return answerOf(e.send.Resend(ctx, c.Caller, sending.Resend{EmailID: in.ID, Claim: claim, Render: renderReceipt}))
	})
}

// answerOf is what a send is answered.
func answerOf(receipt sending.Receipt, err error) (idempotency.Answer, error) {
	switch {
	case err != nil:
		return idempotency.Answer{}, err
	case receipt.Replay != nil:
		receipt.Replay.Replayed = true
		return *receipt.Replay, nil
	default:
		return renderReceipt(receipt), nil
	}
}
