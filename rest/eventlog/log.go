package eventlog

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/eventlog"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/rest/events"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// Service is the part of the event log that these operations use.
type Service interface {
	List(ctx context.Context, accountID string, q eventlog.EventQuery) (page.Page[event.Fact], error)
	Open(ctx context.Context, accountID string, q eventlog.EventQuery) (*eventlog.Stream, error)
}

var _ Service = (*eventlog.Service)(nil)

const tagEventLog = "Event log"

type loggedEvent struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	Mode      string    `json:"mode,omitempty"`
	CreatedAt wire.Time `json:"created_at"`
	Data      wire.JSON `json:"data"`
}

// Schema implements huma.SchemaProvider. The events of the catalog describe the fields.
func (loggedEvent) Schema(huma.Registry) *huma.Schema { return events.LoggedSchema() }

type eventLogPage struct {
	Events     []loggedEvent `json:"events" nullable:"false" doc:"The events, oldest first."`
	HasMore    bool          `json:"has_more" doc:"Whether more events can be read now. May be true even if no event of this page has a requested type."`
	NextCursor string        `json:"next_cursor" doc:"Send it as after to continue, immediately or later. Never null."`
}

type eventLogQuery struct {
	After string `query:"after" example:"evt_01kf0m4w7he6x8q2v5b3n9c1ta" doc:"Return events after this one: an event ID, or next_cursor of an earlier response. latest: after the newest event. Defaults to the beginning, 30 days ago."`
	Types string `query:"types" example:"email.delivered,email.bounced" doc:"Return only these types, separated by commas. Defaults to all webhook types."`
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"25" doc:"Maximum number of events to return."`
}

type eventStreamQuery struct {
	After       string `query:"after" example:"evt_01kf0m4w7he6x8q2v5b3n9c1ta" doc:"Stream events after this one. Defaults to new events only, like latest."`
	Types       string `query:"types" example:"email.delivered,email.bounced" doc:"Stream only these types, separated by commas. Defaults to all webhook types."`
	LastEventID string `header:"Last-Event-ID" example:"evt_01kf0m4w7he6x8q2v5b3n9c1ta" doc:"ID of the last event that was received. The stream continues after it. Overrides after."`
}

type edge struct{ log Service }

// Routes returns the routes of the event log. The offer decides which events the document describes.
func Routes(service Service, offer event.Offer) api.Routes {
	return api.NewRoutes("event-log", func(a *api.API) {
		a.Describe(func(d *huma.OpenAPI) { events.Describe(d, offer) })
		e := &edge{log: service}
		g := a.Tag(tagEventLog, "Events of the last 30 days, in order: the events that webhooks deliver, for "+
			"clients that poll. A client that continues from the last cursor receives each event exactly once. "+
			"An event appears within a second.")
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/event-log", ID: "listEvents", Needs: rights.Read,
			Summary: "Read the event log", Description: "Lists events, oldest first. Store `next_cursor`, process " +
				"the events, and continue from there.",
			Example: map[string]any{"events": []any{loggedEventExample()}, "has_more": false,
				"next_cursor": "evt_01kf0m4w7he6x8q2v5b3n9c1ta"},
		}, e.list)
		api.Raw(g, api.Operation{
			Method: http.MethodGet, Path: "/event-log/stream", ID: "streamEvents", Needs: rights.Read,
			Summary: "Follow the event log",
			Description: "Streams events as Server-Sent Events until one side closes the connection. The `data` " +
				"field is the JSON of an event, and `id` is its ID. Comments keep the connection alive every 15 " +
				"seconds. The stream ends when the service stops or the key is revoked: reconnect with " +
				"`Last-Event-ID`. An account can have up to 10 streams, including GraphQL subscriptions; another " +
				"one fails with 429.",
			Media:   "text/event-stream",
			Example: "retry: 2000\n\nid: evt_01kf0m4w7he6x8q2v5b3n9c1ta\ndata: {\"id\":\"evt_01kf0m4w7he6x8q2v5b3n9c1ta\",\"type\":\"email.delivered\",\"created_at\":\"2026-01-15T09:30:00.000Z\",\"data\":{}}\n\n",
		}, e.stream)
	})
}

func (e *edge) list(ctx context.Context, c *api.Call, in *eventLogQuery) (out eventLogPage, err error) {
	found, err := e.log.List(ctx, c.AccountID, eventlog.EventQuery{After: in.After, Types: typeNames(in.Types),
		Limit: in.Limit})
	if err != nil {
		return out, err
	}
	return eventLogPage{Events: wire.ListOf(found.Items, newLoggedEvent), HasMore: found.HasMore,
		NextCursor: found.NextCursor}, nil
}

func newLoggedEvent(f event.Fact) loggedEvent {
	return loggedEvent{ID: f.ID, Type: string(f.Type), Mode: event.ModeOf(f.AccountID), CreatedAt: wire.Time(f.CreatedAt),
		Data: wire.JSON(f.Data)}
}

func typeNames(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func loggedEventExample() map[string]any {
	sample, _ := event.Lookup(event.EmailDelivered)
	return map[string]any{"id": "evt_01kf0m4w7he6x8q2v5b3n9c1ta", "type": string(sample.Type),
		"created_at": "2026-01-15T09:30:00.000Z", "data": sample.Sample}
}
