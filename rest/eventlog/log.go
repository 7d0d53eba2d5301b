package eventlog

import (
	"context"
	"net/http"
	"strings"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/eventlog"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/rest/events"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// Service is what these operations need of the event log.
type Service interface {
	List(ctx context.Context, accountID string, q eventlog.Query) (page.Page[event.Fact], error)
	Open(ctx context.Context, accountID string, q eventlog.Query) (*eventlog.Stream, error)
}

var _ Service = (*eventlog.Service)(nil)

const tagEventLog = "Event log"

type loggedEvent struct {
	ID        string      `json:"id" example:"evt_01kf0m4w7he6x8q2v5b3n9c1ta" doc:"As in the header Service-Event-Id of webhooks."`
	Type      string      `json:"type" example:"email.delivered"`
	CreatedAt wire.Time   `json:"created_at"`
	Data      events.Data `json:"data" doc:"The payload of the type, as webhooks carry it."`
}

type eventLogPage struct {
	Events     []loggedEvent `json:"events" nullable:"false"`
	HasMore    bool          `json:"has_more" doc:"More can be read now. There may be more even when no event of this page had a wanted type."`
	NextCursor string        `json:"next_cursor" doc:"Give it as after to go on, now or later; never null."`
}

type eventLogQuery struct {
	After string `query:"after" example:"evt_01kf0m4w7he6x8q2v5b3n9c1ta" doc:"Go on behind this event: its id, or next_cursor of an earlier answer. latest: behind the newest. Left out: from the beginning, 30 days ago."`
	Types string `query:"types" example:"email.delivered,email.bounced" doc:"Only these types, separated by commas. Left out: all that webhooks can have."`
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"25" doc:"How many to return."`
}

type eventStreamQuery struct {
	After       string `query:"after" example:"evt_01kf0m4w7he6x8q2v5b3n9c1ta" doc:"Begin behind this event. Left out or latest: what happens from now on."`
	Types       string `query:"types" example:"email.delivered,email.bounced" doc:"Only these types, separated by commas. Left out: all that webhooks can have."`
	LastEventID string `header:"Last-Event-ID" example:"evt_01kf0m4w7he6x8q2v5b3n9c1ta" doc:"Of the last event that was received: go on behind it. It wins over after."`
}

type edge struct{ log Service }

// Routes makes the routes of the event log.
func Routes(service Service) api.Routes {
	return api.NewRoutes("event-log", func(a *api.API) {
		e := &edge{log: service}
		g := a.Tag(tagEventLog, "What has happened, in order, for 30 days: the same events as webhooks carry, to be fetched instead of received. "+
			"Who goes on from where the last answer ended misses no event and gets none twice. An event is shown within a second after it has happened.")
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/event-log", ID: "listEvents", Needs: rights.Read,
			Summary: "Read the event log", Description: "Oldest first. Keep `next_cursor`, handle the events, and ask again behind it.",
			Example: map[string]any{"events": []any{loggedEventExample()}, "has_more": false, "next_cursor": "evt_01kf0m4w7he6x8q2v5b3n9c1ta"},
		}, e.list)
		api.Raw(g, api.Operation{
			Method: http.MethodGet, Path: "/event-log/stream", ID: "streamEvents", Needs: rights.Read,
			Summary: "Follow the event log",
			Description: "The same as Server-Sent Events that go on until one side ends them. The `data` of each is the JSON of an event, its `id` the event's. " +
				"Comments keep the connection alive every 15 seconds. The stream ends when the service is stopped or the key revoked: connect again with `Last-Event-ID`. " +
				"An account may have 10 streams, GraphQL subscriptions among them; one more is answered 429.",
			Media:   "text/event-stream",
			Example: "retry: 2000\n\nid: evt_01kf0m4w7he6x8q2v5b3n9c1ta\ndata: {\"id\":\"evt_01kf0m4w7he6x8q2v5b3n9c1ta\",\"type\":\"email.delivered\",\"created_at\":\"2026-01-15T09:30:00.000Z\",\"data\":{}}\n\n",
		}, e.stream)
	})
}

func (e *edge) list(ctx context.Context, c *api.Call, in *eventLogQuery) (out eventLogPage, err error) {
	found, err := e.log.List(ctx, c.AccountID, eventlog.Query{After: in.After, Types: typeNames(in.Types), Limit: in.Limit})
	if err != nil {
		return out, err
	}
	return eventLogPage{Events: wire.ListOf(found.Items, newLoggedEvent), HasMore: found.HasMore, NextCursor: found.NextCursor}, nil
}

func newLoggedEvent(f event.Fact) loggedEvent {
	return loggedEvent{ID: f.ID, Type: string(f.Type), CreatedAt: wire.Time(f.CreatedAt), Data: events.Data(f.Data)}
}

func typeNames(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func loggedEventExample() map[string]any {
	sample, _ := event.Lookup(event.EmailDelivered)
	return map[string]any{"id": "evt_01kf0m4w7he6x8q2v5b3n9c1ta", "type": string(sample.Type), "created_at": "2026-01-15T09:30:00.000Z", "data": sample.Sample}
}
