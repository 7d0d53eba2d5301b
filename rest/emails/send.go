package emails

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/openapi"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// BodyLimit is the size limit of a send request in bytes: ten attachments of 10 MB in base64, and html and text of 5 MB
// each.
const BodyLimit = 150 << 20

// sending adds the operations that send.
func (e *edge) sending(g *api.TagGroup) {
	api.HandleClaimed(g, api.Operation{
		Path: "/emails", ID: "sendEmail", Needs: rights.Send, Stores: api.StoresItself,
		Summary: "Send an email",
		Description: "Sends an email: stores the message durably, responds, and starts delivery immediately. `from` " +
			"must be on a verified domain of the account, or on the sandbox domain if every recipient is the " +
			"account email. An email has at most 50 recipients in `to`, `cc` and `bcc`.\n\nWith `scheduled_at`, the " +
			"message is sent at that time and can be changed with `PATCH /emails/{id}` until then. It cannot have " +
			"attachments.\n\nIf a recipient is suppressed, the message is recorded but sent to no recipient: the " +
			"response is 200 with the status `failed` and `suppressed_recipients`, and the event is " +
			"`email.suppressed`. It does not count against the quota, and its `Idempotency-Key` is not stored.\n\nWith `unsubscribe`, the message gets the header fields `List-Unsubscribe` and " +
			"`List-Unsubscribe-Post` (RFC 8058), and `{{unsubscribe_url}}` in `subject`, `html` and `text` is " +
			"replaced by the link of the first address in `to`.",
		Body:    &api.Body{Limit: BodyLimit, Large: true, About: "The email to send.", Examples: sendExamples()},
		Example: map[string]any{"id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "status": "sent"},
		Answer:  EmailReceipt{}, Problems: []int{http.StatusBadGateway},
	}, sendBody, e.send)
	api.HandleClaimed(g, api.Operation{
		Path: "/emails/batch", ID: "sendBatch", Needs: rights.Send, Stores: api.StoresItself,
		Summary: "Send up to 100 emails",
		Description: "Sends up to 100 emails. Each item is an email as in `POST /emails`, without attachments, and " +
			"is validated separately. The response is 200 if the request itself is valid, and has one result per " +
			"item in the same order. A rejected item has a null `id`, the status `failed` and an `error`; the " +
			"others are stored in one transaction. With `atomic`, one rejected item rejects the request. An `Idempotency-Key` applies to the whole batch.",
		Body: &api.Body{Limit: batchBodyLimit, Large: true, About: "The emails to send.", Examples: map[string]any{
			"two": map[string]any{"emails": []any{
				map[string]any{"from": "Ada <ada@example.com>", "to": "bob@example.net", "subject": "Your receipt",
					"text": "Thank you."},
				map[string]any{"from": "Ada <ada@example.com>", "to": "carol@example.net", "subject": "Your receipt",
					"text": "Thank you.", "scheduled_at": openapi.Tomorrow + "T09:30:00Z"},
			}},
		}},
		Problems: []int{http.StatusBadGateway},
		Example: map[string]any{"data": []any{
			map[string]any{"index": 0, "id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "status": "sent"},
			map[string]any{"index": 1, "id": nil, "status": "failed", "error": map[string]any{
				"message": "Invalid field: to[0]", "code": fault.CodeValidation, "details": map[string]any{"to[0]": "must contain @"}}},
		}}, Answer: batchAnswer{},
	}, batchBody, e.sendBatch)
	api.HandleClaimed(g, api.Operation{
		Path: "/emails/{id}/resend", ID: "resendEmail", Needs: rights.Send, Stores: api.StoresItself,
		Summary: "Resend a stored email",
		Description: "Creates and sends a new email from the content of a stored one: " + resentFields +
			" It is sent immediately, regardless of the outcome and the scheduled time of the stored email. All rules of `POST /emails` " +
			"apply. Fails with 409 `conflict` if the body was deleted.",
		Problems: []int{http.StatusNotFound, http.StatusBadGateway},
		Answer:   EmailReceipt{}, Example: map[string]any{"id": "msg_01kf0m4w7he6x8q2v5b3n9c1tb", "status": "sent"},
		Of: email,
	}, nil, e.resend)
}

// send reports all errors of a request in one response before it sends.
func (e *edge) send(ctx context.Context, c *api.Call, _ *api.None, m sending.Message,
	claim *idempotency.Claim) (idempotency.Response, error) {
	return AnswerOf(e.sender.Send(ctx, c.Caller, sending.Request{Message: m, Claim: claim, Render: Render}))
}

func (e *edge) resend(ctx context.Context, c *api.Call, in *api.Item, _ api.None,
	claim *idempotency.Claim) (idempotency.Response, error) {
	return AnswerOf(e.sender.Resend(ctx, c.Caller, sending.Resend{EmailID: in.ID, Claim: claim, Render: Render}))
}

// Render returns the response to a send.
func Render(r sending.Receipt) idempotency.Response {
	return idempotency.Response{Status: http.StatusOK, Body: wire.Encode(EmailReceipt{ID: r.ID, Status: r.Status,
		Suppressed: r.Suppressed})}
}

// AnswerOf returns the response to a send, or the stored response of an earlier one with the same key.
func AnswerOf(receipt sending.Receipt, err error) (idempotency.Response, error) {
	switch {
	case err != nil:
		return idempotency.Response{}, err
	case receipt.Replay != nil:
		receipt.Replay.Replayed = true
		return *receipt.Replay, nil
	default:
		return Render(receipt), nil
	}
}
