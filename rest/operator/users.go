package operator

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Users is the part of the team service that the operations use.
type Users interface {
	UserPage(ctx context.Context, f team.UserFilter, r page.Request) (page.Page[*ent.User], error)
	UserByID(ctx context.Context, userID string) (*ent.User, error)
	CreateUser(ctx context.Context, by accounts.Caller, email, name string,
		keep func(ctx context.Context, tx idempotency.Execer, made *ent.User) error) (*ent.User, error)
}

// SignIn is the part of the sign-in service that the operations use.
type SignIn interface {
	ChangeAsOperator(ctx context.Context, by accounts.Caller, emailOrID string, c team.UserChange) (*ent.User, error)
	CreateUserLink(ctx context.Context, by accounts.Caller, emailOrID string,
		keep func(ctx context.Context, tx idempotency.Execer, made signin.UserLink) error) (signin.UserLink, error)
}

var (
	_ Users  = (*team.Service)(nil)
	_ SignIn = (*signin.Service)(nil)
)

const exampleUser = "usr_01kf0m4w7he6x8q2v5b3n9c1ta"

var userNoun = api.Noun{Name: "user", About: "ID of the user.", Example: exampleUser,
	Is: func(word string) bool { return id.Is(id.User, word) }}

type operatorUserRecord struct {
	ID           string                     `json:"id" doc:"The ID of the user." example:"usr_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Email        string                     `json:"email" doc:"The email address of the user." example:"ada@example.com"`
	Name         string                     `json:"name" doc:"The name of the user." example:"Ada"`
	Operator     bool                       `json:"operator" doc:"Whether the user is an operator of the installation."`
	DisabledAt   wire.OptionalTime          `json:"disabled_at" doc:"When the user was disabled; null if they are not."`
	LastSignInAt wire.OptionalTime          `json:"last_sign_in_at" doc:"When the user last signed in; null if never."`
	CreatedAt    wire.Time                  `json:"created_at" doc:"When the user was created."`
	Memberships  []operatorMembershipRecord `json:"memberships" nullable:"false" doc:"The accounts that the user belongs to."`
}

type operatorMembershipRecord struct {
	AccountID string `json:"account_id" doc:"The ID of the account." example:"acc_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Role      string `json:"role" doc:"The role in this account." example:"owner"`
}

type operatorUserAnswer struct {
	User operatorUserRecord `json:"user" doc:"The user."`
}

type operatorUserLinkAnswer struct {
	URL       string    `json:"url" doc:"The URL that signs in the user once. It is shown only once." example:"https://mail.example.com/sign-in#Zk3v9…"`
	ExpiresAt wire.Time `json:"expires_at" doc:"When the link expires."`
}

type userListInput struct {
	api.Page

	Text     string `query:"q" maxLength:"200" doc:"Part of the email or name, ignoring case, or a complete ID."`
	Operator string `query:"operator" enum:"true,false" doc:"Whether the user is an operator."`
	Disabled string `query:"disabled" enum:"true,false" doc:"Whether the user is disabled."`
}

type newUser struct{ Email, Name string }

type userEdge struct {
	users  Users
	signIn SignIn
}

