package automations

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// CustomEvent is a custom event in a response. It is exported because it is embedded.
type CustomEvent struct {
	ID        string          `json:"id" doc:"The ID of the event." example:"ae_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name      string          `json:"name" doc:"The name of the event." example:"user.created"`
	UserID    *string         `json:"user_id" doc:"The ID that identifies the person. null if none was sent."`
	Email     *string         `json:"email" doc:"The email address of the person. null if none was sent."`
	Data      wire.JSONObject `json:"data" nullable:"true" doc:"The payload of the event. null if none was sent."`
	Source    string          `json:"source" doc:"The source of the event: api for API requests." example:"api"`
	CreatedAt wire.Time       `json:"created_at" doc:"When the event was accepted."`
}

type eventMatch struct {
	AutomationID string  `json:"automation_id" doc:"The ID of the automation."`
	Version      int     `json:"version" doc:"The version of the automation that the event was matched against."`
	Outcome      string  `json:"outcome" enum:"started,resumed,cancelled,condition_false,condition_error,re_entry,too_many_runs,paused,loop_guard" doc:"The effect of the event on the automation, or why it started no run."`
	RunID        *string `json:"run_id" doc:"The ID of the run. null if there is none."`
	Error        *string `json:"error" doc:"Why the condition could not be evaluated."`
}

type customEventDetail struct {
	CustomEvent

	Matches []eventMatch `json:"matches" nullable:"false" doc:"The effects on automations, up to 20."`
}

type customEventAnswer struct {
	Event customEventDetail `json:"event" doc:"The event, with its effects."`
}

// EventReceipt is the response of POST /events.
type EventReceipt struct {
	Event              CustomEvent `json:"event" doc:"The event that was accepted."`
	MatchedAutomations int         `json:"matched_automations" doc:"Number of active automations whose trigger matched and that started a run."`
	ResumedRuns        int         `json:"resumed_runs" doc:"Number of waiting runs that continue."`
	CancelledRuns      int         `json:"cancelled_runs" doc:"Number of live runs that the event cancelled. They send nothing more."`
	DryRun             *dryRun     `json:"dry_run,omitempty" doc:"With dry_run, the simulated result."`
	Run                *startedRun `json:"run,omitempty" doc:"With test_send, the run that started. Absent if the trigger or its condition did not match."`
}

func newEvent(e *ent.CustomEvent) CustomEvent {
	return CustomEvent{ID: e.ID, Name: e.Name, UserID: e.UserID, Email: e.Email, Data: wire.JSONObject(e.Data),
		Source: e.Source, CreatedAt: wire.Time(e.CreatedAt)}
}

func newEventAnswer(e *ent.CustomEvent) customEventAnswer {
	return customEventAnswer{customEventDetail{newEvent(e), wire.ListOf(e.Matches, newMatch)}}
}

func newMatch(m shape.EventMatch) eventMatch {
	return eventMatch{m.AutomationID, m.Version, m.Outcome, wire.OrNull(m.RunID), wire.OrNull(m.Error)}
}

// EventFilters are the filters of the list of custom events. It is exported because it is embedded.
type EventFilters struct {
	Name   string `query:"name" doc:"Return only events with this name."`
	UserID string `query:"user_id" doc:"Return only events of this user."`
	Email  string `query:"email" doc:"Return only events with this address, ignoring case."`
	Source string `query:"source" enum:"api,dashboard,system" doc:"Return only events from this source: an API key, a session, or the service itself."`
	Since  string `query:"since" doc:"Return only events at or after this time. RFC 3339 with Z or an offset." example:"2026-01-15T09:30:00Z"`
	Until  string `query:"until" doc:"Return only events before this time. RFC 3339 with Z or an offset." example:"2026-01-16T00:00:00Z"`
	Q      string `query:"q" doc:"Words to find. A complete name, user ID, address or event ID is found in all events; parts of them are searched in the newest 10,000. At most 200 characters and 10 words. Also accepts name:, user:, email:, source:, after:2026-01-31 and before:." example:"user.cre"`
}

type eventQuery struct {
	api.Page
	EventFilters
}

// OfEvent is the noun for custom event IDs.
var OfEvent = api.Noun{Name: "event", About: "ID of the event.", Example: "ae_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is: func(word string) bool { return id.Is(id.CustomEvent, word) }}

func (e *edge) addEvents(g *api.TagGroup) {
	receipt := map[string]any{"event": eventExample(), "matched_automations": 1, "resumed_runs": 0, "cancelled_runs": 0}
	api.HandleClaimed(g, api.Operation{
		Path: "/events", ID: "postCustomEvent", Needs: rights.Send, Status: http.StatusAccepted,
		Summary: "Report a custom event",
		Description: "Stores a custom event. In the same transaction, it cancels runs of the person, ends their " +
			"waits and starts runs, in this order, and the response counts them. A person is identified by " +
			"`user_id`, or by `email` if either side has no `user_id`.",
		Body: &api.Body{Limit: BodyLimit, About: "The event.", Examples: map[string]any{
			"event": map[string]any{"name": "user.created", "user_id": "user-17", "email": "bob@example.net", "data": map[string]any{"name": "Bob"}}}},
		Example: receipt, Answer: EventReceipt{},
	}, eventBody, e.postEvent)
	api.ListBy(g, api.Operation{
		Path: "/events", ID: "listCustomEvents", Needs: rights.ReadSent,
		Summary: "List custom events", Description: "Lists custom events, newest first.", Example: eventExample(),
	}, api.Plural{Member: "events", Schema: "CustomEventList"}, e.listEvents, newEvent)
	e.addExports(g)
	detail := eventExample()
	detail["matches"] = []any{map[string]any{"automation_id": "aut_01kf0m4w7he6x8q2v5b3n9c1ta", "version": 1,
		"outcome": "started", "run_id": "run_01kf0m4w7he6x8q2v5b3n9c1ta", "error": nil}}
	api.Get(g, api.Operation{
		Path: "/events/{id}", ID: "getCustomEvent", Needs: rights.ReadSent,
		Summary: "Retrieve a custom event", Description: "Returns a custom event with its effects on automations.",
		Example: map[string]any{"event": detail}, Of: OfEvent,
	}, e.service.Event, newEventAnswer)
}

// causeItem identifies the run that an event comes from.
type causeItem struct {
	Cause string `header:"Postrider-Cause" doc:"The value of this header in the request of a webhook step. Send it if you report an event in response. Automations that trigger each other stop after ten rounds."`
}

// Data is the data of an event as services read it; nil for none.
func Data(given map[string]any) (json.RawMessage, error) {
	if given == nil {
		return nil, nil
	}
	return json.Marshal(given)
}

func (e *edge) postEvent(ctx context.Context, c *api.Call, from *causeItem, in event,
	claim *idempotency.Claim) (idempotency.Response, error) {
	data, err := Data(in.Data)
	if err != nil {
		return idempotency.Response{}, err
	}
	trial, err := in.isTrial(c.Person != nil)
	if err != nil {
		return idempotency.Response{}, err
	}
	post := ingest.Post{AccountID: c.AccountID, Name: in.Name, UserID: in.UserID, Email: in.Email, Data: data,
		Source: "api", Cause: from.Cause, Claim: claim, Render: receiptOf}
	if c.Person != nil {
		post.Source = "dashboard"
	}
	if trial {
		return e.tryEvent(ctx, c, post, in)
	}
	answer, err := e.service.Post(ctx, post)
	switch {
	case err != nil:
		return idempotency.Response{}, err
	case answer.Replay != nil:
		answer.Replay.Replayed = true
		return *answer.Replay, nil
	}
	c.Debit(ctx, answer.Matched*(len(data)+2*storage.RowBytes)) // each run has a copy of the event
	return receiptOf(answer), nil
}

// receiptOf returns the response for an event.
func receiptOf(a ingest.Result) idempotency.Response {
	return idempotency.Response{Status: http.StatusAccepted, Body: wire.Encode(newReceipt(a))}
}

func newReceipt(a ingest.Result) EventReceipt {
	e := a.Event
	return EventReceipt{
		Event: CustomEvent{ID: e.ID, Name: e.Name, UserID: wire.OrNull(e.UserID),
			Email: wire.OrNull(e.Email), Data: wire.JSONObject(e.Data), Source: e.Source, CreatedAt: wire.Time(e.CreatedAt)},
		MatchedAutomations: a.Matched, ResumedRuns: a.Resumed, CancelledRuns: a.Cancelled}
}

func (e *edge) listEvents(ctx context.Context, c *api.Call, in *eventQuery) (page.Page[*ent.CustomEvent], error) {
	return e.findEvents(ctx, c, &in.EventFilters, in.Request())
}

func (e *edge) findEvents(ctx context.Context, c *api.Call, in *EventFilters,
	r page.Request) (page.Page[*ent.CustomEvent], error) {
	wrong := fault.Fields{}
	f := automations.EventFilter{Request: r, Name: in.Name, UserID: in.UserID, Email: api.QueryAddress(in.Email),
		Source: in.Source, Q: in.Q,
		Since: api.QueryTime(wrong, "since", in.Since), Until: api.QueryTime(wrong, "until", in.Until)}
	if err := wrong.Err(); err != nil {
		return page.Page[*ent.CustomEvent]{}, err
	}
	return e.service.Events(ctx, c.AccountID, f)
}

func eventExample() map[string]any {
	return map[string]any{"id": "ae_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "user.created", "user_id": "user-17",
		"email": "bob@example.net", "data": map[string]any{"name": "Bob"},
		"source": "api", "created_at": "2026-01-15T09:30:00.000Z"}
}
