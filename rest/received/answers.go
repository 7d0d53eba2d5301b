package received

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/emails"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// addAnswers adds the operations that reply to and forward received mail.
func (e *edge) addAnswers(g *api.TagGroup) {
	receipt := map[string]any{"id": "msg_01kf0m4w7he6x8q2v5b3n9c1tb", "status": "sent"}
	problems := []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway}
	api.HandleClaimed(g, api.Operation{
		Path: "/received-emails/{id}/reply", ID: "replyToReceivedEmail", Needs: rights.Write, Stores: api.StoresItself,
		Summary: "Reply to a received email",
		Description: "Sends a reply in the thread of a received email, with `In-Reply-To` and `References` as " +
			"defined in RFC 5322 section 3.6.4. `from` defaults to the address that received the email, `to` to its " +
			"Reply-To or From address, and `subject` to its subject after `Re: `. All rules of `POST /emails` " +
			"apply.",
		Body: &api.Body{Limit: emails.BodyLimit, Large: true, About: "The reply.", Examples: map[string]any{
			"simple": map[string]any{"text": "We are on it."},
			"more": map[string]any{"from": "Support <support@example.com>", "html": "<p>We are on it.</p>",
				"cc": []any{"carol@example.net"}, "tags": map[string]any{"kind": "answer"}}}},
		Example: receipt, Problems: problems, Answer: emails.EmailReceipt{}, Of: received,
	}, replyBody, e.replyTo)
	api.HandleClaimed(g, api.Operation{
		Path: "/received-emails/{id}/forward", ID: "forwardReceivedEmail", Needs: rights.Write,
		Stores:  api.StoresItself,
		Summary: "Forward a received email",
		Description: "Forwards a received email: its text and HTML follow yours, and its files are attached under " +
			"the rules for attachments (10 files of 10 MB, blocked extensions) unless `with_attachments` is false. " +
			"`from` defaults to the address that received the email, and `subject` to its subject after `Fwd: `. " +
			"All rules of `POST /emails` apply. Fails with 409 `conflict` if the content was deleted.",
		Body: &api.Body{Limit: emails.BodyLimit, Large: true, About: "The recipients and the message.",
			Examples: map[string]any{
				"simple": map[string]any{"to": "carol@example.net"},
				"more": map[string]any{"to": []any{"carol@example.net"}, "from": "Support <support@example.com>",
					"text": "Please have a look.", "with_attachments": false}}},
		Example: receipt, Problems: problems, Answer: emails.EmailReceipt{}, Of: received,
	}, forwardBody, e.forwardMail)
}

func replyBody(a *inbound.ReplyRequest) body.Object {
	o := answerBody("ReplyToReceivedEmail", a)
	o.About += " `html`, `text` or both are required."
	for i := range o.Fields {
		o.Fields[i].Need = body.Optional
	}
	return o
}

func forwardBody(a *inbound.ReplyRequest) body.Object {
	o := answerBody("ForwardReceivedEmail", a)
	o.Fields = append(o.Fields, body.Field{Name: "with_attachments", Type: without{&a.WithoutFiles}, Default: true,
		About: "Whether to include the files of the email."})
	return o
}

// answerBody declares the fields of a send that a reply or forward can have. Package sending validates them.
func answerBody(name string, a *inbound.ReplyRequest) body.Object {
	m := &a.Message
	fields := emails.ContentFields(m, body.Text(&m.HTML), body.Text(&m.Text), map[int]string{})
	for i := range fields {
		if fields[i].Name == "text" { // unlike a send, a reply always has a text part
			fields[i].About = "The plain text body, at most 5 MB. Generated from `html` if omitted."
		}
	}
	return body.Object{Name: name, About: "A field with the value `null` is treated as omitted.", Fields: fields}
}

// without stores the opposite of the value it reads.
type without struct{ to *bool }

func (t without) Read(d *body.Decoder, path string, v body.Value) { *t.to = !d.Boolean(path, v) }

func (t without) Schema(c body.Components) *huma.Schema { return body.Boolean(t.to).Schema(c) }

func (e *edge) replyTo(ctx context.Context, c *api.Call, in *api.Item, a inbound.ReplyRequest,
	claim *idempotency.Claim) (idempotency.Response, error) {
	return sendAnswer(ctx, c, in, a, claim, e.mail.Reply)
}

func (e *edge) forwardMail(ctx context.Context, c *api.Call, in *api.Item, a inbound.ReplyRequest,
	claim *idempotency.Claim) (idempotency.Response, error) {
	return sendAnswer(ctx, c, in, a, claim, e.mail.Forward)
}

func sendAnswer(ctx context.Context, c *api.Call, in *api.Item, a inbound.ReplyRequest, claim *idempotency.Claim,
	send func(context.Context, accounts.Caller,
		inbound.ReplyRequest) (sending.Receipt, error)) (idempotency.Response, error) {
	a.EmailID, a.Claim, a.Render = in.ID, claim, emails.Render
	return emails.AnswerOf(send(ctx, c.Caller, a))
}
