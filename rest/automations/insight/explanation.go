package insight

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/automations/diff"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	restautomations "github.com/postrider/postrider/rest/automations"
	"github.com/postrider/postrider/rest/automations/played"
	"github.com/postrider/postrider/runtime/base/fault"
)

type fieldChange struct {
	Path   string `json:"path" doc:"The path of the field within the step or definition." example:"duration"`
	Before any    `json:"before" doc:"Any JSON value: the previous value. null if it was added."`
	After  any    `json:"after" doc:"Any JSON value: the new value. null if it was removed."`
}

type stepChange struct {
	Key    string        `json:"key" doc:"The key of the step."`
	Type   string        `json:"type" doc:"The type of the step."`
	Change string        `json:"change" enum:"added,removed,changed,moved" doc:"moved: the content is the same, but its position among the common steps differs."`
	From   *int          `json:"from_index" doc:"The position before; null if the step did not exist."`
	To     *int          `json:"to_index" doc:"The position after; null if the step was removed."`
	Fields []fieldChange `json:"fields" nullable:"false" doc:"The changed fields of the step."`
}

type automationDiff struct {
	From   *int          `json:"from" doc:"The older version."`
	To     *int          `json:"to" doc:"The newer version; null for the draft."`
	Fields []fieldChange `json:"fields" nullable:"false" doc:"Differences outside the steps."`
	Steps  []stepChange  `json:"steps" nullable:"false" doc:"Steps that differ, matched by key."`
}

type automationDiffAnswer struct {
	Diff automationDiff `json:"diff" doc:"The differences between the two definitions."`
}

func newFieldChange(f diff.FieldChange) fieldChange { return fieldChange(f) }

func newStepChange(s diff.StepChange) stepChange {
	out := stepChange{Key: s.Key, Type: s.Type, Change: s.Change, Fields: wire.ListOf(s.Fields, newFieldChange)}
	if s.Before >= 0 {
		out.From = &s.Before
	}
	if s.After >= 0 {
		out.To = &s.After
	}
	return out
}

func newDiff(c automations.Comparison) automationDiffAnswer {
	return automationDiffAnswer{automationDiff{From: c.From, To: c.To, Fields: wire.ListOf(c.Fields, newFieldChange),
		Steps: wire.ListOf(c.Steps, newStepChange)}}
}

type diffQuery struct {
	api.Item

	Number  int    `path:"number" minimum:"1" doc:"Number of the version." example:"2"`
	Against string `query:"against" doc:"A version number, or draft. Defaults to the previous version." example:"draft"`
}

type explainedMatch struct {
	AutomationID   string                         `json:"automation_id" doc:"The ID of the automation."`
	AutomationName *string                        `json:"automation_name" doc:"null if the automation was deleted."`
	Version        int                            `json:"version" doc:"The version that evaluated the event."`
	Outcome        string                         `json:"outcome" enum:"started,resumed,cancelled,condition_false,condition_error,re_entry,too_many_runs,paused,loop_guard,activated_later,not_kept" doc:"activated_later: it was activated after the event. not_kept: the event stores only its first 20 effects."`
	RunID          *string                        `json:"run_id" doc:"The ID of the run. null if there is none."`
	StepKey        *string                        `json:"step_key" doc:"The key of the wait that the event concerned."`
	Error          *string                        `json:"error" doc:"Why the evaluation failed. null if it did not."`
	Conditions     []played.ExpressionExplanation `json:"conditions" nullable:"false" doc:"The evaluated conditions, each part with its value."`
}

type nearMiss struct {
	Kind         string                                      `json:"kind" enum:"wait_of_another_person,wait_condition_false,event_of_another_person,name_spelled_otherwise" doc:"wait_of_another_person: a run waits for this name and has the same address with a different user_id. wait_condition_false: a run of the person waits for this name, but the condition is not true. event_of_another_person: an event with this name has the same address with a different user_id. name_spelled_otherwise: an automation listens to this name with different capitalization."`
	AutomationID *string                                     `json:"automation_id" doc:"The ID of the automation. null if the near miss concerns no specific automation."`
	RunID        *string                                     `json:"run_id" doc:"The ID of the run. null if the near miss concerns no run."`
	StepKey      *string                                     `json:"step_key" doc:"The key of the step. null if the near miss concerns no step."`
	EventID      *string                                     `json:"event_id" doc:"The other event."`
	Name         string                                      `json:"name" doc:"The event name that the automation or run listens to, or the name of the other event."`
	Condition    wire.Optional[played.ExpressionExplanation] `json:"condition" doc:"How the condition was evaluated. null if there is none."`
}

