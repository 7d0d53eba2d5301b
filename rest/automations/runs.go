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

// AutomationRun is a run in a list. It is exported because it is embedded.
type AutomationRun struct {
	ID           string            `json:"id" doc:"The ID of the run." example:"run_01kf0m4w7he6x8q2v5b3n9c1ta"`
	AutomationID string            `json:"automation_id" doc:"The ID of the automation." example:"aut_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Version      int               `json:"version" doc:"The version that the run follows; 0 for a test run."`
	EventID      string            `json:"event_id" doc:"The event that started the run." example:"ae_01kf0m4w7he6x8q2v5b3n9c1ta"`
	UserID       *string           `json:"user_id" doc:"The ID that identifies the person. null if the event had none."`
	Email        *string           `json:"email" doc:"The address of the event in normalized form."`
	Status       string            `json:"status" enum:"running,waiting,completed,failed,cancelled" doc:"The status of the run."`
	StepIndex    int               `json:"step_index" doc:"Index of the next or waiting step, or of the step where the run ended, starting at 0."`
	Error        *string           `json:"error" doc:"Why the run failed: a code, a colon and a sentence."`
	StartedAt    wire.Time         `json:"started_at" doc:"When the run started."`
	EndedAt      wire.OptionalTime `json:"ended_at" doc:"When the run ended. null if it has not."`
	ConvertedAt  wire.OptionalTime `json:"converted_at" doc:"When the run reached the goal of its version. null if it has not."`
}

type automationStep struct {
	Index     int             `json:"index" doc:"The position of the step in the definition, starting at 0."`
	Key       string          `json:"key" doc:"The key of the step."`
	Type      string          `json:"type" doc:"The type of the step."`
	Status    string          `json:"status" example:"sent" doc:"completed, sent, suppressed, expired, received, timed_out or failed."`
	Output    wire.JSONObject `json:"output" doc:"The value that expressions see as steps.<key>."`
	EmailID   *string         `json:"email_id" doc:"The ID of the email that the step sent. null if it sent none."`
	Error     *string         `json:"error" doc:"The error of the step, even if on_error continued."`
	StartedAt wire.Time       `json:"started_at" doc:"When the step started."`
	EndedAt   wire.Time       `json:"ended_at" doc:"When the step ended."`
}

// runEvent is the event that started a run, as the run stores it.
type runEvent struct {
	ID        string          `json:"id" doc:"The ID of the event." example:"ae_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name      string          `json:"name" doc:"The name of the event." example:"user.created"`
	UserID    string          `json:"user_id,omitempty" doc:"The ID that identifies the person. Absent if none was sent."`
	Email     string          `json:"email,omitempty" doc:"The email address of the person. Absent if none was sent."`
	Data      wire.JSONObject `json:"data,omitempty" doc:"The payload of the event. Absent if none was sent."`
	Source    string          `json:"source,omitempty" doc:"Where the event comes from: api for API requests." example:"api"`
	CreatedAt wire.Time       `json:"created_at" doc:"When the event was accepted."`
}

type automationRunDetail struct {
	AutomationRun

	Event      wire.JSONOf[runEvent]     `json:"event" doc:"The event that started the run."`
	Steps      []automationStep          `json:"steps" nullable:"false" doc:"The completed steps, in order."`
	WaitingFor wire.Optional[waitingFor] `json:"waiting_for" doc:"What the run waits for; null if it does not wait."`
	NextAt     wire.OptionalTime         `json:"next_at" doc:"When the next step starts or the wait ends; null if the run has ended."`
	Held       bool                      `json:"held" doc:"Whether the run is due, but held because its automation is paused."`
}

// waitingFor describes what a run waits for.
type waitingFor struct {
	Step   string            `json:"step" doc:"Key of the waiting step."`
	Events []string          `json:"events" nullable:"false" doc:"Events of the person that end the wait. Empty if it ends only when its time is up."`
	Since  wire.OptionalTime `json:"since" doc:"Only events from this time on end the wait."`
	Until  wire.Time         `json:"until" doc:"When the wait ends at the latest."`

	Reason wire.Optional[waitReason] `json:"reason" doc:"Why the step will be retried; null if it is a wait of the definition."`
}

