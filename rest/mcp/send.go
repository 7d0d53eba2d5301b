package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// letter contains the common arguments of send_email and send_template.
type letter struct {
	To             []string       `json:"to" jsonschema:"Recipients: addresses, or Name <address>; at most 50 in to, cc and bcc together"`
	CC             []string       `json:"cc,omitempty" jsonschema:"Recipients of copies"`
	BCC            []string       `json:"bcc,omitempty" jsonschema:"Recipients of blind copies"`
	ReplyTo        []string       `json:"reply_to,omitempty" jsonschema:"Addresses that replies are sent to"`
	Tags           map[string]any `json:"tags,omitempty" jsonschema:"Up to 10 names with values that are stored with the email"`
	ScheduledAt    string         `json:"scheduled_at,omitempty" jsonschema:"When to send it, RFC 3339 with an offset or Z. Defaults to immediately"`
	ExpiresAt      string         `json:"expires_at,omitempty" jsonschema:"Delivery deadline, RFC 3339 with an offset or Z"`
	Category       string         `json:"category,omitempty" jsonschema:"Kind of mail that recipients can opt out of"`
	Unsubscribe    *bool          `json:"unsubscribe,omitempty" jsonschema:"Whether Postrider adds an unsubscribe link"`
	DryRun         bool           `json:"dry_run,omitempty" jsonschema:"If true, renders the email, runs every check and lists problems of the content, but sends nothing"`
	IdempotencyKey string         `json:"idempotency_key,omitempty" jsonschema:"Calls with the same key send one email within 24 hours. Defaults to a key derived from the arguments, so pass a new one to send the same email again"`
}

type sendEmailInput struct {
	letter

	From    string `json:"from" jsonschema:"Sender on a verified domain: address, or Name <address>"`
	Subject string `json:"subject" jsonschema:"Subject, without line breaks"`
	Text    string `json:"text,omitempty" jsonschema:"Plain text body. Either text or html is required"`
	HTML    string `json:"html,omitempty" jsonschema:"HTML body. A text part is generated if text is missing"`
}

type sendTemplateInput struct {
	letter

	Template  string         `json:"template" jsonschema:"ID (tpl_…) or alias of a published template"`
	Variables map[string]any `json:"variables,omitempty" jsonschema:"Values of the template's variables by key"`
	Locale    string         `json:"locale,omitempty" jsonschema:"Language of the recipient as a BCP 47 tag; defaults to the language of the template"`
	TimeZone  string         `json:"time_zone,omitempty" jsonschema:"IANA time zone of the recipient"`
	From      string         `json:"from,omitempty" jsonschema:"Sender; defaults to that of the template"`
	Subject   string         `json:"subject,omitempty" jsonschema:"Subject; defaults to that of the template"`
}

type sendOutput struct {
	ID                   string           `json:"id,omitempty" jsonschema:"ID of the email; absent after a dry run"`
	Status               string           `json:"status" jsonschema:"sent, scheduled or failed; after a dry run, accepted or refused"`
	DryRun               bool             `json:"dry_run"`
	Replayed             bool             `json:"replayed" jsonschema:"true if an earlier call with the same key sent the email and this call sent nothing"`
	IdempotencyKey       string           `json:"idempotency_key,omitempty"`
	SuppressedRecipients []string         `json:"suppressed_recipients,omitempty" jsonschema:"Suppressed recipients, which prevent the email from being sent"`
	Preview              *rendered        `json:"preview,omitempty" jsonschema:"The email as it would be sent; only after a dry run"`
	Findings             []contentFinding `json:"findings,omitempty" jsonschema:"Problems of the content, which do not prevent a send, the worst first; only after a dry run"`
	Problems             []string         `json:"problems,omitempty" jsonschema:"Why the email would not be sent; only after a dry run"`
}

// contentFinding is a problem in the content of an email.
type contentFinding struct {
	Code     string `json:"code"`
	Severity string `json:"severity" jsonschema:"error, warning or info"`
	Reason   string `json:"reason"`
	Fix      string `json:"fix"`
	Part     string `json:"part" jsonschema:"html, text, subject, header or message"`
	Count    int    `json:"count" jsonschema:"Number of places"`
	Places   []struct {
		Line    *int   `json:"line"`
		Element string `json:"element"`
	} `json:"places" jsonschema:"The first 10 places"`
}

// rendered is an email after its template was rendered.
type rendered struct {
	From    string   `json:"from"`
	To      []string `json:"to"`
	Subject string   `json:"subject"`
	Text    string   `json:"text"`
	HTML    string   `json:"html"`
}

func sendTools() []tool {
	return []tool{
		define(spec{name: "send_email", title: "Send an email", effect: sends, operations: []string{"sendEmail", "checkEmail"},
			about: "Sends one email, now or at scheduled_at. With dry_run it renders the email and runs every check " +
				"(fields, sender, suppression, caps) without sending. Repeating a call with the same arguments does not " +
				"send a second email."},
			func(ctx context.Context, s *session, in sendEmailInput) (sendOutput, string, error) {
				body := in.letter.fields()
				setText(body, "from", in.From)
				setText(body, "subject", in.Subject)
				setText(body, "text", in.Text)
				setText(body, "html", in.HTML)
				return s.sendLetter(ctx, "send_email", in.letter, body)
			}),
		define(spec{name: "send_template", title: "Send a template", effect: sends,
			operations: []string{"sendEmail", "checkEmail"}, modules: []string{"templates"},
			about: "Sends one email from a published template with variables. With dry_run it renders the template and " +
				"runs every check without sending. Repeating a call with the same arguments does not send a second email."},
			func(ctx context.Context, s *session, in sendTemplateInput) (sendOutput, string, error) {
				body := in.letter.fields()
				setText(body, "from", in.From)
				setText(body, "subject", in.Subject)
				reference := map[string]any{"alias": in.Template}
				if strings.HasPrefix(in.Template, "tpl_") {
					reference = map[string]any{"id": in.Template}
				}
				if len(in.Variables) > 0 {
					reference["variables"] = in.Variables
				}
				setText(reference, "locale", in.Locale)
				setText(reference, "time_zone", in.TimeZone)
				body["template"] = reference
				return s.sendLetter(ctx, "send_template", in.letter, body)
			}),
	}
}

