package people

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

type auditExport struct {
	export.Input
	AuditFilters
}

func exportAudit(g *api.TagGroup, service AuditLog, turns export.Turns) {
	export.Add(g, api.Operation{
		Path: "/audit-log/export", ID: "exportAuditLog", Needs: rights.Team,
		Summary: "Export the audit log", Description: "Exports all entries that match the filters.",
	}, export.List[auditExport, *ent.AuditEntry, auditRecord]{
		Turns: turns, Name: "audit-log", Show: newAuditRecord, Columns: auditColumns,
		Example: auditRecord{ID: "aud_01kf0m4w7he6x8q2v5b3n9c1ta",
			Actor: auditActor{"user", exampleUser, "ada@example.com"}, Action: "member.removed", Target: exampleUser,
			Changes: map[string]any{"email": "bob@example.com", "role": "developer"}, IP: "192.0.2.7",
			UserAgent: "Mozilla/5.0", RequestID: "req_01kf0m4w7he6x8q2v5b3n9c1ta",
			CreatedAt: wire.Time(time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC))},
		Page: func(ctx context.Context, c *api.Call, in *auditExport,
			r page.Request) (page.Page[*ent.AuditEntry], error) {
			f, err := in.toFilter()
			if err != nil {
				return page.Page[*ent.AuditEntry]{}, err
			}
			return service.List(ctx, c.AccountID, f, r)
		},
	})
}

var auditColumns = []export.Column[auditRecord]{
	{Name: "id", Text: func(r auditRecord) string { return r.ID }},
	{Name: "created_at", Text: func(r auditRecord) string { return export.FormatTime(r.CreatedAt) }},
	{Name: "actor_kind", Text: func(r auditRecord) string { return r.Actor.Kind }},
	{Name: "actor_id", Text: func(r auditRecord) string { return r.Actor.ID }},
	{Name: "actor_name", Text: func(r auditRecord) string { return r.Actor.Name }},
	{Name: "action", Text: func(r auditRecord) string { return r.Action }},
	{Name: "target", Text: func(r auditRecord) string { return r.Target }},
	{Name: "changes", Text: func(r auditRecord) string { return string(wire.Encode(r.Changes)) }},
	{Name: "ip", Text: func(r auditRecord) string { return r.IP }},
	{Name: "user_agent", Text: func(r auditRecord) string { return r.UserAgent }},
	{Name: "request_id", Text: func(r auditRecord) string { return r.RequestID }},
}
