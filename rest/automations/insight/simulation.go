package insight

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/automations/machine"
	play "github.com/postrider/postrider/modules/automations/simulation"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/rest"
	restautomations "github.com/postrider/postrider/rest/automations"
	"github.com/postrider/postrider/rest/wire"
	fact "github.com/postrider/postrider/runtime/event"
)

type expressionPart struct {
	Text  string  `json:"text" example:"event.data.amount"`
	Value any     `json:"value" doc:"What the part comes to; null where it has no value."`
	Error *string `json:"error" doc:"Why it has none."`
}

type expressionExplanation struct {
	Text   string           `json:"text" example:"event.data.amount > 50"`
	Result bool             `json:"result"`
	Error  *string          `json:"error" doc:"Why the whole has no value; it counts as false then."`
	Parts  []expressionPart `json:"parts" nullable:"false" doc:"Each part with its value, also those that could not change the result."`
}

type simulatedEmail struct {
	From            string         `json:"from"`
	To              []string       `json:"to" nullable:"false"`
	CC              []string       `json:"cc" nullable:"false"`
	BCC             []string       `json:"bcc" nullable:"false"`
	ReplyTo         []string       `json:"reply_to" nullable:"false"`
	Subject         string         `json:"subject"`
	HTML            *string        `json:"html"`
	Text            *string        `json:"text"`
	Headers         []shape.Header `json:"headers" nullable:"false"`
	Tags            []shape.Tag    `json:"tags" nullable:"false"`
	Category        *string        `json:"category"`
	Unsubscribe     bool           `json:"unsubscribe"`
	TemplateID      *string        `json:"template_id"`
	TemplateVersion *int           `json:"template_version"`
}

type simulatedSMS struct {
	To       string `json:"to" example:"+4915112345678"`
	From     string `json:"from" doc:"Empty: the sender of the settings."`
	Text     string `json:"text"`
	Encoding string `json:"encoding" enum:"gsm7,ucs2"`
	Segments int    `json:"segments" doc:"What the network carries one by one and the provider bills."`
}

type simulatedRequest struct {
	URL     string               `json:"url"`
	Method  string               `json:"method"`
	Headers []shape.Header       `json:"headers" nullable:"false"`
	Body    restautomations.JSON `json:"body"`
}

type automationWait struct {
	Until  wire.Time `json:"until" doc:"When the wait ends by itself."`
	Events []string  `json:"events" nullable:"false" doc:"Names of the events that end it; none: it waits for the time alone."`
}

type simulatedStep struct {
	Index      int                             `json:"index"`
	Key        string                          `json:"key"`
	Type       string                          `json:"type"`
	Status     string                          `json:"status" example:"sent" doc:"completed, sent, suppressed, expired, received, timed_out or failed."`
	Output     map[string]any                  `json:"output" doc:"What expressions see as steps.<key>."`
	Error      *string                         `json:"error"`
	StartedAt  wire.Time                       `json:"started_at"`
	EndedAt    wire.Time                       `json:"ended_at"`
	Wait       wire.Optional[automationWait]   `json:"wait" doc:"For what it waited; null: it did not."`
	Conditions []expressionExplanation         `json:"conditions" nullable:"false" doc:"Of a condition, and of the cases of a branch up to the one that was true."`
	Email      wire.Optional[simulatedEmail]   `json:"email" doc:"What send_email would send, with its template filled."`
	SMS        wire.Optional[simulatedSMS]     `json:"sms" doc:"What send_sms would send."`
	Request    wire.Optional[simulatedRequest] `json:"request" doc:"What webhook would post."`
}

type simulatedArrival struct {
	Name      string                               `json:"name"`
	At        wire.Time                            `json:"at"`
	Outcome   string                               `json:"outcome" enum:"resumed,cancelled,kept,nothing" doc:"resumed: it ended the wait. kept: a later wait found it when it looked back."`
	StepKey   *string                              `json:"step_key" doc:"The wait that it was about."`
	Condition wire.Optional[expressionExplanation] `json:"condition" doc:"Of that wait."`
	Starts    bool                                 `json:"starts" doc:"It would also start another run, which is not played."`
}

