package automations

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/rest/automations/played"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

type dryRun struct {
	AutomationID string                                      `json:"automation_id" doc:"The ID of the automation."`
	Version      *int                                        `json:"version" doc:"Number of the version; null for the draft."`
	Outcome      string                                      `json:"outcome" enum:"completed,failed,cancelled,not_started" doc:"not_started: the trigger or its condition did not match."`
	Error        *string                                     `json:"error" doc:"Why it failed: a code, a colon and a sentence."`
	Condition    wire.Optional[played.ExpressionExplanation] `json:"condition" doc:"The trigger's condition; null if it has none."`
	Trace        []played.SimulatedStep                      `json:"trace" nullable:"false" doc:"The steps, in order. Delays take no time, and every wait receives its event immediately, with empty data."`
}

type startedRun struct {
	ID string `json:"id" doc:"The ID of the run." example:"run_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

func newDryRun(p *automations.SimulationResult) *dryRun {
	if p == nil {
		return nil
	}
	return &dryRun{p.AutomationID, p.Version, p.Status, wire.OrNull(p.Error),
		wire.FromPointer(played.EncodeExplanation(p.Condition)),
		wire.ListOf(p.Steps, played.StepOf)}
}

// tryEvent starts a trial run of one automation with an event.
func (e *edge) tryEvent(ctx context.Context, c *api.Call, post ingest.Post, in event) (idempotency.Response, error) {
	tried, err := e.service.RunTrial(ctx, c.Caller, automations.Trial{Post: post, AutomationID: *in.AutomationID,
		Send: in.TestSend != nil && *in.TestSend, Render: trialReceipt})
	if err != nil {
		return idempotency.Response{}, err
	}
	if tried.Replay != nil {
		tried.Replay.Replayed = true
		return *tried.Replay, nil
	}
	return trialReceipt(tried), nil
}

// trialReceipt is the response for an event that tests an automation.
func trialReceipt(t automations.TrialResult) idempotency.Response {
	receipt := newReceipt(t.Result)
	receipt.DryRun = newDryRun(t.Played)
	if t.RunID != "" {
		receipt.Run = &startedRun{t.RunID}
	}
	return idempotency.Response{Status: http.StatusAccepted, Body: wire.Encode(receipt)}
}
