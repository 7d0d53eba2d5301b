package rest

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/idempotency"
)

// answers registers what is sent in answer to received mail.
func (e *receivedEdge) answers(a *API) {
	receipt := map[string]any{"id": "msg_01kf0m4w7he6x8q2v5b3n9c1tb", "status": "sent"}
	problems := []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway}
	add(a, operation{
		method: http.MethodPost, path: "/received-emails/{id}/reply", id: "replyToReceivedEmail", tag: tagReceived, needs: accounts.Write, idempotent: true,
		summary: "Reply to a received email",
		description: "Sends an answer in the thread of the email: `In-Reply-To` and `References` are written as RFC 5322 section 3.6.4 says. Left out, `from` is the address that the email " +
			"came to, `to` its Reply-To or else its From, and `subject` its subject after `Re: `. All rules of `POST /emails` apply.",
		body: &requestBody{limit: emailBodyLimit, description: "The answer.", schema: "ReplyToReceivedEmail", examples: map[string]any{
			"simple": map[string]any{"text": "We are on it."},
			"more":   map[string]any{"from": "Support <support@example.com>", "html": "<p>We are on it.</p>", "cc": []any{"carol@example.net"}, "tags": map[string]any{"kind": "answer"}}}},
		answer: reflect.TypeFor[emailReceipt](), example: receipt, problems: problems,
	}, e.reply)
	a.describeBody("ReplyToReceivedEmail", answerSchema(false))
	add(a, operation{
		method: http.MethodPost, path: "/received-emails/{id}/forward", id: "forwardReceivedEmail", tag: tagReceived, needs: accounts.Write, idempotent: true,
		summary: "Forward a received email",
		description: "Sends the email on: its text and HTML below yours, and its files, for which the rules of attachments hold (10 files of 10 MB, blocked extensions); " +
			"`with_attachments: false` leaves them out. Left out, `from` is the address that the email came to and `subject` its subject after `Fwd: `. All rules of `POST /emails` apply. " +
			"409 `conflict` when the content has been deleted.",
		body: &requestBody{limit: emailBodyLimit, description: "To whom, and what to say.", schema: "ForwardReceivedEmail", examples: map[string]any{
			"simple": map[string]any{"to": "carol@example.net"},
			"more":   map[string]any{"to": []any{"carol@example.net"}, "from": "Support <support@example.com>", "text": "Please have a look.", "with_attachments": false}}},
		answer: reflect.TypeFor[emailReceipt](), example: receipt, problems: problems,
	}, e.forward)
	a.describeBody("ForwardReceivedEmail", answerSchema(true))
}

// answerFields are those of a send that an answer can have, with their aliases.
func answerFields() map[string]*huma.Schema {
	whole, fields := sendEmailSchema().Properties, map[string]*huma.Schema{}
	for _, name := range []string{"from", "to", "cc", "bcc", "reply_to", "subject", "html", "text", "tags", "headers", "attachments"} {
		for _, n := range append([]string{name}, sendAliases[name]...) {
			fields[n] = whole[n]
		}
	}
	return fields
}

func answerSchema(forward bool) *huma.Schema {
	fields := answerFields()
	if !forward {
		s := closed(fields)
		s.Description = "A field given as `null` is the same as one that is left out. `html`, `text` or both are required."
		return s
	}
	fields["with_attachments"] = &huma.Schema{Type: huma.TypeBoolean, Nullable: true, Default: true, Description: "Whether the files of the email go along."}
	s := closed(fields, "to")
	s.Description = "A field given as `null` is the same as one that is left out."
	return s
}

func (e *receivedEdge) reply(ctx context.Context, in *receivedID) (*stored, error) {
	return e.answer(ctx, in, "reply", false, e.mail.Reply)
}

func (e *receivedEdge) forward(ctx context.Context, in *receivedID) (*stored, error) {
	return e.answer(ctx, in, "forward", true, e.mail.Forward)
}

type answerFunc func(context.Context, accounts.Caller, inbound.Answer) (sending.Receipt, error)

func (e *receivedEdge) answer(ctx context.Context, in *receivedID, verb string, forward bool, send answerFunc) (*stored, error) {
	c := callOf(ctx)
	return e.api.working(ctx, c, func() (*stored, error) { return e.answerFrom(ctx, c, in, verb, forward, send) })
}

func (e *receivedEdge) answerFrom(ctx context.Context, c *call, in *receivedID, verb string, forward bool, send answerFunc) (*stored, error) {
	body, err := parseObject(c.body)
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	return e.api.once(ctx, e.store, c, "POST "+Prefix+"/received-emails/"+in.ID+"/"+verb, func(claim *idempotency.Claim) (idempotency.Answer, error) {
		answer, err := decodeAnswer(body, forward)
		if err != nil {
			return idempotency.Answer{}, err
		}
		if err := in.check(); err != nil {
			return idempotency.Answer{}, err
		}
		answer.EmailID, answer.Claim, answer.Render = in.ID, claim, renderReceipt
		return answerOf(send(ctx, c.Caller, answer))
	})
}

// decodeAnswer reads the fields of a send that an answer can have. What sending would
// refuse it says itself.
func decodeAnswer(root value, forward bool) (inbound.Answer, error) {
	d := newDecoder()
	var a inbound.Answer
	m := &a.Message
	fields := []field{
		{name: "from", decode: func(path string, v value) { m.From = d.mailbox(path, v) }},
		{name: "to", decode: d.mailboxes(&m.To)},
		{name: "cc", decode: d.mailboxes(&m.CC)},
		{name: "bcc", decode: d.mailboxes(&m.BCC)},
		{name: "reply_to", decode: d.mailboxes(&m.ReplyTo)},
		{name: "subject", decode: d.into(&m.Subject)},
		{name: "html", decode: d.into(&m.HTML)},
		{name: "text", decode: d.into(&m.Text)},
		{name: "tags", decode: func(path string, v value) { m.Tags = d.tags(path, v, map[int]string{}) }},
		{name: "headers", decode: func(path string, v value) { m.Headers = d.headers(path, v) }},
		{name: "attachments", decode: func(path string, v value) { m.Attachments = d.attachments(path, v) }},
	}
	if forward {
		fields = append(fields, field{name: "with_attachments", decode: func(path string, v value) { a.WithoutFiles = !d.boolean(path, v) }})
	}
	d.object("", root, withAliases(sendAliases, fields))
	return a, d.wrong.Err()
}
