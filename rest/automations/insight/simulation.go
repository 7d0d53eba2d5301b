package insight

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/automations"
	play "github.com/postrider/postrider/modules/automations/simulation"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	restautomations "github.com/postrider/postrider/rest/automations"
	"github.com/postrider/postrider/rest/automations/played"
	fact "github.com/postrider/postrider/runtime/work/event"
)

type simulatedArrival struct {
	Name      string                                      `json:"name" doc:"The name of the event."`
	At        wire.Time                                   `json:"at" doc:"When the event arrives in the simulation."`
	Outcome   string                                      `json:"outcome" enum:"resumed,cancelled,kept,nothing" doc:"resumed: it ended the wait. kept: a later wait found it among earlier events."`
	StepKey   *string                                     `json:"step_key" doc:"The key of the wait that the event concerned."`
	Condition wire.Optional[played.ExpressionExplanation] `json:"condition" doc:"The condition of that wait; null if it has none."`
	Starts    bool                                        `json:"starts" doc:"Whether it would also start another run, which is not simulated."`
}

type simulatedFact struct {
	Type      string          `json:"type" doc:"The type of the event." example:"automation.started"`
	CreatedAt wire.Time       `json:"created_at" doc:"When the event would occur."`
	Data      wire.JSONObject `json:"data" doc:"The payload of the event."`
}

type automationSimulation struct {
	AutomationID string                                      `json:"automation_id" doc:"The ID of the automation."`
	Version      *int                                        `json:"version" doc:"Number of the version; null for the draft."`
	Status       string                                      `json:"status" enum:"completed,failed,cancelled,not_started" doc:"not_started: the condition of the trigger is not true."`
	Error        *string                                     `json:"error" doc:"Why it failed: a code, a colon and a sentence."`
	Condition    wire.Optional[played.ExpressionExplanation] `json:"condition" doc:"The trigger's condition; null if it has none."`
	StartedAt    wire.Time                                   `json:"started_at" doc:"When the simulated run starts."`
	EndedAt      wire.Time                                   `json:"ended_at" doc:"When the simulated run ends."`
	Steps        []played.SimulatedStep                      `json:"steps" nullable:"false" doc:"The steps in order, each with its times."`
	Events       []simulatedArrival                          `json:"events" nullable:"false" doc:"The effects of the later events."`
	Facts        []simulatedFact                             `json:"facts" nullable:"false" doc:"The events that webhook endpoints would receive."`
}

type simulationAnswer struct {
	Simulation automationSimulation `json:"simulation" doc:"The simulated run."`
}

func newSimulation(s automations.SimulationResult) simulationAnswer {
	return simulationAnswer{automationSimulation{AutomationID: s.AutomationID, Version: s.Version, Status: s.Status,
		Error: wire.OrNull(s.Error), Condition: wire.FromPointer(played.EncodeExplanation(s.Condition)),
		StartedAt: wire.Time(s.StartedAt), EndedAt: wire.Time(s.EndedAt), Steps: wire.ListOf(s.Steps, played.StepOf),
		Events: wire.ListOf(s.Arrivals, func(a play.Arrival) simulatedArrival {
			return simulatedArrival{a.Event.Name, wire.Time(a.Event.CreatedAt), a.Outcome, wire.OrNull(a.Key),
				wire.FromPointer(played.EncodeExplanation(a.Condition)), a.Starts}
		}),
		Facts: wire.ListOf(s.Facts, func(f fact.Fact) simulatedFact {
			return simulatedFact{string(f.Type), wire.Time(f.CreatedAt), wire.JSONObject(f.Data)}
		})}}
}

func (e *edge) addSimulation(g *api.TagGroup) {
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/automations/{id}/simulate", ID: "simulateAutomation", Needs: rights.Write, Quiet: true,
		Stores:  api.StoresNothing,
		Summary: "Simulate a run of an automation",
		Description: "Simulates one run on a virtual clock with the engine of live runs, and returns each step with " +
			"its times, the rendered emails and the events. Nothing is stored or sent, and no URL is called. " +
			"Suppressed recipients are simulated only as given in `outcomes`. Re-entry is not evaluated.",
		Body: &api.Body{Limit: restautomations.BodyLimit, About: "The event that starts the run, and later events.",
			Examples: map[string]any{"verified": map[string]any{
				"event": map[string]any{"user_id": "user-17", "email": "bob@example.net", "data": map[string]any{"name": "Bob"}},
				"then":  []any{map[string]any{"after": "PT3H", "name": "user.verified"}}, "draft": true}}},
		Example: map[string]any{"simulation": simulationExample()}, Of: restautomations.OfAutomation,
		Problems: []int{http.StatusNotFound},
	}, simulationBody, e.runSimulation)
}

func (e *edge) runSimulation(ctx context.Context, c *api.Call, in *api.Item, s simulation) (simulationAnswer, error) {
	asked, err := s.toInput()
	if err != nil {
		return simulationAnswer{}, err
	}
	return api.As(newSimulation)(e.service.Simulate(ctx, c.Caller, in.ID, asked))
}

func conditionExample() map[string]any {
	return map[string]any{"text": "event.data.amount > 50", "result": false, "error": nil, "parts": []any{
		map[string]any{"text": "event.data.amount > 50", "value": false, "error": nil},
		map[string]any{"text": "event.data.amount", "value": 20, "error": nil}}}
}

func simulationExample() map[string]any {
	const at = "2026-01-15T09:30:00.000Z"
	return map[string]any{"automation_id": "aut_01kf0m4w7he6x8q2v5b3n9c1ta", "version": nil, "status": "completed",
		"error": nil, "condition": nil, "started_at": at, "ended_at": at,
		"steps": []any{map[string]any{"index": 0, "key": "hello", "type": "send_email", "status": "sent",
			"output": map[string]any{"status": "sent", "email_id": "msg_simulated_hello"}, "error": nil,
			"started_at": at, "ended_at": at, "wait": nil, "conditions": []any{}, "sms": nil, "request": nil,
			"email": map[string]any{"from": "Ada <ada@example.com>", "to": []any{"bob@example.net"}, "cc": []any{},
				"bcc": []any{}, "reply_to": []any{}, "subject": "Welcome, Bob", "html": nil,
				"text": "Hello Bob.", "headers": []any{}, "tags": []any{}, "category": nil, "unsubscribe": false,
				"template_id": nil, "template_version": nil}}},
		"events": []any{map[string]any{"name": "user.verified", "at": "2026-01-15T12:30:00.000Z", "outcome": "nothing",
			"step_key": nil, "condition": nil, "starts": false}},
		"facts": []any{map[string]any{"type": "automation.started", "created_at": at,
			"data": map[string]any{"automation_id": "aut_01kf0m4w7he6x8q2v5b3n9c1ta", "automation_name": "Welcome",
				"run_id": "run_simulated", "status": "running", "event_name": "user.created", "step_index": 0, "step_type": "send_email", "error": nil}}}}
}