// waitReason is the reason why a step will be retried.
type waitReason struct {
	Code    string    `json:"code" example:"plan_limit" doc:"plan_limit, account_suspended, rate_limit_exceeded, webhook_failed or internal. The first two end early if the plan, the limits or the state of the account change."`
	Message string    `json:"message" example:"The plan Free allows 100 emails a day, and they are sent; the next day begins at 2026-01-16T00:00:00Z" doc:"A human-readable message."`
	Since   wire.Time `json:"since" doc:"When the step was first attempted."`
}

func newWaitReason(b *runs.Blocker) *waitReason {
	if b == nil {
		return nil
	}
	return &waitReason{b.Code, b.Message, wire.Time(b.Since)}
}

func newWaitingFor(r automations.RunDetail) *waitingFor {
	w := r.Waiting
	if w == nil {
		return nil
	}
	out := &waitingFor{Step: r.WaitingStep.Key, Events: wire.List(w.Events), Until: wire.Time(w.Until),
		Reason: wire.FromPointer(newWaitReason(r.Blocked))}
	if !w.Since.IsZero() {
		out.Since.At = &w.Since
	}
	return out
}

type automationRunAnswer struct {
	AutomationRun automationRunDetail `json:"automation_run" doc:"The run, with its steps."`
}

func newRun(r *ent.AutomationRun) AutomationRun {
	return AutomationRun{ID: r.ID, AutomationID: r.AutomationID, Version: r.Version, EventID: r.EventID,
		UserID: r.UserID, Email: r.EmailKey, Status: string(r.Status),
		StepIndex: r.StepIndex, Error: wire.OrNull(r.Error), StartedAt: wire.Time(r.StartedAt),
		EndedAt: wire.OptionalTime{At: r.EndedAt}, ConvertedAt: wire.OptionalTime{At: r.ConvertedAt}}
}

func newStep(s *ent.AutomationStep) automationStep {
	return automationStep{Index: s.StepIndex, Key: s.Key, Type: s.Type, Status: s.Status,
		Output: wire.JSONObject(s.Output), EmailID: s.EmailID, Error: wire.OrNull(s.Error),
		StartedAt: wire.Time(s.StartedAt), EndedAt: wire.Time(s.EndedAt)}
}

func newRunAnswer(r automations.RunDetail) automationRunAnswer {
	return automationRunAnswer{automationRunDetail{AutomationRun: newRun(r.AutomationRun),
		Event: wire.JSONOf[runEvent](r.Event), Steps: wire.ListOf(r.Steps, newStep),
		WaitingFor: wire.FromPointer(newWaitingFor(r)), NextAt: wire.OptionalTime{At: r.Next}, Held: r.Held}}
}

// RunQuery narrows a list of runs.
type RunQuery struct {
	api.Page

	Status  string `query:"status" enum:"running,waiting,completed,failed,cancelled" doc:"Return only runs with this status."`
	UserID  string `query:"user_id" doc:"Return only runs of this user."`
	Email   string `query:"email" doc:"Return only runs with this address, ignoring case."`
	Step    string `query:"step" doc:"Return only runs whose next step has this key, or that wait or ended at it." example:"hello"`
	Version int    `query:"version" minimum:"1" doc:"Return only runs that follow this version." example:"1"`
	Since   string `query:"since" doc:"Return only runs that started at or after this time. RFC 3339 with Z or an offset." example:"2026-01-15T09:30:00Z"`
	Until   string `query:"until" doc:"Return only runs that started before this time. RFC 3339 with Z or an offset." example:"2026-01-16T00:00:00Z"`
}