type simulatedFact struct {
	Type      string               `json:"type" example:"automation.started"`
	CreatedAt wire.Time            `json:"created_at"`
	Data      restautomations.JSON `json:"data"`
}

type automationSimulation struct {
	AutomationID string                               `json:"automation_id"`
	Version      *int                                 `json:"version" doc:"null: the draft."`
	Status       string                               `json:"status" enum:"completed,failed,cancelled,not_started" doc:"not_started: the condition of the trigger is not true."`
	Error        *string                              `json:"error" doc:"Why it failed: a code, a colon and a sentence."`
	Condition    wire.Optional[expressionExplanation] `json:"condition" doc:"Of the trigger; null: it has none."`
	StartedAt    wire.Time                            `json:"started_at"`
	EndedAt      wire.Time                            `json:"ended_at"`
	Steps        []simulatedStep                      `json:"steps" nullable:"false" doc:"In their order, each with its moments."`
	Events       []simulatedArrival                   `json:"events" nullable:"false" doc:"What the later events did."`
	Facts        []simulatedFact                      `json:"facts" nullable:"false" doc:"What webhook endpoints would be told."`
}

type simulationAnswer struct {
	Simulation automationSimulation `json:"simulation"`
}

func newExplanation(e *expression.Explanation) *expressionExplanation {
	if e == nil {
		return nil
	}
	out := explanationOf(*e)
	return &out
}

func explanationOf(e expression.Explanation) expressionExplanation {
	return expressionExplanation{Text: e.Text, Result: e.Result, Error: wire.OrNull(e.Error), Parts: wire.ListOf(e.Parts, func(p expression.Part) expressionPart {
		return expressionPart{p.Text, p.Value, wire.OrNull(p.Error)}
	})}
}

func newWait(w *machine.Waiting) *automationWait {
	if w == nil {
		return nil
	}
	return &automationWait{Until: wire.Time(w.Until), Events: wire.List(w.Events)}
}

func newSimulatedStep(s play.Step) simulatedStep {
	out := simulatedStep{Index: s.Index, Key: s.Key, Type: s.Type, Status: s.Status, Output: s.Output, Error: wire.OrNull(s.Error), StartedAt: wire.Time(s.Started), EndedAt: wire.Time(s.Ended),
		Wait: wire.Maybe(newWait(s.Waited)), Conditions: wire.ListOf(s.Conditions, explanationOf), Email: wire.Maybe(newSimulatedEmail(s.Performed.Email))}
	if p := s.Performed.SMS; p != nil {
		out.SMS = wire.Maybe(&simulatedSMS{p.To, p.From, p.Text, string(p.Encoding), p.Segments})
	}
	if p := s.Performed.Post; p != nil {
		out.Request = wire.Maybe(&simulatedRequest{p.URL, p.Method, wire.List(p.Headers), restautomations.JSON(p.Body)})
	}
	return out
}

func newSimulatedEmail(e *sending.Preview) *simulatedEmail {
	if e == nil {
		return nil
	}
	out := &simulatedEmail{From: e.From, To: wire.List(e.To), CC: wire.List(e.CC), BCC: wire.List(e.BCC), ReplyTo: wire.List(e.ReplyTo), Subject: e.Subject, HTML: wire.OrNull(e.HTML),
		Text: wire.OrNull(e.Text), Headers: wire.List(e.Headers), Tags: wire.List(e.Tags), Category: wire.OrNull(e.Category), Unsubscribe: e.Unsubscribe, TemplateID: wire.OrNull(e.TemplateID)}
	if e.TemplateID != "" {
		out.TemplateVersion = &e.TemplateVersion
	}
	return out
}

