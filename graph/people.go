package graph

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Teams reads the members of an account.
type Teams interface {
	MemberPage(ctx context.Context, accountID string, r page.Request) (page.Page[team.Member], error)
	CountMembers(ctx context.Context, accountID string, most int) (int, error)
	InvitationPage(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.Invitation], error)
	CountInvitations(ctx context.Context, accountID string, most int) (int, error)
	Memberships(ctx context.Context, userID string) ([]team.Membership, error)
	UserPage(ctx context.Context, f team.UserFilter, r page.Request) (page.Page[*ent.User], error)
	CountUsers(ctx context.Context, f team.UserFilter, most int) (int, error)
	UserByID(ctx context.Context, userID string) (*ent.User, error)
}

// AuditLog reads the audit log of an account.
type AuditLog interface {
	List(ctx context.Context, accountID string, f audit.Filter, r page.Request) (page.Page[*ent.AuditEntry], error)
	Count(ctx context.Context, accountID string, f audit.Filter, most int) (int, error)
}

var (
	_ Teams    = (*team.Service)(nil)
	_ AuditLog = (*audit.Service)(nil)
)

func toViewer(c accounts.Caller) *model.Viewer {
	v := &model.Viewer{Can: []model.Right{}}
	if p := c.Person; p != nil {
		v.Operator = p.Operator
		v.User = &model.User{ID: p.UserID, Email: p.Email, Name: p.Name}
		if p.Role != "" {
			role := toRole(string(p.Role))
			v.Role = &role
		}
	}
	for _, op := range c.AllowedOperations() {
		v.Can = append(v.Can, model.Right(strings.ToUpper(op.String())))
	}
	return v
}

func toRole(role string) model.Role { return model.Role(strings.ToUpper(role)) }

func toMember(m team.Member) *model.Member {
	return &model.Member{User: &model.User{ID: m.User.ID, Email: m.User.Email, Name: m.User.Name},
		Role: toRole(string(m.Role)), JoinedAt: m.Row.CreatedAt}
}

func toInvitation(i *ent.Invitation) *model.Invitation {
	return &model.Invitation{ID: i.ID, Email: i.Email, Role: toRole(string(i.Role)), InvitedBy: i.InvitedBy,
		CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt}
}

func toAuditEntry(e *ent.AuditEntry) *model.AuditEntry {
	changes := json.RawMessage("{}")
	if encoded, err := json.Marshal(e.Changes); err == nil && e.Changes != nil {
		changes = encoded
	}
	return &model.AuditEntry{ID: e.ID,
		Actor: &model.AuditActor{Kind: model.AuditActorKind(strings.ToUpper(string(e.ActorKind))), ID: e.ActorID,
			Name: e.ActorName},
		Action: e.Action, Target: e.Target, Changes: changes, IP: e.IP, UserAgent: e.UserAgent, RequestID: e.RequestID,
		CreatedAt: e.CreatedAt}
}

func auditFilter(f *model.AuditLogFilter) (out audit.Filter) {
	if f == nil {
		return out
	}
	if f.Actor != nil {
		out.Actor = *f.Actor
	}
	out.Target, out.Q = stringOrEmpty(f.Target), stringOrEmpty(f.Query)
	if f.Action != nil {
		out.Action = *f.Action
	}
	if f.CreatedAt != nil && f.CreatedAt.Gte != nil {
		out.Since = *f.CreatedAt.Gte
	}
	if f.CreatedAt != nil && f.CreatedAt.Lt != nil {
		out.Until = *f.CreatedAt.Lt
	}
	return out
}

func toMemberships(list []team.Membership) []*model.Membership {
	out := make([]*model.Membership, len(list))
	for i, m := range list {
		out[i] = &model.Membership{AccountID: m.AccountID, Name: m.AccountName, Role: toRole(string(m.Role)), MovedTo: m.MovedTo}
	}
	return out
}
