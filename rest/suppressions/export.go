package suppressions

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

type exportQuery struct {
	export.Input
	Filters
}

func (e *edge) addExports(g *api.TagGroup) {
	address, about := "bob@example.net", "msg_01kf0m4w7he6x8q2v5b3n9c1ta"
	export.Add(g, api.Operation{
		Path: "/suppressions/export", ID: "exportSuppressions", Needs: rights.Read,
		Summary: "Export suppressions", Description: "Exports all suppressions that match the filters. The " +
			"dashboard of another installation can import the CSV.",
	}, export.List[exportQuery, *ent.Suppression, suppressionRecord]{
		Turns: e.turns, Name: "suppressions", Show: newSuppressionRecord, Columns: exportColumns,
		Example: suppressionRecord{ID: "sup_01kf0m4w7he6x8q2v5b3n9c1ta", Email: &address, Reason: "bounce",
			EmailID:   &about,
			CreatedAt: wire.Time(time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC))},
		Page: func(ctx context.Context, c *api.Call, in *exportQuery,
			r page.Request) (page.Page[*ent.Suppression], error) {
			return e.list.List(ctx, c.AccountID, in.toFilter(r))
		},
	})
}

var exportColumns = []export.Column[suppressionRecord]{
	{Name: "id", Text: func(r suppressionRecord) string { return r.ID }},
	{Name: "email", Text: func(r suppressionRecord) string { return export.OrEmpty(r.Email) }},
	{Name: "reason", Text: func(r suppressionRecord) string { return r.Reason }},
	{Name: "email_id", Text: func(r suppressionRecord) string { return export.OrEmpty(r.EmailID) }},
	{Name: "created_at", Text: func(r suppressionRecord) string { return export.FormatTime(r.CreatedAt) }},
}