type eventExplanation struct {
	EventID    string           `json:"event_id" doc:"The ID of the event."`
	Matches    []explainedMatch `json:"matches" nullable:"false" doc:"The effects of the event on automations, with the reasons."`
	NearMisses []nearMiss       `json:"near_misses" nullable:"false" doc:"Automations and runs that the event almost matched."`
}

type explanationAnswer struct {
	Explanation eventExplanation `json:"explanation" doc:"The effects of the event, with the reasons."`
}

func newExplained(e automations.EventExplanation) explanationAnswer {
	return explanationAnswer{eventExplanation{EventID: e.Event.ID,
		Matches: wire.ListOf(e.Matches, func(m automations.ExplainedMatch) explainedMatch {
			return explainedMatch{m.AutomationID, wire.OrNull(m.AutomationName), m.Version, m.Outcome,
				wire.OrNull(m.RunID), wire.OrNull(m.StepKey), wire.OrNull(m.Error),
				wire.ListOf(m.Conditions, played.ExplanationOf)}
		}),
		NearMisses: wire.ListOf(e.NearMisses, func(m automations.NearMiss) nearMiss {
			return nearMiss{m.Kind, wire.OrNull(m.AutomationID), wire.OrNull(m.RunID), wire.OrNull(m.StepKey),
				wire.OrNull(m.EventID), m.Name, wire.FromPointer(played.EncodeExplanation(m.Condition))}
		})}}
}

type verdict struct {
	Starts bool    `json:"starts" doc:"Whether the event starts a run."`
	Error  *string `json:"error" doc:"Why the condition has no value; null if it has one."`
}

type backtestDifference struct {
	EventID   string    `json:"event_id" doc:"The ID of the event."`
	Name      string    `json:"name" doc:"The name of the event."`
	CreatedAt wire.Time `json:"created_at" doc:"When the event was accepted."`
	Draft     verdict   `json:"draft" doc:"What the draft does with the event."`
	Active    verdict   `json:"active" doc:"What the active version does with the event."`
}

type automationBacktest struct {
	Version      *int                 `json:"version" doc:"The version that the draft is compared with; null if there is none."`
	Events       int                  `json:"events" doc:"Number of stored events that were evaluated, newest first."`
	HasMore      bool                 `json:"has_more" doc:"Whether more events exist in this period than were evaluated."`
	DraftStarts  int                  `json:"draft_starts" doc:"Number of events that the draft's trigger matches."`
	ActiveStarts int                  `json:"active_starts" doc:"Number of events that the active version's trigger matches."`
	Differ       int                  `json:"differ" doc:"Number of events on which the two triggers disagree."`
	Differences  []backtestDifference `json:"differences" nullable:"false" doc:"The newest 100 events on which they disagree."`
}

type backtestAnswer struct {
	Backtest automationBacktest `json:"backtest" doc:"The result of the backtest."`
}

func newVerdict(v automations.TriggerDecision) verdict {
	return verdict{v.Starts, wire.OrNull(v.Error)}
}

func newBacktest(b automations.Backtest) backtestAnswer {
	return backtestAnswer{automationBacktest{Version: b.Version, Events: b.Events, HasMore: b.More,
		DraftStarts: b.DraftStarts, ActiveStarts: b.ActiveStarts, Differ: b.Differ,
		Differences: wire.ListOf(b.Differences, func(d automations.BacktestDifference) backtestDifference {
			return backtestDifference{d.Event.ID, d.Event.Name, wire.Time(d.Event.CreatedAt), newVerdict(d.Draft),
				newVerdict(d.Active)}
		})}}
}

// backtest selects the events that the draft is evaluated on.
type backtest struct {
	Since *time.Time
	Limit *int
}

func backtestBody(b *backtest) body.Object {
	return body.Object{Name: "BacktestAutomation", Fields: []body.Field{
		{Name: "since", Type: body.Pointer(&b.Since, body.Time), Need: body.Required, About: "Only events at or after this time."},
		{Name: "limit", Type: body.Pointer(&b.Limit, func(n *int) body.IntegerType {
			return body.Integer(n).AtLeast(1).
				UpTo(automations.MaxBacktest)
		}), About: "Maximum number of events, newest first. Defaults to 1000."},
	}, Check: func(d *body.Decoder) {
		if b.Limit != nil && (*b.Limit < 1 || *b.Limit > automations.MaxBacktest) {
			d.Refuse("limit", "must be 1 to %d", automations.MaxBacktest)
		}
	}}
}

