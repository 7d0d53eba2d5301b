package automations

import (
	"context"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/export"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/storage/page"
)

type eventExport struct {
	export.Input
	EventFilters
}

func (e *edge) addExports(g *api.TagGroup) {
	person, address := "user-17", "bob@example.net"
	export.Add(g, api.Operation{
		Path: "/events/export", ID: "exportCustomEvents", Needs: rights.Read,
		Summary: "Export custom events", Description: "Exports all custom events that match the filters.",
	}, export.List[eventExport, *ent.CustomEvent, CustomEvent]{
		Turns: e.turns, Name: "events", Show: newEvent, Columns: eventColumns,
		Example: CustomEvent{ID: OfEvent.Example, Name: "user.created", UserID: &person, Email: &address,
			Data: wire.JSONObject(`{"name":"Bob"}`), Source: "api",
			CreatedAt: wire.Time(time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC))},
		Page: func(ctx context.Context, c *api.Call, in *eventExport,
			r page.Request) (page.Page[*ent.CustomEvent], error) {
			return e.findEvents(ctx, c, &in.EventFilters, r)
		},
	})
}

var eventColumns = []export.Column[CustomEvent]{
	{Name: "id", Text: func(r CustomEvent) string { return r.ID }},
	{Name: "created_at", Text: func(r CustomEvent) string { return export.FormatTime(r.CreatedAt) }},
	{Name: "name", Text: func(r CustomEvent) string { return r.Name }},
	{Name: "user_id", Text: func(r CustomEvent) string { return export.OrEmpty(r.UserID) }},
	{Name: "email", Text: func(r CustomEvent) string { return export.OrEmpty(r.Email) }},
	{Name: "source", Text: func(r CustomEvent) string { return r.Source }},
	{Name: "data", Text: func(r CustomEvent) string { return string(r.Data) }},
}
