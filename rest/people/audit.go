package people

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/export"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// AuditLog is the part of audit that the operations use.
type AuditLog interface {
	List(ctx context.Context, accountID string, f audit.Filter, r page.Request) (page.Page[*ent.AuditEntry], error)
}

var _ AuditLog = (*audit.Service)(nil)

type auditActor struct {
	Kind string `json:"kind" enum:"user,key,operator,system" doc:"Who acted: a user, an API key, an operator on the command line or with an operator key, or Postrider itself."`
	ID   string `json:"id" doc:"The ID of the user, API key or operator key." example:"usr_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name string `json:"name" doc:"The name at the time of the action." example:"ada@example.com"`
}

type auditRecord struct {
	ID        string         `json:"id" doc:"The ID of the entry." example:"aud_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Actor     auditActor     `json:"actor" doc:"Who acted."`
	Action    string         `json:"action" doc:"The action, such as member.removed, or the ID of an operation of this API, such as createWebhook." example:"member.removed"`
	Target    string         `json:"target" doc:"ID of the changed resource; may be empty." example:"usr_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Changes   map[string]any `json:"changes" nullable:"false" doc:"The changed fields by name, with their new values or details of the action. Secrets are never included."`
	IP        string         `json:"ip" doc:"The IP address of the request." example:"192.0.2.7"`
	UserAgent string         `json:"user_agent" doc:"The user agent of the request."`
	RequestID string         `json:"request_id" doc:"The ID of the request."`
	CreatedAt wire.Time      `json:"created_at" doc:"When the change was made."`
}

// AuditFilters are the filters of the audit log. It is exported because it is embedded.
type AuditFilters struct {
	Actor  string `query:"actor" doc:"Only entries of this actor, by ID."`
	Target string `query:"target" doc:"Only entries about this object, by ID."`
	Action string `query:"action" doc:"An action or its prefix up to a dot: member matches member.removed."`
	Since  string `query:"since" format:"date-time" doc:"Only entries at or after this time."`
	Until  string `query:"until" format:"date-time" doc:"Only entries before this time."`
	Q      string `query:"q" doc:"Words to find. An ID finds all entries of that actor or object; parts of names, actions and changes are searched in the newest 10,000 entries. At most 200 characters and 10 words. Also accepts by: and on: with an ID or a name, action:, after:2026-01-31 and before:." example:"by:ada on:dom_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

type auditInput struct {
	api.Page
	AuditFilters
}

// AuditRoutes returns the routes of the audit log.
func AuditRoutes(service AuditLog, turns export.Turns) api.Routes {
	return api.NewRoutes("audit-log", func(a *api.API) {
		g := a.Tag(tagTeam, "")
		ListAudit(g, api.Operation{
			Path: "/audit-log", ID: "listAuditLog", Needs: rights.Team,
			Summary: "List the audit log",
			Description: "Lists changes to the account, newest first: members, invitations, settings, keys, and every " +
				"other operation that changes something. Entries are kept for 400 days.",
		}, service, func(c *api.Call) string { return c.AccountID })
		exportAudit(g, service, turns)
	})
}

// ListAudit adds an operation that lists entries of the account that of returns, or of the installation if of returns
// "".
func ListAudit(g *api.TagGroup, op api.Operation, service AuditLog, of func(*api.Call) string) {
	op.Example = auditExample()
	api.ListBy(g, op, api.Plural{Member: "entries", Schema: "AuditLog"},
		func(ctx context.Context, c *api.Call, in *auditInput) (page.Page[*ent.AuditEntry], error) {
			f, err := in.toFilter()
			if err != nil {
				return page.Page[*ent.AuditEntry]{}, err
			}
			return service.List(ctx, of(c), f, in.Request())
		}, newAuditRecord)
}

func (in *AuditFilters) toFilter() (f audit.Filter, err error) {
	wrong := fault.Fields{}
	f = audit.Filter{Actor: in.Actor, Target: in.Target, Action: in.Action, Q: in.Q}
	if since := api.QueryTime(wrong, "since", in.Since); since != nil {
		f.Since = *since
	}
	if until := api.QueryTime(wrong, "until", in.Until); until != nil {
		f.Until = *until
	}
	return f, wrong.Err()
}

func newAuditRecord(e *ent.AuditEntry) auditRecord {
	changes := e.Changes
	if changes == nil {
		changes = map[string]any{}
	}
	return auditRecord{ID: e.ID, Actor: auditActor{string(e.ActorKind), e.ActorID, e.ActorName}, Action: e.Action,
		Target: e.Target, Changes: changes,
		IP: e.IP, UserAgent: e.UserAgent, RequestID: e.RequestID, CreatedAt: wire.Time(e.CreatedAt)}
}

func auditExample() map[string]any {
	return map[string]any{"id": "aud_01kf0m4w7he6x8q2v5b3n9c1ta",
		"actor":  map[string]any{"kind": "user", "id": exampleUser, "name": "ada@example.com"},
		"action": "member.removed", "target": exampleUser, "changes": map[string]any{"email": "bob@example.com", "role": "developer"}, "ip": "192.0.2.7",
		"user_agent": "Mozilla/5.0", "request_id": "req_01kf0m4w7he6x8q2v5b3n9c1ta", "created_at": exampleTime}
}