func (e *edge) addExplanation(g *api.TagGroup) {
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/automations/{id}/versions/{number}/diff", ID: "diffAutomationVersions",
		Needs:   rights.Read,
		Summary: "Compare two versions of an automation",
		Description: "Compares two versions, matching steps by key. `from` is the older version and `to` the newer " +
			"one; the draft counts as the newest.",
		Example: map[string]any{"diff": map[string]any{"from": 1, "to": nil, "fields": []any{},
			"steps": []any{map[string]any{"key": "pause", "type": "delay", "change": "changed",
				"from_index": 1, "to_index": 1, "fields": []any{map[string]any{"path": "duration", "before": "P1D", "after": "P2D"}}}}}},
		Of: restautomations.OfAutomation, Problems: []int{http.StatusNotFound},
	}, e.diffVersions)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/automations/{id}/backtest", ID: "backtestAutomation", Needs: rights.Write, Quiet: true,
		Stores:  api.StoresNothing,
		Summary: "Test the draft's trigger on stored events",
		Description: "Compares the draft's trigger with that of the active version: for how many stored events each " +
			"would have started a run, and where they differ. Re-entry is not evaluated. Changes no data.",
		Body: &api.Body{About: "The events to evaluate.",
			Examples: map[string]any{"since": map[string]any{"since": "2026-01-01T00:00:00Z", "limit": 500}}},
		Example: map[string]any{"backtest": map[string]any{"version": 1, "events": 2, "has_more": false,
			"draft_starts": 1, "active_starts": 2, "differ": 1, "differences": []any{map[string]any{
				"event_id": "ae_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "user.created",
				"created_at": "2026-01-15T09:30:00.000Z", "draft": map[string]any{"starts": false, "error": nil},
				"active": map[string]any{"starts": true, "error": nil}}}}},
		Of: restautomations.OfAutomation, Problems: []int{http.StatusNotFound},
	}, backtestBody, e.runBacktest)
	api.Get(g, api.Operation{
		Path: "/events/{id}/explanation", ID: "explainCustomEvent", Needs: rights.Read,
		Summary: "Explain the effects of an event on automations", Of: restautomations.OfEvent,
		Description: "Explains why an event started, resumed or cancelled a run, or did not. The conditions of the " +
			"version that handled the event are evaluated again, and each part is returned with its value. " +
			"`near_misses` lists other identities, wait conditions and spellings that the event did not match.",
		Example: map[string]any{"explanation": map[string]any{"event_id": "ae_01kf0m4w7he6x8q2v5b3n9c1ta",
			"matches": []any{map[string]any{"automation_id": "aut_01kf0m4w7he6x8q2v5b3n9c1ta",
				"automation_name": "Welcome", "version": 1, "outcome": "condition_false", "run_id": nil, "step_key": nil,
				"error": nil, "conditions": []any{conditionExample()}}},
			"near_misses": []any{map[string]any{"kind": "wait_of_another_person",
				"automation_id": "aut_01kf0m4w7he6x8q2v5b3n9c1ta", "run_id": "run_01kf0m4w7he6x8q2v5b3n9c1ta",
				"step_key": "verified", "event_id": nil, "name": "user.verified", "condition": nil}}}},
	}, e.service.Explain, newExplained)
}

func (e *edge) diffVersions(ctx context.Context, c *api.Call, in *diffQuery) (automationDiffAnswer, error) {
	against := automations.Against{Draft: in.Against == "draft"}
	if in.Against != "" && !against.Draft {
		number, err := strconv.Atoi(in.Against)
		if err != nil || number < 1 || number > 1<<30 {
			return automationDiffAnswer{}, fault.InvalidField("against", "must be draft or the number of a version")
		}
		against.Version = number
	}
	return api.As(newDiff)(e.service.Compare(ctx, c.AccountID, in.ID, in.Number, against))
}

func (e *edge) runBacktest(ctx context.Context, c *api.Call, in *api.Item, b backtest) (backtestAnswer, error) {
	asked := automations.BacktestInput{}
	if b.Since != nil {
		asked.Since = *b.Since
	}
	if b.Limit != nil {
		asked.Limit = *b.Limit
	}
	return api.As(newBacktest)(e.service.Backtest(ctx, c.Caller, in.ID, asked))
}
