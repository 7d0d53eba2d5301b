package automations

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/rest"
	"github.com/postrider/postrider/rest/wire"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/page"
)

// AutomationRun is a run in a list. It is embedded, and so exported.
type AutomationRun struct {
	ID           string            `json:"id" example:"run_01kf0m4w7he6x8q2v5b3n9c1ta"`
	AutomationID string            `json:"automation_id" example:"aut_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Version      int               `json:"version" doc:"That the run follows."`
	EventID      string            `json:"event_id" doc:"The event that started it." example:"ae_01kf0m4w7he6x8q2v5b3n9c1ta"`
	UserID       *string           `json:"user_id"`
	Email        *string           `json:"email" doc:"Of the event, as addresses are compared."`
	Status       string            `json:"status" enum:"running,waiting,completed,failed,cancelled"`
	StepIndex    int               `json:"step_index" doc:"The step that is next, that waits, or at which the run ended; from 0."`
	Error        *string           `json:"error" doc:"Why it failed: a code, a colon and a sentence."`
	StartedAt    wire.Time         `json:"started_at"`
	EndedAt      wire.OptionalTime `json:"ended_at"`
}

type automationStep struct {
	Index     int       `json:"index"`
	Key       string    `json:"key"`
	Type      string    `json:"type"`
	Status    string    `json:"status" example:"sent" doc:"completed, sent, suppressed, expired, received, timed_out or failed."`
	Output    raw       `json:"output" doc:"What expressions see as steps.<key>."`
	EmailID   *string   `json:"email_id"`
	Error     *string   `json:"error" doc:"Also of a step whose on_error went on."`
	StartedAt wire.Time `json:"started_at"`
	EndedAt   wire.Time `json:"ended_at"`
}

type automationRunDetail struct {
	AutomationRun

	Event  raw               `json:"event" doc:"The event that started it."`
	Steps  []automationStep  `json:"steps" nullable:"false" doc:"That have ended, in their order."`
	NextAt wire.OptionalTime `json:"next_at" doc:"When the next step begins, or the wait ends; null for a run that has ended."`
	Held   bool              `json:"held" doc:"It is due, and its automation is paused and holds its runs."`
}

type automationRunAnswer struct {
	AutomationRun automationRunDetail `json:"automation_run"`
}

func newRun(r *ent.AutomationRun) AutomationRun {
	return AutomationRun{ID: r.ID, AutomationID: r.AutomationID, Version: r.Version, EventID: r.EventID, UserID: r.UserID, Email: r.EmailKey, Status: string(r.Status),
		StepIndex: r.StepIndex, Error: wire.OrNull(r.Error), StartedAt: wire.Time(r.StartedAt), EndedAt: wire.OptionalTime{At: r.EndedAt}}
}

func newStep(s *ent.AutomationStep) automationStep {
	return automationStep{Index: s.StepIndex, Key: s.Key, Type: s.Type, Status: s.Status, Output: raw(s.Output), EmailID: s.EmailID, Error: wire.OrNull(s.Error),
		StartedAt: wire.Time(s.StartedAt), EndedAt: wire.Time(s.EndedAt)}
}

func newRunAnswer(r automations.Run) automationRunAnswer {
	return automationRunAnswer{automationRunDetail{AutomationRun: newRun(r.AutomationRun), Event: raw(r.Event), Steps: wire.ListOf(r.Steps, newStep),
		NextAt: wire.OptionalTime{At: r.Next}, Held: r.Held}}
}

// RunQuery narrows a list of runs.
type RunQuery struct {
	rest.Page

	Status string `query:"status" enum:"running,waiting,completed,failed,cancelled" doc:"Only those."`
	UserID string `query:"user_id" doc:"Only of this person."`
	Email  string `query:"email" doc:"Only of this address, in any case."`
}

type runsOfQuery struct {
	rest.Item
	RunQuery
}

var run = rest.Noun{Name: "automation run", About: "Id of the run.", Example: "run_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is: func(word string) bool { return id.Is(id.Run, word) }}

func (e *edge) runs(g *rest.Group) {
	one := map[string]any{"automation_run": runDetailExample()}
	runs := rest.Plural{Member: "automation_runs", Schema: "AutomationRunList"}
	rest.ListBy(g, rest.Operation{
		Path: "/automation-runs", ID: "listAutomationRuns", Needs: accounts.Read,
		Summary: "List runs", Description: "Of all automations, newest first.", Example: runExample(),
	}, runs, e.listRuns, newRun)
	rest.ListBy(g, rest.Operation{
		Path: "/automations/{id}/runs", ID: "listRunsOfAutomation", Needs: accounts.Read,
		Summary: "List the runs of an automation", Description: "Newest first.", Example: runExample(), Of: automation, Problems: []int{http.StatusNotFound},
	}, runs, e.listRunsOf, newRun)
	rest.Get(g, rest.Operation{
		Path: "/automation-runs/{id}", ID: "getAutomationRun", Needs: accounts.Read,
		Summary: "Retrieve a run", Description: "With its steps.", Example: one, Of: run,
	}, e.service.Run, newRunAnswer)
	rest.Handle(g, rest.Operation{
		Method: http.MethodPost, Path: "/automation-runs/{id}/cancel", ID: "cancelAutomationRun", Needs: accounts.Write,
		Summary: "Cancel a run", Description: "From the answer on it sends nothing. 409 `run_not_live` for one that has ended.",
		Example: one, Of: run, Problems: []int{http.StatusNotFound, http.StatusConflict},
	}, e.cancel)
	rest.Handle(g, rest.Operation{
		Method: http.MethodPost, Path: "/automation-runs/{id}/retry", ID: "retryAutomationRun", Needs: accounts.Write,
		Summary: "Try a failed run again", Description: "It goes on from the step that failed, with the version that it follows. 409 `run_not_failed` for one that has not failed within 30 days.",
		Example: one, Of: run, Problems: []int{http.StatusNotFound, http.StatusConflict},
	}, e.retry)
}

func (q RunQuery) filter() automations.RunFilter {
	return automations.RunFilter{Request: q.Request(), Status: q.Status, UserID: q.UserID, Email: q.Email}
}

func (e *edge) listRuns(ctx context.Context, c *rest.Call, in *RunQuery) (page.Page[*ent.AutomationRun], error) {
	return e.service.Runs(ctx, c.AccountID, in.filter())
}

func (e *edge) listRunsOf(ctx context.Context, c *rest.Call, in *runsOfQuery) (page.Page[*ent.AutomationRun], error) {
	f := in.filter()
	f.AutomationID = in.ID
	return e.service.Runs(ctx, c.AccountID, f)
}

func (e *edge) cancel(ctx context.Context, c *rest.Call, in *rest.Item) (automationRunAnswer, error) {
	return rest.As(newRunAnswer)(e.service.Cancel(ctx, c.AccountID, in.ID))
}

func (e *edge) retry(ctx context.Context, c *rest.Call, in *rest.Item) (automationRunAnswer, error) {
	return rest.As(newRunAnswer)(e.service.Retry(ctx, c.AccountID, in.ID))
}

func runExample() map[string]any {
	return map[string]any{"id": "run_01kf0m4w7he6x8q2v5b3n9c1ta", "automation_id": "aut_01kf0m4w7he6x8q2v5b3n9c1ta", "version": 1, "event_id": "ae_01kf0m4w7he6x8q2v5b3n9c1ta",
		"user_id": "user-17", "email": "bob@example.net", "status": "waiting", "step_index": 1, "error": nil, "started_at": "2026-01-15T09:30:00.000Z", "ended_at": nil}
}

func runDetailExample() map[string]any {
	out := runExample()
	out["event"] = map[string]any{"id": "ae_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "user.created", "user_id": "user-17", "email": "bob@example.net",
		"data": map[string]any{"name": "Bob"}, "source": "api", "created_at": "2026-01-15T09:30:00Z"}
	out["steps"] = []any{map[string]any{"index": 0, "key": "hello", "type": "send_email", "status": "sent", "output": map[string]any{"status": "sent", "email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta"},
		"email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "error": nil, "started_at": "2026-01-15T09:30:00.000Z", "ended_at": "2026-01-15T09:30:00.100Z"}}
	out["next_at"], out["held"] = "2026-01-16T09:30:00.100Z", false
	return out
}
