package insight

import (
	"net/http"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	restautomations "github.com/postrider/postrider/rest/automations"
)

type runTimelineEntry struct {
	At        wire.Time       `json:"at" doc:"When it happened."`
	Source    string          `json:"source" enum:"event,run,step,wait,email,sms" doc:"event: a custom event that affected the run. run: a change of the run. step: a step that ended. wait: a step that will be retried. email, sms: an event about a message that a step sent."`
	Type      string          `json:"type" example:"email.delivered" doc:"The name of the custom event, or the type of the step or event."`
	Status    *string         `json:"status" doc:"What the event did to the run, how the step ended, or waiting."`
	StepKey   *string         `json:"step_key" doc:"The key of the step, or of the step that sent the message."`
	SubjectID *string         `json:"subject_id" doc:"ID of the custom event, or of the email."`
	Error     *string         `json:"error" doc:"Error of a step, or the reason for its retry, as a code, a colon and a sentence."`
	Data      wire.JSONObject `json:"data" nullable:"true" doc:"Data of the event, or the output of the step. null if the event had none."`
}

type runTimelineAnswer struct {
	Timeline []runTimelineEntry `json:"timeline" nullable:"false" doc:"Entries in chronological order."`
}

func newTimeline(list []automations.TimelineEntry) runTimelineAnswer {
	return runTimelineAnswer{wire.ListOf(list, newTimelineEntry)}
}

func newTimelineEntry(e automations.TimelineEntry) runTimelineEntry {
	out := runTimelineEntry{At: wire.Time(e.At), Source: e.Source, StepKey: wire.OrNull(e.StepKey)}
	switch {
	case e.Event != nil:
		out.Type, out.Status, out.SubjectID, out.Data = e.Event.Name, wire.OrNull(e.Event.Outcome),
			wire.OrNull(e.Event.ID), wire.JSONObject(e.Event.Data)
	case e.Step != nil:
		out.Type, out.Status, out.Error, out.Data = e.Step.Type, wire.OrNull(e.Step.Status), wire.OrNull(e.Step.Error),
			wire.JSONObject(e.Step.Output)
	case e.Fact != nil:
		out.Type, out.SubjectID, out.Data = string(e.Fact.Type), wire.OrNull(e.Fact.SubjectID), wire.JSONObject(e.Fact.Data)
	case e.Blocked != nil:
		out.Type, out.Status, out.Error, out.Data = e.Blocked.Type, wire.OrNull(runs.StatusWaiting),
			wire.OrNull(e.Blocked.String()), wire.JSONObject(`{}`)
	}
	return out
}

func (e *edge) addTimeline(g *api.TagGroup) {
	api.Get(g, api.Operation{
		Path: "/automation-runs/{id}/timeline", ID: "getAutomationRunTimeline", Needs: rights.Read,
		Summary: "Retrieve the timeline of a run", Of: restautomations.OfRun, Problems: []int{http.StatusNotFound},
		Description: "Returns the custom events, steps and email events of a run in chronological order, each with " +
			"its source. `automation.step_completed` is omitted, because it repeats the steps.",
		Example: map[string]any{"timeline": []any{
			map[string]any{"at": "2026-01-15T09:30:00.000Z", "source": "event", "type": "user.created",
				"status": "started", "step_key": nil, "subject_id": "ae_01kf0m4w7he6x8q2v5b3n9c1ta",
				"error": nil, "data": map[string]any{"name": "Bob"}},
			map[string]any{"at": "2026-01-15T09:30:00.100Z", "source": "step", "type": "send_email", "status": "sent",
				"step_key": "hello", "subject_id": nil, "error": nil,
				"data": map[string]any{"status": "sent", "email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta"}}}},
	}, e.service.Timeline, newTimeline)
}
