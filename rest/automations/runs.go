package automations

import (
	"context"
	"net/http"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

// AutomationRun is a run in a list. It is embedded, and so exported.
type AutomationRun struct {
	ID           string            `json:"id" example:"run_01kf0m4w7he6x8q2v5b3n9c1ta"`
	AutomationID string            `json:"automation_id" example:"aut_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Version      int               `json:"version" doc:"That the run follows; 0: the run is a test of a person."`
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
	Output    wire.JSON `json:"output" doc:"What expressions see as steps.<key>."`
	EmailID   *string   `json:"email_id"`
	Error     *string   `json:"error" doc:"Also of a step whose on_error went on."`
	StartedAt wire.Time `json:"started_at"`
	EndedAt   wire.Time `json:"ended_at"`
}

type automationRunDetail struct {
	AutomationRun

	Event      wire.JSON                 `json:"event" doc:"The event that started it."`
	Steps      []automationStep          `json:"steps" nullable:"false" doc:"That have ended, in their order."`
	WaitingFor wire.Optional[waitingFor] `json:"waiting_for" doc:"What the run waits for; null for one that does not wait."`
	NextAt     wire.OptionalTime         `json:"next_at" doc:"When the next step begins, or the wait ends; null for a run that has ended."`
	Held       bool                      `json:"held" doc:"It is due, and its automation is paused and holds its runs."`
}

// waitingFor is what a run waits for.
type waitingFor struct {
	Step   string            `json:"step" doc:"The key of the step that waits."`
	Events []string          `json:"events" nullable:"false" doc:"Of the person, the first of which ends the wait; none where no event does."`
	Since  wire.OptionalTime `json:"since" doc:"Events count from here on."`
	Until  wire.Time         `json:"until" doc:"When the wait is over, at the latest."`

	Reason wire.Optional[waitReason] `json:"reason" doc:"Why the step could not be finished and is tried again. null: the definition says to wait."`
}

// waitReason is why a step is tried again later.
type waitReason struct {
	Code    string    `json:"code" example:"plan_limit" doc:"plan_limit, account_suspended, rate_limit_exceeded, webhook_failed or internal. A change to the plan, the limits or the state of the account ends the first two early."`
	Message string    `json:"message" example:"The plan Free allows 100 emails a day, and they are sent; the next day begins at 2026-01-16T00:00:00Z" doc:"For people."`
	Since   wire.Time `json:"since" doc:"When the step was first tried."`
}

func newWaitReason(b *runs.Blocked) *waitReason {
	if b == nil {
		return nil
	}
	return &waitReason{b.Code, b.Message, wire.Time(b.Since)}
}

func newWaitingFor(r automations.Run) *waitingFor {
	w := r.Waiting
	if w == nil {
		return nil
	}
	out := &waitingFor{Step: r.WaitingStep.Key, Events: wire.List(w.Events), Until: wire.Time(w.Until), Reason: wire.Maybe(newWaitReason(r.Blocked))}
	if !w.Since.IsZero() {
		out.Since.At = &w.Since
	}
	return out
}

type automationRunAnswer struct {
	AutomationRun automationRunDetail `json:"automation_run"`
}

func newRun(r *ent.AutomationRun) AutomationRun {
	return AutomationRun{ID: r.ID, AutomationID: r.AutomationID, Version: r.Version, EventID: r.EventID, UserID: r.UserID, Email: r.EmailKey, Status: string(r.Status),
		StepIndex: r.StepIndex, Error: wire.OrNull(r.Error), StartedAt: wire.Time(r.StartedAt), EndedAt: wire.OptionalTime{At: r.EndedAt}}
}

func newStep(s *ent.AutomationStep) automationStep {
	return automationStep{Index: s.StepIndex, Key: s.Key, Type: s.Type, Status: s.Status, Output: wire.JSON(s.Output), EmailID: s.EmailID, Error: wire.OrNull(s.Error),
		StartedAt: wire.Time(s.StartedAt), EndedAt: wire.Time(s.EndedAt)}
}

func newRunAnswer(r automations.Run) automationRunAnswer {
	return automationRunAnswer{automationRunDetail{AutomationRun: newRun(r.AutomationRun), Event: wire.JSON(r.Event), Steps: wire.ListOf(r.Steps, newStep),
		WaitingFor: wire.Maybe(newWaitingFor(r)), NextAt: wire.OptionalTime{At: r.Next}, Held: r.Held}}
}

// RunQuery narrows a list of runs.
type RunQuery struct {
	api.Page

	Status  string `query:"status" enum:"running,waiting,completed,failed,cancelled" doc:"Only those."`
	UserID  string `query:"user_id" doc:"Only of this person."`
	Email   string `query:"email" doc:"Only of this address, in any case."`
	Step    string `query:"step" doc:"Only runs that are at the step with this key, wait there or have ended there." example:"hello"`
	Version int    `query:"version" minimum:"1" doc:"Only runs that follow this version." example:"1"`
	Since   string `query:"since" doc:"Only runs that have started at this time or later. RFC 3339, with Z or an offset." example:"2026-01-15T09:30:00Z"`
	Until   string `query:"until" doc:"Only runs that have started before this time. RFC 3339, with Z or an offset." example:"2026-01-16T00:00:00Z"`
}

type allRunsQuery struct {
	RunQuery

	AutomationID string `query:"automation_id" doc:"Only of this automation; step needs it." example:"aut_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

type runsOfQuery struct {
	api.Item
	RunQuery
}

// OfRun names what ids of runs are.
var OfRun = api.Noun{Name: "automation run", About: "Id of the run.", Example: "run_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is: func(word string) bool { return id.Is(id.Run, word) }}

func (e *edge) runs(g *api.Group) {
	one := map[string]any{"automation_run": runDetailExample()}
	list := api.Plural{Member: "automation_runs", Schema: "AutomationRunList"}
	api.ListBy(g, api.Operation{
		Path: "/automation-runs", ID: "listAutomationRuns", Needs: rights.Read,
		Summary: "List runs", Description: "Of all automations, newest first.", Example: runExample(),
	}, list, e.listRuns, newRun)
	api.ListBy(g, api.Operation{
		Path: "/automations/{id}/runs", ID: "listRunsOfAutomation", Needs: rights.Read,
		Summary: "List the runs of an automation", Description: "Newest first.", Example: runExample(), Of: OfAutomation, Problems: []int{http.StatusNotFound},
	}, list, e.listRunsOf, newRun)
	api.Get(g, api.Operation{
		Path: "/automation-runs/{id}", ID: "getAutomationRun", Needs: rights.Read,
		Summary: "Retrieve a run", Description: "With its steps.", Example: one, Of: OfRun,
	}, e.service.Run, newRunAnswer)
	api.Once(g, api.Operation{
		Path: "/automation-runs/{id}/cancel", ID: "cancelAutomationRun", Needs: rights.Write, Stores: api.StoresNothing,
		Summary: "Cancel a run", Description: "From the answer on it sends nothing. 409 `run_not_live` for one that has ended.",
		Example: one, Of: OfRun, Problems: []int{http.StatusNotFound, http.StatusConflict},
	}, e.cancel)
	api.Once(g, api.Operation{
		Path: "/automation-runs/{id}/retry", ID: "retryAutomationRun", Needs: rights.Write, Stores: api.StoresNothing,
		Summary: "Try a failed run again", Description: "It goes on from the step that failed, with the version that it follows. 409 `run_not_failed` for one that has not failed within 30 days.",
		Example: one, Of: OfRun, Problems: []int{http.StatusNotFound, http.StatusConflict},
	}, e.retry)
	api.OnceBody(g, api.Operation{
		Path: "/automations/{id}/retry-failed", ID: "retryFailedRuns", Needs: rights.Write, Stores: api.StoresNothing,
		Summary: "Try the failed runs of an automation again",
		Description: "After a broken template, for instance: each goes on from the step that failed, with the version that it follows. Persons who have a live run of an automation " +
			"that allows one at a time are passed over.",
		Body:    &api.Body{About: "Which ones.", Examples: map[string]any{"since": map[string]any{"since": "2026-01-15T09:30:00Z", "step": "tips"}}},
		Example: map[string]any{"runs": 17}, Of: OfAutomation, Problems: []int{http.StatusNotFound},
	}, againBody, e.retryFailed)
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/automation-webhook-secret", ID: "getAutomationWebhookSecret", Needs: rights.Write,
		Summary:     "Retrieve the secret of webhook steps",
		Description: "Requests of webhook steps have a `Service-Signature` by this secret, as deliveries to webhook endpoints have by theirs. It is the same for all automations of the account.",
		Example:     map[string]any{"secret": "whsec_Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo"},
	}, e.secret)
}

// filter names every wrong parameter at once.
func (q RunQuery) filter(automationID string) (automations.RunFilter, error) {
	wrong := fault.Fields{}
	f := automations.RunFilter{Request: q.Request(), AutomationID: automationID, Status: q.Status, UserID: q.UserID, Email: q.Email, Step: q.Step, Version: q.Version,
		Since: api.QueryTime(wrong, "since", q.Since), Until: api.QueryTime(wrong, "until", q.Until)}
	for field, reason := range f.Validate() {
		wrong.Add(field, "%s", reason)
	}
	return f, wrong.Err()
}

func (e *edge) listRuns(ctx context.Context, c *api.Call, in *allRunsQuery) (page.Page[*ent.AutomationRun], error) {
	f, err := in.filter(in.AutomationID)
	if err != nil {
		return page.Page[*ent.AutomationRun]{}, err
	}
	return e.service.Runs(ctx, c.AccountID, f)
}

func (e *edge) listRunsOf(ctx context.Context, c *api.Call, in *runsOfQuery) (page.Page[*ent.AutomationRun], error) {
	f, err := in.filter(in.ID)
	if err != nil {
		return page.Page[*ent.AutomationRun]{}, err
	}
	return e.service.Runs(ctx, c.AccountID, f)
}

func (e *edge) cancel(ctx context.Context, c *api.Call, in *api.Item, keep api.Keep) (automationRunAnswer, error) {
	return api.As(newRunAnswer)(e.service.Cancel(ctx, c.AccountID, in.ID, api.Keeping(keep, newRunAnswer)))
}

func (e *edge) retry(ctx context.Context, c *api.Call, in *api.Item, keep api.Keep) (automationRunAnswer, error) {
	return api.As(newRunAnswer)(e.service.Retry(ctx, c.AccountID, in.ID, api.Keeping(keep, newRunAnswer)))
}

// again is which runs are to be tried again.
type again struct {
	Since time.Time
	Step  string
}

func againBody(a *again) body.Object {
	return body.Object{Name: "RetryFailedRuns", Fields: []body.Field{
		{Name: "since", Type: body.Time(&a.Since), Need: body.Required, About: "Runs that have failed at this time or later, of the last 30 days.", Example: "2026-01-15T09:30:00Z"},
		{Name: "step", Type: body.Text(&a.Step), About: "Only runs that have failed at the step with this key.", Example: "tips"},
	}}
}

type retriedAnswer struct {
	Runs int `json:"runs" doc:"How many go on."`
}

func newRetriedAnswer(n int) retriedAnswer { return retriedAnswer{n} }

func (e *edge) retryFailed(ctx context.Context, c *api.Call, in *api.Item, a again, keep api.Keep) (retriedAnswer, error) {
	return api.As(newRetriedAnswer)(e.service.RetryFailed(ctx, c.AccountID, in.ID, automations.Failed{Since: a.Since, Step: a.Step, Keep: api.Keeping(keep, newRetriedAnswer)}))
}

type stepSecretAnswer struct {
	Secret string `json:"secret" example:"whsec_Zk3v9QpA…"`
}

func (e *edge) secret(_ context.Context, c *api.Call, _ *api.None) (stepSecretAnswer, error) {
	return stepSecretAnswer{e.service.WebhookSecret(c.AccountID).Reveal()}, nil
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
	out["waiting_for"] = map[string]any{"step": "pause", "events": []any{}, "since": nil, "until": "2026-01-16T09:30:00.100Z", "reason": nil}
	out["next_at"], out["held"] = "2026-01-16T09:30:00.100Z", false
	return out
}