// UserRoutes returns the routes of the installation's users.
func UserRoutes(users Users, signIn SignIn) api.Routes {
	return api.NewRoutes("operator", func(a *api.API) {
		e := &userEdge{users, signIn}
		g := a.Tag(tagOperator, "")
		one := map[string]any{"user": userExample()}
		api.ListBy(g, api.Operation{
			Path: "/operator/users", ID: "listUsersAsOperator", Needs: rights.Operate,
			Summary: "List the installation's users", Description: "Lists users, newest first, with their roles.",
			Example: userExample(),
		}, api.Plural{Member: "users", Schema: "OperatorUserList"},
			func(ctx context.Context, _ *api.Call, in *userListInput) (page.Page[*ent.User], error) {
				return e.users.UserPage(ctx, team.UserFilter{Text: in.Text, Operator: parseFlag(in.Operator),
					Disabled: parseFlag(in.Disabled)}, in.Request())
			}, newUserRecord)
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/operator/users/{id}", ID: "getUserAsOperator", Needs: rights.Operate,
			Of: userNoun, Problems: []int{http.StatusNotFound},
			Summary: "Retrieve a user of the installation", Description: "Returns a user and their roles.", Example: one,
		}, func(ctx context.Context, _ *api.Call, in *api.Item) (operatorUserAnswer, error) {
			return api.As(newUserAnswer)(e.users.UserByID(ctx, in.ID))
		})
		api.OnceBody(g, api.Operation{
			Path: "/operator/users", ID: "createUserAsOperator", Needs: rights.Operate, Confirmed: true, Audited: true,
			Stores: api.StoresNothing, Summary: "Create a user of the installation",
			Description: "Creates a user without a password and without a team. If a user already has the email, that " +
				"user is returned unchanged.",
			Body: &api.Body{About: "The user to create.", Examples: map[string]any{
				"user": map[string]any{"email": "ada@example.com", "name": "Ada"}}},
			Example: one,
		}, newUserBody, func(ctx context.Context, c *api.Call, _ *api.None, in newUser,
			keep api.StoreResponse) (operatorUserAnswer, error) {
			return api.As(newUserAnswer)(e.users.CreateUser(ctx, c.Caller, in.Email, in.Name,
				api.AdaptStore(keep, newUserAnswer)))
		})
		api.HandleBody(g, api.Operation{
			Method: http.MethodPatch, Path: "/operator/users/{id}", ID: "updateUserAsOperator", Needs: rights.Operate,
			Confirmed: true, Audited: true, Of: userNoun, Problems: []int{http.StatusNotFound},
			Summary: "Change a user of the installation",
			Description: "Disables or enables a user, or changes who is an operator. Disabling a user ends their " +
				"sessions, links and invitations, and the operator keys that they created. You cannot disable yourself or " +
				"revoke your own role. Operator keys cannot change operators.",
			Body: &api.Body{About: "The fields to change. At least one is required.", Examples: map[string]any{
				"disable": map[string]any{"disabled": true}, "operator": map[string]any{"operator": true}}},
			Example: one,
		}, userChangeBody, func(ctx context.Context, c *api.Call, in *api.Item,
			change team.UserChange) (operatorUserAnswer, error) {
			return api.As(newUserAnswer)(e.signIn.ChangeAsOperator(ctx, c.Caller, in.ID, change))
		})
		api.Once(g, api.Operation{
			Path: "/operator/users/{id}/links", ID: "createUserLinkAsOperator", Needs: rights.Operate, Confirmed: true,
			Audited: true, Of: userNoun, Problems: []int{http.StatusNotFound}, Stores: api.StoresNothing,
			Summary: "Create a sign-in link for a user",
			Description: "Creates a link that signs in a user once, within an hour and without their second factor. It is " +
				"not mailed. It ends when the user signs in. Operator keys can create links only for users who have never " +
				"signed in. A response stored under an Idempotency-Key is encrypted.",
			Example: map[string]any{"url": "https://mail.example.com/sign-in#Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo",
				"expires_at": exampleTime}, Secret: true,
		}, func(ctx context.Context, c *api.Call, in *api.Item, keep api.StoreResponse) (operatorUserLinkAnswer, error) {
			return api.As(newLinkAnswer)(e.signIn.CreateUserLink(ctx, c.Caller, in.ID, api.AdaptStore(keep, newLinkAnswer)))
		})
	})
}

func parseFlag(word string) *bool {
	if word == "" {
		return nil
	}
	return new(word == "true")
}

func newUserBody(in *newUser) body.Object {
	return body.Object{Name: "CreateUserAsOperator", Fields: []body.Field{
		{Name: "email", Type: body.Text(&in.Email).Length(1, 320), Need: body.Required,
			About: "Email address of the user.", Example: "ada@example.com"},
		{Name: "name", Type: body.Text(&in.Name).Length(0, 200), About: "Name of the user."},
	}}
}

func userChangeBody(c *team.UserChange) body.Object {
	return body.Object{Name: "UpdateUserAsOperator", Change: true, Fields: []body.Field{
		{Name: "disabled", Type: body.Pointer(&c.Disabled, body.Boolean), About: "Whether the user is disabled."},
		{Name: "operator", Type: body.Pointer(&c.Operator, body.Boolean),
			About: "Whether the user is an operator of the installation."},
	}}
}

func newUserRecord(u *ent.User) operatorUserRecord {
	return operatorUserRecord{ID: u.ID, Email: u.Email, Name: u.Name, Operator: u.Operator,
		DisabledAt: wire.OptionalTime{At: u.DisabledAt}, LastSignInAt: wire.OptionalTime{At: u.LastSignInAt},
		CreatedAt: wire.Time(u.CreatedAt), Memberships: wire.ListOf(u.Edges.Memberships, newMembership)}
}

func newMembership(m *ent.Membership) operatorMembershipRecord {
	return operatorMembershipRecord{m.AccountID, string(m.Role)}
}

func newUserAnswer(u *ent.User) operatorUserAnswer { return operatorUserAnswer{newUserRecord(u)} }

func newLinkAnswer(l signin.UserLink) operatorUserLinkAnswer {
	return operatorUserLinkAnswer{l.URL, wire.Time(l.ExpiresAt)}
}

func userExample() map[string]any {
	return map[string]any{"id": exampleUser, "email": "ada@example.com", "name": "Ada", "operator": false,
		"disabled_at": nil, "last_sign_in_at": exampleTime, "created_at": exampleTime,
		"memberships": []any{map[string]any{"account_id": exampleAccount, "role": "owner"}}}
}
