package people

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Teams is the part of team that the operations use.
type Teams interface {
	Members(ctx context.Context, accountID string) ([]team.Member, error)
	SetRole(ctx context.Context, c accounts.Caller, userID string, role rights.Role) (team.Member, error)
	Remove(ctx context.Context, c accounts.Caller, userID string) error
	Invite(ctx context.Context, c accounts.Caller, in team.NewInvitation) (*ent.Invitation, error)
	Invitations(ctx context.Context, accountID string) ([]*ent.Invitation, error)
	Revoke(ctx context.Context, c accounts.Caller, invitationID string) error
	Resend(ctx context.Context, c accounts.Caller, invitationID string) (*ent.Invitation, error)
}

var _ Teams = (*team.Service)(nil)

const tagTeam = "Team"

var (
	personNoun = api.Noun{Name: "member", About: "ID of the person.", Example: exampleUser,
		Is: func(word string) bool { return id.Is(id.User, word) }}
	invitationNoun = api.Noun{Name: "invitation", About: "ID of the invitation.", Example: exampleInvitation,
		Is: func(word string) bool { return id.Is(id.Invitation, word) }}
)

type memberUser struct {
	ID    string `json:"id" doc:"The ID of the user." example:"usr_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Email string `json:"email" doc:"The email address of the user." example:"ada@example.com"`
	Name  string `json:"name" doc:"The name of the user." example:"Ada"`
}

type memberRecord struct {
	User     memberUser `json:"user" doc:"The user."`
	Role     string     `json:"role" enum:"owner,admin,developer,billing,viewer" doc:"The role of the user in the account."`
	JoinedAt wire.Time  `json:"joined_at" doc:"When the user joined the account."`
}

type memberAnswer struct {
	Member memberRecord `json:"member" doc:"The member."`
}

type membersAnswer struct {
	Members []memberRecord `json:"members" nullable:"false" doc:"The members of the account."`
}

type invitationRecord struct {
	ID         string            `json:"id" doc:"The ID of the invitation." example:"inv_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Email      string            `json:"email" doc:"The address that the invitation was sent to." example:"bob@example.com"`
	Role       string            `json:"role" enum:"owner,admin,developer,billing,viewer" doc:"The role that the invited person gets."`
	InvitedBy  *string           `json:"invited_by" doc:"ID of the user who sent the invitation." example:"usr_01kf0m4w7he6x8q2v5b3n9c1ta"`
	CreatedAt  wire.Time         `json:"created_at" doc:"When the invitation was created."`
	ExpiresAt  wire.Time         `json:"expires_at" doc:"When the invitation expires."`
	AcceptedAt wire.OptionalTime `json:"accepted_at" doc:"When the invitation was accepted. null if it was not."`
	RevokedAt  wire.OptionalTime `json:"revoked_at" doc:"When the invitation was revoked. null if it was not."`
}

type invitationAnswer struct {
	Invitation invitationRecord `json:"invitation" doc:"The invitation."`
}

type invitationsAnswer struct {
	Invitations []invitationRecord `json:"invitations" nullable:"false" doc:"The invitations of the account."`
}

type edge struct{ teams Teams }

// Routes returns the routes of members and invitations.
func Routes(service Teams) api.Routes {
	return api.NewRoutes("team", func(a *api.API) {
		e := &edge{service}
		g := a.Tag(tagTeam, "The users of the account: members with a role, and invitations. Owners can do "+
			"everything. Admins can do everything except change owners and billing. Developers have the rights of API "+
			"keys with the scope `full`. Billing members manage the plan, usage and invoices. Viewers can read.")
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/members", ID: "listMembers", Needs: rights.Read,
			Summary: "List members", Description: "Lists members, oldest membership first.",
			Example: map[string]any{"members": []any{memberExample()}},
		}, e.listMembers)
		api.HandleBody(g, api.Operation{
			Method: http.MethodPatch, Path: "/members/{id}", ID: "updateMember", Needs: rights.Team, Confirmed: true,
			Audited: true, Of: personNoun,
			Problems: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Change a member's role",
			Description: "Changes the role of a member. Fails with 403 `insufficient_role` if you grant a role above " +
				"your own, or change an owner without being one. Fails with 409 for the last owner of an account.",
			Body: &api.Body{About: "The new role.",
				Examples: map[string]any{"admin": map[string]any{"role": "admin"}}},
			Example: map[string]any{"member": memberExample()},
		}, roleBody, e.setRole)
		api.Handle(g, api.Operation{
			Method: http.MethodDelete, Path: "/members/{id}", ID: "removeMember", Needs: rights.Person, Confirmed: true,
			Audited: true, Of: personNoun,
			Problems: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Remove a member",
			Description: "Removes a member, or lets you leave the account. The rules for changing a role apply to " +
				"removing others. Their sessions lose access within 5 seconds. Keys that they created belong to the " +
				"account and keep working.",
			Example: map[string]any{"ok": true},
		}, e.removeMember)
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/invitations", ID: "listInvitations", Needs: rights.Team,
			Summary: "List invitations", Description: "Lists open invitations, newest first; at most 50.",
			Example: map[string]any{"invitations": []any{invitationExample()}},
		}, e.listInvitations)
		api.OnceBody(g, api.Operation{
			Path: "/invitations", ID: "createInvitation", Needs: rights.Team, Confirmed: true, Audited: true,
			Problems: []int{http.StatusConflict},
			Summary:  "Invite a member", Description: "Sends a link that works once within seven days. Fails with " +
				"409 if the person is already a member or invited.",
			Body: &api.Body{About: "The address and the role.",
				Examples: map[string]any{"developer": map[string]any{"email": "bob@example.com", "role": "developer"}}},
			Example: map[string]any{"invitation": invitationExample()},
		}, inviteBody, e.inviteMember)
		api.Handle(g, api.Operation{
			Method: http.MethodDelete, Path: "/invitations/{id}", ID: "revokeInvitation", Needs: rights.Team,
			Audited: true, Of: invitationNoun,
			Problems: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Revoke an invitation",
			Description: "Revokes an invitation, so that its link no longer works. Repeating it has no effect; an " +
				"accepted invitation fails with 409.", Example: map[string]any{"ok": true},
		}, e.revokeInvitation)
		api.Handle(g, api.Operation{
			Method: http.MethodPost, Path: "/invitations/{id}/resend", ID: "resendInvitation", Needs: rights.Team,
			Audited: true, Of: invitationNoun,
			Problems: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Resend an invitation",
			Description: "Sends a new link, valid for seven days. The old link stops working.",
			Example:     map[string]any{"invitation": invitationExample()},
		}, e.resendInvitation)
	})
}

