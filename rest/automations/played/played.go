// Package played encodes simulated runs: the steps, the messages they would send, and the evaluated conditions.
package played

import (
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/automations/machine"
	play "github.com/postrider/postrider/modules/automations/simulation"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sms"
	"github.com/postrider/postrider/rest/api/wire"
)

// ExpressionPart is a part of an expression with its value.
type ExpressionPart struct {
	Text  string  `json:"text" doc:"The source of this part of the expression." example:"event.data.amount"`
	Value any     `json:"value" doc:"Any JSON value: the value of the part. null if it has none."`
	Error *string `json:"error" doc:"Why the part has no value."`
}

// ExpressionExplanation is an evaluated expression, with its parts.
type ExpressionExplanation struct {
	Text   string           `json:"text" doc:"The source of the expression." example:"event.data.amount > 50"`
	Result bool             `json:"result" doc:"The value of the expression."`
	Error  *string          `json:"error" doc:"Why the expression has no value; it then counts as false."`
	Parts  []ExpressionPart `json:"parts" nullable:"false" doc:"Each part with its value, including parts that could not affect the result."`
}

// SimulatedEmail is an email that would be sent.
type SimulatedEmail struct {
	From            string         `json:"from" doc:"The sender."`
	To              []string       `json:"to" nullable:"false" doc:"The recipients."`
	CC              []string       `json:"cc" nullable:"false" doc:"The Cc recipients."`
	BCC             []string       `json:"bcc" nullable:"false" doc:"The Bcc recipients."`
	ReplyTo         []string       `json:"reply_to" nullable:"false" doc:"The addresses that replies are sent to."`
	Subject         string         `json:"subject" doc:"The rendered subject."`
	HTML            *string        `json:"html" doc:"The rendered HTML body. null if there is none."`
	Text            *string        `json:"text" doc:"The rendered plain text body. null if there is none."`
	Headers         []shape.Header `json:"headers" nullable:"false" doc:"The custom header fields."`
	Tags            []shape.Tag    `json:"tags" nullable:"false" doc:"The tags of the email."`
	Category        *string        `json:"category" doc:"The kind of mail. null if none is set."`
	Unsubscribe     bool           `json:"unsubscribe" doc:"Whether Postrider manages unsubscribes."`
	TemplateID      *string        `json:"template_id" doc:"The ID of the template. null if none is used."`
	TemplateVersion *int           `json:"template_version" doc:"The version of the template. null if none is used."`
}

// SimulatedSMS is a text message that would be sent.
type SimulatedSMS struct {
	To       string `json:"to" doc:"The phone number of the recipient." example:"+4915112345678"`
	From     string `json:"from" doc:"The sender. If empty, the sender from the settings is used."`
	Text     string `json:"text" doc:"The rendered text."`
	Encoding string `json:"encoding" enum:"gsm7,ucs2" doc:"The encoding of the text, which determines how many segments it needs."`
	Segments int    `json:"segments" doc:"The segments that the message is split into. The provider charges for each."`
}

// SimulatedRequest is a request that would be sent.
type SimulatedRequest struct {
	URL     string         `json:"url" doc:"The URL of the request."`
	Method  string         `json:"method" doc:"The HTTP method of the request."`
	Headers []shape.Header `json:"headers" nullable:"false" doc:"The header fields of the request."`
	Body    wire.JSON      `json:"body" doc:"Any JSON value: the rendered body. null if there is none."`
}

// AutomationWait describes what a step waited for.
type AutomationWait struct {
	Until  wire.Time `json:"until" doc:"When the wait times out."`
	Events []string  `json:"events" nullable:"false" doc:"Names of the events that end the wait. Empty if it ends only when its time is up."`
}

// SimulatedStep is a simulated step.
type SimulatedStep struct {
	Index      int                             `json:"index" doc:"The position of the step in the definition, starting at 0."`
	Key        string                          `json:"key" doc:"The key of the step."`
	Type       string                          `json:"type" doc:"The type of the step."`
	Status     string                          `json:"status" example:"sent" doc:"completed, sent, suppressed, expired, received, timed_out or failed."`
	Output     map[string]any                  `json:"output" doc:"Output that expressions read as steps.<key>."`
	Error      *string                         `json:"error" doc:"Why the step fails. null if it does not."`
	StartedAt  wire.Time                       `json:"started_at" doc:"When the step starts."`
	EndedAt    wire.Time                       `json:"ended_at" doc:"When the step ends."`
	Wait       wire.Optional[AutomationWait]   `json:"wait" doc:"What the step waited for; null if it did not wait."`
	Conditions []ExpressionExplanation         `json:"conditions" nullable:"false" doc:"The evaluated condition, or the cases of a branch up to the first that was true."`
	Email      wire.Optional[SimulatedEmail]   `json:"email" doc:"The email that send_email would send, with its template rendered."`
	SMS        wire.Optional[SimulatedSMS]     `json:"sms" doc:"The text message that send_sms would send."`
	Request    wire.Optional[SimulatedRequest] `json:"request" doc:"The request that a webhook step would send."`
}

// EncodeExplanation encodes an evaluated expression; nil without an expression.
func EncodeExplanation(e *expression.Explanation) *ExpressionExplanation {
	if e == nil {
		return nil
	}
	out := ExplanationOf(*e)
	return &out
}

// ExplanationOf encodes an evaluated expression.
func ExplanationOf(e expression.Explanation) ExpressionExplanation {
	return ExpressionExplanation{Text: e.Text, Result: e.Result, Error: wire.OrNull(e.Error),
		Parts: wire.ListOf(e.Parts, func(p expression.Part) ExpressionPart {
			return ExpressionPart{p.Text, p.Value, wire.OrNull(p.Error)}
		})}
}

func newWait(w *machine.StepWait) *AutomationWait {
	if w == nil {
		return nil
	}
	return &AutomationWait{Until: wire.Time(w.Until), Events: wire.List(w.Events)}
}

// StepOf encodes a step.
func StepOf(s play.StepResult) SimulatedStep {
	out := SimulatedStep{Index: s.Index, Key: s.Key, Type: s.Type, Status: s.Status, Output: s.Output,
		Error: wire.OrNull(s.Error), StartedAt: wire.Time(s.Started), EndedAt: wire.Time(s.Ended),
		Wait: wire.FromPointer(newWait(s.Waited)), Conditions: wire.ListOf(s.Conditions, ExplanationOf)}
	switch p := s.Effect.Preview.(type) {
	case *sending.Preview:
		out.Email = wire.FromPointer(newSimulatedEmail(p))
	case *sms.Preview:
		out.SMS = wire.FromPointer(&SimulatedSMS{p.To, p.From, p.Text, string(p.Encoding), p.Segments})
	case *machine.WebhookRequest:
		out.Request = wire.FromPointer(&SimulatedRequest{p.URL, p.Method, wire.List(p.Headers), wire.JSON(p.Body)})
	}
	return out
}

func newSimulatedEmail(e *sending.Preview) *SimulatedEmail {
	out := &SimulatedEmail{From: e.From, To: wire.List(e.To), CC: wire.List(e.CC), BCC: wire.List(e.BCC),
		ReplyTo: wire.List(e.ReplyTo), Subject: e.Subject, HTML: wire.OrNull(e.HTML),
		Text: wire.OrNull(e.Text), Headers: wire.List(e.Headers), Tags: wire.List(e.Tags),
		Category: wire.OrNull(e.Category), Unsubscribe: e.Unsubscribe, TemplateID: wire.OrNull(e.TemplateID)}
	if e.TemplateID != "" {
		out.TemplateVersion = &e.TemplateVersion
	}
	return out
}