func newSimulation(s automations.Simulated) simulationAnswer {
	return simulationAnswer{automationSimulation{AutomationID: s.AutomationID, Version: s.Version, Status: s.Status, Error: wire.OrNull(s.Error), Condition: wire.Maybe(newExplanation(s.Condition)),
		StartedAt: wire.Time(s.StartedAt), EndedAt: wire.Time(s.EndedAt), Steps: wire.ListOf(s.Steps, newSimulatedStep),
		Events: wire.ListOf(s.Arrivals, func(a play.Arrival) simulatedArrival {
			return simulatedArrival{a.Event.Name, wire.Time(a.Event.CreatedAt), a.Outcome, wire.OrNull(a.Key), wire.Maybe(newExplanation(a.Condition)), a.Starts}
		}),
		Facts: wire.ListOf(s.Facts, func(f fact.Fact) simulatedFact {
			return simulatedFact{string(f.Type), wire.Time(f.CreatedAt), restautomations.JSON(f.Data)}
		})}}
}

func (e *edge) simulation(g *rest.Group) {
	rest.HandleBody(g, rest.Operation{
		Method: http.MethodPost, Path: "/automations/{id}/simulate", ID: "simulateAutomation", Needs: accounts.Write,
		Summary: "Simulate a run of an automation",
		Description: "Plays one run on a virtual clock with the machine of live runs, and answers with each step, its moments, the rendered emails and the facts. Nothing is stored, " +
			"nothing is sent, and nobody is called: an email to a suppressed recipient is one that you say in `outcomes`. Re-entry is not judged.",
		Body: &rest.Body{Limit: restautomations.BodyLimit, About: "The event that starts it, and what happens later.", Examples: map[string]any{"verified": map[string]any{
			"event": map[string]any{"user_id": "user-17", "email": "bob@example.net", "data": map[string]any{"name": "Bob"}},
			"then":  []any{map[string]any{"after": "PT3H", "name": "user.verified"}}, "draft": true}}},
		Example: map[string]any{"simulation": simulationExample()}, Of: restautomations.OfAutomation, Problems: []int{http.StatusNotFound},
	}, simulationBody, e.simulate)
}

func (e *edge) simulate(ctx context.Context, c *rest.Call, in *rest.Item, s simulation) (simulationAnswer, error) {
	asked, err := s.input()
	if err != nil {
		return simulationAnswer{}, err
	}
	return rest.As(newSimulation)(e.service.Simulate(ctx, c.Caller, in.ID, asked))
}

func conditionExample() map[string]any {
	return map[string]any{"text": "event.data.amount > 50", "result": false, "error": nil, "parts": []any{
		map[string]any{"text": "event.data.amount > 50", "value": false, "error": nil}, map[string]any{"text": "event.data.amount", "value": 20, "error": nil}}}
}

func simulationExample() map[string]any {
	const at = "2026-01-15T09:30:00.000Z"
	return map[string]any{"automation_id": "aut_01kf0m4w7he6x8q2v5b3n9c1ta", "version": nil, "status": "completed", "error": nil, "condition": nil, "started_at": at, "ended_at": at,
		"steps": []any{map[string]any{"index": 0, "key": "hello", "type": "send_email", "status": "sent", "output": map[string]any{"status": "sent", "email_id": "msg_simulated_hello"}, "error": nil,
			"started_at": at, "ended_at": at, "wait": nil, "conditions": []any{}, "sms": nil, "request": nil,
			"email": map[string]any{"from": "Ada <ada@example.com>", "to": []any{"bob@example.net"}, "cc": []any{}, "bcc": []any{}, "reply_to": []any{}, "subject": "Welcome, Bob", "html": nil,
				"text": "Hello Bob.", "headers": []any{}, "tags": []any{}, "category": nil, "unsubscribe": false, "template_id": nil, "template_version": nil}}},
		"events": []any{map[string]any{"name": "user.verified", "at": "2026-01-15T12:30:00.000Z", "outcome": "nothing", "step_key": nil, "condition": nil, "starts": false}},
		"facts": []any{map[string]any{"type": "automation.started", "created_at": at, "data": map[string]any{"automation_id": "aut_01kf0m4w7he6x8q2v5b3n9c1ta", "automation_name": "Welcome",
			"run_id": "run_simulated", "status": "running", "event_name": "user.created", "step_index": 0, "step_type": "send_email", "error": nil}}}}
}
