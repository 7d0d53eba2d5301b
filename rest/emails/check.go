package emails

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
)

// checkAnswer is the result of a check.
type checkAnswer struct {
	Check emailCheck `json:"check" doc:"The result of the checks."`
}

type emailCheck struct {
	Preview              emailPreview   `json:"preview" doc:"The email as it would be sent."`
	SuppressedRecipients []string       `json:"suppressed_recipients" doc:"Recipients on the suppression list. The email would be recorded as failed and sent to no recipient. Empty if the email would be sent."`
	Findings             []wire.Finding `json:"findings" nullable:"false" doc:"Problems of the content, the worst first. They do not prevent a send. Empty if there are none."`
}

type checkQuery struct {
	ResolveLinks bool `query:"resolve_links" default:"false" doc:"Whether to request the links of the email with HEAD, and report those that do not work. At most 25 https links."`
}

type emailPreview struct {
	From    string   `json:"from" doc:"The sender."`
	To      []string `json:"to" doc:"The recipients."`
	CC      []string `json:"cc" doc:"Cc recipients."`
	BCC     []string `json:"bcc" doc:"Bcc recipients."`
	ReplyTo []string `json:"reply_to" doc:"Addresses that replies are sent to."`
	Subject string   `json:"subject" doc:"The subject, with the variables of the template filled in."`
	HTML    *string  `json:"html" doc:"The HTML body; null if the email has no HTML. {{unsubscribe_url}} is not replaced."`
	Text    *string  `json:"text" doc:"The text body; null if the email has no text."`
}

// checking adds the operation that checks an email without sending it.
func (e *edge) checking(g *api.TagGroup) {
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/emails/check", ID: "checkEmail", Needs: rights.Send, Stores: api.StoresNothing,
		Summary: "Check an email without sending it",
		Description: "Renders an email and runs every check of `POST /emails`: fields, template, sender, sandbox " +
			"rules, suppression, caps and quotas. Stores and sends nothing. The errors are those of `POST /emails`. " +
			"A later send can still be refused, for example if a cap is reached meanwhile.\n\n`findings` lists problems " +
			"that spam filters and mail clients have with the content: its size, links, images, header fields and markup, " +
			"and the score of rspamd if the installation has one. Attachments and tracked links are not included.",
		Body: &api.Body{About: "The email to check.", Examples: sendExamples()},
		Example: map[string]any{"check": map[string]any{
			"preview": map[string]any{"from": "Ada <ada@example.com>", "to": []any{"bob@example.net"}, "cc": []any{},
				"bcc": []any{}, "reply_to": []any{}, "subject": "Your receipt", "html": nil, "text": "Thank you."},
			"suppressed_recipients": []any{}, "findings": []any{wire.FindingExample()}}},
	}, sendBody, e.checkEmail)
}

func (e *edge) checkEmail(ctx context.Context, c *api.Call, in *checkQuery, m sending.Message) (checkAnswer, error) {
	checked, err := e.sender.Check(ctx, c.Caller, m, sending.CheckOptions{ResolveLinks: in.ResolveLinks})
	if err != nil {
		return checkAnswer{}, err
	}
	p := checked.Preview
	return checkAnswer{emailCheck{SuppressedRecipients: wire.List(checked.Suppressed),
		Findings: wire.Findings(checked.Findings),
		Preview: emailPreview{From: p.From, To: wire.List(p.To), CC: wire.List(p.CC), BCC: wire.List(p.BCC),
			ReplyTo: wire.List(p.ReplyTo), Subject: p.Subject, HTML: wire.OrNull(p.HTML), Text: wire.OrNull(p.Text)}}}, nil
}