// fields returns the body of a send request.
func (l letter) fields() map[string]any {
	body := map[string]any{"to": l.To}
	for name, list := range map[string][]string{"cc": l.CC, "bcc": l.BCC, "reply_to": l.ReplyTo} {
		if len(list) > 0 {
			body[name] = list
		}
	}
	if len(l.Tags) > 0 {
		body["tags"] = l.Tags
	}
	setText(body, "scheduled_at", l.ScheduledAt)
	setText(body, "expires_at", l.ExpiresAt)
	setText(body, "category", l.Category)
	if l.Unsubscribe != nil {
		body["unsubscribe"] = *l.Unsubscribe
	}
	return body
}

func setText(body map[string]any, name, value string) {
	if value != "" {
		body[name] = value
	}
}

// sendLetter sends an email, or checks it.
func (s *session) sendLetter(ctx context.Context, tool string, l letter, body map[string]any) (sendOutput, string, error) {
	if l.DryRun {
		return s.checkLetter(ctx, body)
	}
	key, err := keyFor(tool, l.IdempotencyKey, body)
	if err != nil {
		return sendOutput{}, "", err
	}
	return s.submit(ctx, request{operation: "sendEmail", body: body}, key)
}

// submit calls an operation that sends an email.
func (s *session) submit(ctx context.Context, q request, key string) (sendOutput, string, error) {
	out := sendOutput{IdempotencyKey: key}
	q.header = map[string]string{"Idempotency-Key": key}
	header, err := s.call(ctx, q, &out)
	if err != nil {
		return sendOutput{}, "", err
	}
	out.Replayed = header.Get("Idempotent-Replayed") == "true"
	switch {
	case out.Replayed:
		return out, fmt.Sprintf("An earlier call with the same idempotency key created %s; this call sent nothing. "+
			"Pass a new idempotency_key to send the email again.", out.ID), nil
	case out.Status == "failed":
		return out, fmt.Sprintf("The email %s was not sent, because a recipient is suppressed. Call why_not_delivered "+
			"for the reason.", out.ID), nil
	case out.Status == "scheduled":
		return out, fmt.Sprintf("The email %s is scheduled.", out.ID), nil
	}
	return out, fmt.Sprintf("The email %s was accepted for delivery. Call get_email to follow it.", out.ID), nil
}

// keyFor returns the given idempotency key, or one derived from the arguments. An agent that repeats a call after a
// lost response then gets the first response and sends nothing.
func keyFor(tool, given string, body map[string]any) (string, error) {
	if given != "" {
		return given, nil
	}
	canonical, err := json.Marshal(body) // sorts the keys of maps
	if err != nil {
		return "", fmt.Errorf("derive idempotency key: %w", err)
	}
	sum := sha256.Sum256(append([]byte(tool+"\x00"), canonical...))
	return "mcp-" + hex.EncodeToString(sum[:16]), nil
}

// checkLetter runs every check of a send. A refusal is the result of a check, not an error of the tool.
func (s *session) checkLetter(ctx context.Context, body map[string]any) (sendOutput, string, error) {
	var checked struct {
		Check struct {
			Preview              rendered         `json:"preview"`
			SuppressedRecipients []string         `json:"suppressed_recipients"`
			Findings             []contentFinding `json:"findings"`
		} `json:"check"`
	}
	_, err := s.call(ctx, request{operation: "checkEmail", body: body}, &checked)                // links are not requested
	if refused, is := err.(*callError); is && refused.Status < http.StatusInternalServerError && //nolint:errorlint // not wrapped
		refused.Status != http.StatusUnauthorized && refused.Code != "rate_limit_exceeded" {
		reason := s.adviseOn(ctx, "send_email", refused)
		return sendOutput{Status: "refused", DryRun: true, Problems: []string{reason.Error()}},
			"The email would be refused. Nothing was sent.", nil
	}
	if err != nil {
		return sendOutput{}, "", err
	}
	out := sendOutput{Status: "accepted", DryRun: true, Preview: &checked.Check.Preview,
		SuppressedRecipients: checked.Check.SuppressedRecipients, Findings: checked.Check.Findings}
	out.Preview.Text, _ = cutText(out.Preview.Text, maxBody)
	out.Preview.HTML, _ = cutText(out.Preview.HTML, maxBody)
	if n := len(out.SuppressedRecipients); n > 0 {
		out.Status = "refused"
		out.Problems = []string{"Some recipients are suppressed. Remove them from the email, or end their suppression."}
		return out, fmt.Sprintf("The email would not be sent: %d recipients are suppressed. Nothing was sent.", n), nil
	}
	if n := len(out.Findings); n > 0 {
		return out, fmt.Sprintf("The email would be sent, and its content has %d findings. Nothing was sent.", n), nil
	}
	return out, "The email passes every check and would be sent. Nothing was sent.", nil
}

// maxBody is the number of bytes of a body that tools return.
const maxBody = 20 << 10