func (e *edge) listMembers(ctx context.Context, c *api.Call, _ *api.None) (answer membersAnswer, err error) {
	list, err := e.teams.Members(ctx, c.AccountID)
	return membersAnswer{wire.ListOf(list, newMemberRecord)}, err
}

func newMemberRecord(m team.Member) memberRecord {
	return memberRecord{User: memberUser{m.User.ID, m.User.Email, m.User.Name}, Role: string(m.Role),
		JoinedAt: wire.Time(m.Row.CreatedAt)}
}

func roleBody(role *rights.Role) body.Object {
	return body.Object{Name: "UpdateMember", Fields: []body.Field{
		{Name: "role", Type: roleType(role), Need: body.RequiredByService, About: "What the member may do."},
	}}
}

func roleType(to *rights.Role) body.Type { return body.Choice(to, rights.Roles()...) }

func (e *edge) setRole(ctx context.Context, c *api.Call, in *api.Item, role rights.Role) (memberAnswer, error) {
	changed, err := e.teams.SetRole(ctx, c.Caller, in.ID, role)
	if err != nil {
		return memberAnswer{}, err
	}
	return memberAnswer{newMemberRecord(changed)}, nil
}

func (e *edge) removeMember(ctx context.Context, c *api.Call, in *api.Item) (api.OkAnswer, error) {
	return api.OkAnswer{OK: true}, e.teams.Remove(ctx, c.Caller, in.ID)
}

func (e *edge) listInvitations(ctx context.Context, c *api.Call, _ *api.None) (invitationsAnswer, error) {
	list, err := e.teams.Invitations(ctx, c.AccountID)
	return invitationsAnswer{wire.ListOf(list, newInvitationRecord)}, err
}

func inviteBody(in *team.NewInvitation) body.Object {
	return body.Object{Name: "CreateInvitation", Fields: []body.Field{
		{Name: "email", Type: body.Text(&in.Email).Format("email"), Need: body.RequiredByService,
			About: "Address that the invitation is sent to.", Example: "bob@example.com"},
		{Name: "role", Type: roleType(&in.Role), Need: body.RequiredByService, About: "Role of the person after accepting."},
	}}
}

func (e *edge) inviteMember(ctx context.Context, c *api.Call, _ *api.None, in team.NewInvitation,
	keep api.StoreResponse) (invitationAnswer, error) {
	in.Keep = func(ctx context.Context, tx idempotency.Execer, made *ent.Invitation) error {
		return keep(ctx, tx, newInvitationAnswer(made))
	}
	return api.As(newInvitationAnswer)(e.teams.Invite(ctx, c.Caller, in))
}

func (e *edge) revokeInvitation(ctx context.Context, c *api.Call, in *api.Item) (api.OkAnswer, error) {
	return api.OkAnswer{OK: true}, e.teams.Revoke(ctx, c.Caller, in.ID)
}

func (e *edge) resendInvitation(ctx context.Context, c *api.Call, in *api.Item) (invitationAnswer, error) {
	return api.As(newInvitationAnswer)(e.teams.Resend(ctx, c.Caller, in.ID))
}

func newInvitationAnswer(i *ent.Invitation) invitationAnswer {
	return invitationAnswer{newInvitationRecord(i)}
}

func newInvitationRecord(i *ent.Invitation) invitationRecord {
	return invitationRecord{ID: i.ID, Email: i.Email, Role: string(i.Role), InvitedBy: i.InvitedBy,
		CreatedAt: wire.Time(i.CreatedAt), ExpiresAt: wire.Time(i.ExpiresAt),
		AcceptedAt: wire.OptionalTime{At: i.AcceptedAt}, RevokedAt: wire.OptionalTime{At: i.RevokedAt}}
}

const (
	exampleUser       = "usr_01kf0m4w7he6x8q2v5b3n9c1ta"
	exampleInvitation = "inv_01kf0m4w7he6x8q2v5b3n9c1ta"
	exampleTime       = "2026-01-15T09:30:00.000Z"
)

func memberExample() map[string]any {
	return map[string]any{"user": map[string]any{"id": exampleUser, "email": "ada@example.com", "name": "Ada"},
		"role": "owner", "joined_at": exampleTime}
}

func invitationExample() map[string]any {
	return map[string]any{"id": exampleInvitation, "email": "bob@example.com", "role": "developer",
		"invited_by": exampleUser, "created_at": exampleTime,
		"expires_at": "2026-01-22T09:30:00.000Z", "accepted_at": nil, "revoked_at": nil}
}