type allRunsQuery struct {
	RunQuery

	AutomationID string `query:"automation_id" doc:"Return only runs of this automation. Required by step." example:"aut_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

type runsOfQuery struct {
	api.Item
	RunQuery
}

// OfRun is the noun for run IDs.
var OfRun = api.Noun{Name: "automation run", About: "ID of the run.", Example: "run_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is: func(word string) bool { return id.Is(id.Run, word) }}

func (e *edge) addRuns(g *api.TagGroup) {
	one := map[string]any{"automation_run": runDetailExample()}
	list := api.Plural{Member: "automation_runs", Schema: "AutomationRunList"}
	api.ListBy(g, api.Operation{
		Path: "/automation-runs", ID: "listAutomationRuns", Needs: rights.Read,
		Summary: "List runs", Description: "Lists the runs of all automations, newest first.", Example: runExample(),
	}, list, e.listRuns, newRun)
	api.ListBy(g, api.Operation{
		Path: "/automations/{id}/runs", ID: "listRunsOfAutomation", Needs: rights.Read,
		Summary: "List the runs of an automation", Description: "Lists the runs of an automation, newest first.",
		Example: runExample(),
		Of:      OfAutomation, Problems: []int{http.StatusNotFound},
	}, list, e.listRunsOf, newRun)
	api.Get(g, api.Operation{
		Path: "/automation-runs/{id}", ID: "getAutomationRun", Needs: rights.Read,
		Summary: "Retrieve a run", Description: "Returns a run with its completed steps.", Example: one, Of: OfRun,
	}, e.service.Run, newRunAnswer)
	api.Once(g, api.Operation{
		Path: "/automation-runs/{id}/cancel", ID: "cancelAutomationRun", Needs: rights.Write, Stores: api.StoresNothing,
		Summary: "Cancel a run", Description: "Cancels a run. After the response it sends nothing more. Fails with " +
			"409 `run_not_live` if the run has ended.",
		Example: one, Of: OfRun, Problems: []int{http.StatusNotFound, http.StatusConflict},
	}, e.cancelRun)
	api.Once(g, api.Operation{
		Path: "/automation-runs/{id}/retry", ID: "retryAutomationRun", Needs: rights.Write, Stores: api.StoresNothing,
		Summary: "Retry a failed run", Description: "Retries a run from the step that failed, with the version " +
			"that it follows and the template versions that are published now. Fails with 409 `run_not_failed` if the " +
			"run did not fail within the last 30 days.",
		Example: one, Of: OfRun, Problems: []int{http.StatusNotFound, http.StatusConflict},
	}, e.retryRun)
	api.OnceBody(g, api.Operation{
		Path: "/automations/{id}/retry-failed", ID: "retryFailedRuns", Needs: rights.Write, Stores: api.StoresNothing,
		Summary: "Retry the failed runs of an automation",
		Description: "Retries failed runs, for example after you fix a template. Each run continues from the step " +
			"that failed, with the version that it follows and the template versions that are published now. Skips " +
			"people with a live run if the automation allows one run at a time. In test mode, retries runs of test mode.",
		Body: &api.Body{About: "The runs to retry.",
			Examples: map[string]any{"since": map[string]any{"since": "2026-01-15T09:30:00Z", "step": "tips"}}},
		Example: map[string]any{"runs": 17}, Of: OfAutomation, Problems: []int{http.StatusNotFound},
	}, againBody, e.retryFailed)
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/automation-webhook-secret", ID: "getAutomationWebhookSecret",
		Needs:   rights.Write,
		Summary: "Retrieve the secret of webhook steps",
		Description: "Returns the secret that signs requests of webhook steps in `Service-Signature` and `webhook-signature`, as the secret " +
			"of a webhook endpoint signs its deliveries. All automations of the account share it.",
		Example: map[string]any{"secret": "whsec_Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo0="},
	}, e.getSecret)
}

// toFilter returns the filter, or an error with every invalid parameter.
func (q RunQuery) toFilter(automationID string) (automations.RunFilter, error) {
	wrong := fault.Fields{}
	f := automations.RunFilter{Request: q.Request(), AutomationID: automationID, Status: q.Status, UserID: q.UserID,
		Email: api.QueryAddress(q.Email), Step: q.Step, Version: q.Version,
		Since: api.QueryTime(wrong, "since", q.Since), Until: api.QueryTime(wrong, "until", q.Until)}
	for field, reason := range f.Validate() {
		wrong.Add(field, "%s", reason)
	}
	return f, wrong.Err()
}

func (e *edge) listRuns(ctx context.Context, c *api.Call, in *allRunsQuery) (page.Page[*ent.AutomationRun], error) {
	f, err := in.toFilter(in.AutomationID)
	if err != nil {
		return page.Page[*ent.AutomationRun]{}, err
	}
	return e.service.Runs(ctx, c.AccountID, f)
}

func (e *edge) listRunsOf(ctx context.Context, c *api.Call, in *runsOfQuery) (page.Page[*ent.AutomationRun], error) {
	f, err := in.toFilter(in.ID)
	if err != nil {
		return page.Page[*ent.AutomationRun]{}, err
	}
	return e.service.Runs(ctx, c.AccountID, f)
}

func (e *edge) cancelRun(ctx context.Context, c *api.Call, in *api.Item,
	keep api.StoreResponse) (automationRunAnswer, error) {
	return api.As(newRunAnswer)(e.service.Cancel(ctx, c.AccountID, in.ID, api.AdaptStore(keep, newRunAnswer)))
}

func (e *edge) retryRun(ctx context.Context, c *api.Call, in *api.Item,
	keep api.StoreResponse) (automationRunAnswer, error) {
	return api.As(newRunAnswer)(e.service.Retry(ctx, c.AccountID, in.ID, api.AdaptStore(keep, newRunAnswer)))
}

// again is a request to retry runs.
type again struct {
	Since time.Time
	Step  string
}

func againBody(a *again) body.Object {
	return body.Object{Name: "RetryFailedRuns", Fields: []body.Field{
		{Name: "since", Type: body.Time(&a.Since), Need: body.Required, About: "Retry only runs that failed at or " +
			"after this time, within the last 30 days.", Example: "2026-01-15T09:30:00Z"},
		{Name: "step", Type: body.Text(&a.Step), About: "Retry only runs that failed at the step with this key.", Example: "tips"},
	}}
}

type retriedAnswer struct {
	Runs int `json:"runs" doc:"Number of runs that continue."`
}

func newRetriedAnswer(n int) retriedAnswer { return retriedAnswer{n} }

func (e *edge) retryFailed(ctx context.Context, c *api.Call, in *api.Item, a again,
	keep api.StoreResponse) (retriedAnswer, error) {
	return api.As(newRetriedAnswer)(e.service.RetryFailed(ctx, c.AccountID, in.ID,
		automations.Failed{Since: a.Since, Step: a.Step, Keep: api.AdaptStore(keep, newRetriedAnswer)}))
}

type stepSecretAnswer struct {
	Secret string `json:"secret" doc:"The secret that signs the requests of webhook steps." example:"whsec_Zk3v9QpA…"`
}

func (e *edge) getSecret(_ context.Context, c *api.Call, _ *api.None) (stepSecretAnswer, error) {
	return stepSecretAnswer{e.service.WebhookSecret(c.AccountID).Reveal()}, nil
}

func runExample() map[string]any {
	return map[string]any{"id": "run_01kf0m4w7he6x8q2v5b3n9c1ta", "automation_id": "aut_01kf0m4w7he6x8q2v5b3n9c1ta",
		"version": 1, "event_id": "ae_01kf0m4w7he6x8q2v5b3n9c1ta",
		"user_id": "user-17", "email": "bob@example.net", "status": "waiting", "step_index": 1, "error": nil,
		"started_at": "2026-01-15T09:30:00.000Z", "ended_at": nil, "converted_at": nil}
}

func runDetailExample() map[string]any {
	out := runExample()
	out["event"] = map[string]any{"id": "ae_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "user.created", "user_id": "user-17",
		"email": "bob@example.net",
		"data":  map[string]any{"name": "Bob"}, "source": "api", "created_at": "2026-01-15T09:30:00Z"}
	out["steps"] = []any{map[string]any{"index": 0, "key": "hello", "type": "send_email", "status": "sent",
		"output":   map[string]any{"status": "sent", "email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta"},
		"email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "error": nil, "started_at": "2026-01-15T09:30:00.000Z", "ended_at": "2026-01-15T09:30:00.100Z"}}
	out["waiting_for"] = map[string]any{"step": "pause", "events": []any{}, "since": nil,
		"until": "2026-01-16T09:30:00.100Z", "reason": nil}
	out["next_at"], out["held"] = "2026-01-16T09:30:00.100Z", false
	return out
}
