package emails

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/export"
	"github.com/postrider/postrider/runtime/storage/page"
)

type exportQuery struct {
	export.Input
	Filters
}

func (e *edge) exporting(g *api.TagGroup) {
	export.Add(g, api.Operation{
		Path: "/emails/export", ID: "exportEmails", Needs: rights.Read,
		Summary: "Export emails", Description: "Exports all emails that match the filters, without their bodies.",
	}, export.List[exportQuery, *ent.Email, EmailRecord]{
		Turns: e.turns, Name: "emails", Show: newEmailRecord, Columns: exportColumns, Example: exportExample(),
		Page: func(ctx context.Context, c *api.Call, in *exportQuery, r page.Request) (page.Page[*ent.Email], error) {
			return e.find(ctx, c, &in.Filters, r)
		},
	})
}
