package operator

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/desk"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/rest/people"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Desk is the part of the operator service that the operations use.
type Desk interface {
	Accounts(ctx context.Context, f desk.Filter, r page.Request) (page.Page[*ent.Account], error)
	Account(ctx context.Context, accountID string) (desk.Account, error)
	CreateAccount(ctx context.Context, c accounts.Caller, in accounts.NewAccount,
		keep func(ctx context.Context, tx idempotency.Execer, made *ent.Account) error) (*ent.Account, error)
	Keys(ctx context.Context, c accounts.Caller, r page.Request) (page.Page[*ent.OperatorKey], error)
	CreateKey(ctx context.Context, c accounts.Caller, in accounts.NewOperatorKey,
		keep func(ctx context.Context, tx idempotency.Execer, made *ent.OperatorKey, token secret.String) error,
	) (*ent.OperatorKey, secret.String, error)
	RevokeKey(ctx context.Context, c accounts.Caller, keyID string) (*ent.OperatorKey, error)
	UpdateAccount(ctx context.Context, c accounts.Caller, accountID string,
		change accounts.AccountChange) (desk.Account, error)
	Plans(ctx context.Context) ([]accounts.Plan, error)
	Plan(ctx context.Context, planID string) (accounts.Plan, error)
	UpdatePlan(ctx context.Context, c accounts.Caller, planID string, change plans.PlanChange) (accounts.Plan, error)
}

var _ Desk = (*desk.Service)(nil)

const (
	tagOperator = "Operator"

	exampleAccount = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	exampleTime    = "2026-01-15T09:30:00Z"
)

var accountNoun = api.Noun{Name: "account", About: "ID of the account.", Example: exampleAccount,
	Is: func(word string) bool { return id.Is(id.Account, word) }}

type operatorAccountRecord struct {
	ID                 string            `json:"id" doc:"The ID of the account." example:"acc_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name               string            `json:"name" doc:"The name of the account." example:"Example"`
	Email              string            `json:"email" doc:"The email address of the account." example:"ada@example.com"`
	Plan               string            `json:"plan" doc:"ID of the plan." example:"pro"`
	ProductionUnlocked bool              `json:"production_unlocked" doc:"Whether the operator has allowed sending to any recipient."`
	PaymentMethodAt    wire.OptionalTime `json:"payment_method_at" doc:"When the current payment method was added; null if there is none."`
	PaymentDueAt       wire.OptionalTime `json:"payment_due_at" doc:"When a payment became overdue; null if no payment is overdue."`
	SuspendedAt        wire.OptionalTime `json:"suspended_at" doc:"When the account was suspended. null if it is not."`
	Unmetered          bool              `json:"unmetered" doc:"Whether the account has no caps and no rate limit."`
	MonthlyLimit       *int              `json:"monthly_limit" doc:"The account's own limit on emails per month; null if not set."`
	StoredBytes        *int              `json:"stored_bytes" doc:"Cap on stored bytes, set by the operator; null if the plan's cap applies."`
	DailyBytes         *int              `json:"daily_bytes" doc:"Cap on bytes stored per day, set by the operator; null if the plan's cap applies."`
	CreatedAt          wire.Time         `json:"created_at" doc:"When the account was created."`
}

type operatorUsageRecord struct {
	Day            int64  `json:"day" doc:"Emails sent today (UTC)." example:"120"`
	Month          int64  `json:"month" doc:"Emails sent this month (UTC)." example:"3400"`
	DailyCap       *int   `json:"daily_cap" doc:"The maximum number of emails per day (UTC); null if unlimited."`
	MonthlyCap     *int   `json:"monthly_cap" doc:"The maximum number of emails per month (UTC); null if unlimited."`
	StoredBytes    *int64 `json:"stored_bytes" doc:"Bytes that the account stores; null if unlimited."`
	StoredBytesCap *int   `json:"stored_bytes_cap" doc:"Cap on stored bytes; null if unlimited."`
	DailyBytes     *int64 `json:"daily_bytes" doc:"Bytes stored today (UTC); null if unlimited."`
	DailyBytesCap  *int   `json:"daily_bytes_cap" doc:"Cap on bytes stored per day; null if unlimited."`
}

type operatorAccountAnswer struct {
	Account operatorAccountRecord `json:"account" doc:"The account."`
	Usage   operatorUsageRecord   `json:"usage" doc:"Usage of the account against its caps."`
}

type listInput struct {
	api.Page

	Text   string `query:"q" maxLength:"200" doc:"Part of the email or name, ignoring case, or a complete ID."`
	Plan   string `query:"plan" maxLength:"40" doc:"ID of a plan."`
	Status string `query:"status" enum:"active,suspended,payment_due" doc:"active: neither suspended nor with an overdue payment."`
}

type edge struct{ desk Desk }

// Routes returns the routes of the installation's accounts, plans and audit log.
func Routes(service Desk, log people.AuditLog) api.Routes {
	return api.NewRoutes("operator", func(a *api.API) {
		e := &edge{service}
		g := a.Tag(tagOperator, "Administration of the installation. Requires an operator key, or a signed-in operator, "+
			"whatever their role in a team; API keys are never accepted. Changes by people require a recently confirmed "+
			"session. All changes are recorded in the audit logs of the account and the installation.")
		api.ListBy(g, api.Operation{
			Path: "/operator/accounts", ID: "listAccountsAsOperator", Needs: rights.Operate,
			Summary: "List the installation's accounts", Description: "Lists accounts, newest first.",
			Example: accountExample(),
		}, api.Plural{Member: "accounts", Schema: "OperatorAccountList"},
			func(ctx context.Context, _ *api.Call, in *listInput) (page.Page[*ent.Account], error) {
				return e.desk.Accounts(ctx, desk.Filter{Text: in.Text, Plan: in.Plan,
					Status: desk.AccountStatus(in.Status)}, in.Request())
			}, newAccount)
		one := map[string]any{"account": accountExample(),
			"usage": map[string]any{"day": 120, "month": 3400, "daily_cap": nil, "monthly_cap": nil,
				"stored_bytes": 2_400_000_000, "stored_bytes_cap": 50_000_000_000, "daily_bytes": 31_000_000, "daily_bytes_cap": 5_000_000_000}}
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/operator/accounts/{id}", ID: "getAccountAsOperator", Needs: rights.Operate,
			Of: accountNoun, Problems: []int{http.StatusNotFound},
			Summary: "Retrieve an account of the installation", Description: "Returns an account and its usage of " +
				"its caps.", Example: one,
		}, func(ctx context.Context, _ *api.Call, in *api.Item) (operatorAccountAnswer, error) {
			return api.As(newAccountAnswer)(e.desk.Account(ctx, in.ID))
		})
		api.HandleBody(g, api.Operation{
			Method: http.MethodPatch, Path: "/operator/accounts/{id}", ID: "updateAccountAsOperator",
			Needs: rights.Operate, Confirmed: true, Audited: true, Of: accountNoun,
			Problems: []int{http.StatusNotFound}, Summary: "Change an account of the installation",
			Description: "Updates an account. Later updates from the payment provider override the plan and payment " +
				"method. A suspended account can do everything except send, and its queued mail waits.",
			Body: &api.Body{About: "The fields to change. At least one is required.", Examples: map[string]any{
				"plan": map[string]any{"plan": "dedicated"}, "suspend": map[string]any{"suspended": true},
				"unlock": map[string]any{"production_unlocked": true}}},
			Example: one,
		}, accountBody, func(ctx context.Context, c *api.Call, in *api.Item,
			change accounts.AccountChange) (operatorAccountAnswer, error) {
			return api.As(newAccountAnswer)(e.desk.UpdateAccount(ctx, c.Caller, in.ID, change))
		})
		api.OnceBody(g, api.Operation{
			Path: "/operator/accounts", ID: "createAccountAsOperator", Needs: rights.Operate, Confirmed: true,
			Audited: true, Stores: api.StoresNothing, Summary: "Create an account of the installation",
			Description: "Creates an account and its owner. If a user already has the email, that user becomes the " +
				"owner; otherwise the user can set a password with the link for forgotten passwords. To create API " +
				"keys, domains or invitations in the account, use their operations with the header " +
				"`Postrider-Account`.",
			Body: &api.Body{About: "The account to create.", Examples: map[string]any{
				"customer": map[string]any{"name": "Example", "email": "ada@example.com", "plan": "pro"}}},
			Example: map[string]any{"account": accountExample()},
		}, newAccountBody, e.createAccount)
		e.keyRoutes(g)
		e.planRoutes(g)
		people.ListAudit(g, api.Operation{
			Path: "/operator/audit-log", ID: "listAuditLogAsOperator", Needs: rights.Operate,
			Summary: "List the installation's audit log", Description: "Lists operator actions and changes that " +
				"belong to no single account, newest first. Entries are kept for 400 days.",
		}, log, func(*api.Call) string { return "" })
	})
}

func newAccountBody(in *accounts.NewAccount) body.Object {
	return body.Object{Name: "CreateAccountAsOperator", Fields: []body.Field{
		{Name: "name", Type: body.Text(&in.Name).Length(1, 200), Need: body.Required, About: "Name of the account.", Example: "Example"},
		{Name: "email", Type: body.Text(&in.Email).Length(1, 320), Need: body.Required,
			About: "Email address of the account and of its owner.", Example: "ada@example.com"},
		{Name: "owner_name", Type: body.Text(&in.OwnerName).Length(0, 200), About: "Name of a new owner."},
		{Name: "plan", Type: body.Text(&in.Plan).Length(0, 40), About: "ID of a plan. Defaults to `POSTRIDER_DEFAULT_PLAN`."},
		{Name: "production_unlocked", Type: body.Boolean(&in.ProductionUnlocked), Default: false,
			About: "Whether the account may send to any recipient without a verified domain and a payment method."},
		{Name: "unmetered", Type: body.Boolean(&in.Unmetered), Default: false, About: "Whether the account has no caps and no rate limit."},
	}}
}

type createdAccountAnswer struct {
	Account operatorAccountRecord `json:"account" doc:"The account that was created."`
}

func (e *edge) createAccount(ctx context.Context, c *api.Call, _ *api.None, in accounts.NewAccount,
	keep api.StoreResponse) (createdAccountAnswer, error) {
	show := func(made *ent.Account) createdAccountAnswer { return createdAccountAnswer{newAccount(made)} }
	return api.As(show)(e.desk.CreateAccount(ctx, c.Caller, in, api.AdaptStore(keep, show)))
}

func accountBody(c *accounts.AccountChange) body.Object {
	return body.Object{Name: "UpdateAccountAsOperator", Change: true, Fields: []body.Field{
		{Name: "plan", Type: body.Pointer(&c.Plan, body.Text), About: "ID of a plan."},
		{Name: "production_unlocked", Type: body.Pointer(&c.ProductionUnlocked, body.Boolean),
			About: "Whether the account may send to any recipient without a verified domain and a payment method."},
		{Name: "payment_method", Type: body.Pointer(&c.PaymentMethod, body.Boolean), About: "Whether a payment method is on file."},
		{Name: "suspended", Type: body.Pointer(&c.Suspended, body.Boolean), About: "Whether the account is suspended and cannot send."},
		body.IntegerOrNull("monthly_limit", &c.MonthlyLimit, 1, accounts.MaxMonthlyLimit,
			"The account's own limit on emails per month; null if not set."),
		body.IntegerOrNull("stored_bytes", &c.StoredBytes, 1, accounts.MaxBytes,
			"Cap on stored bytes that replaces the plan's cap; null if the plan's cap applies."),
		body.IntegerOrNull("daily_bytes", &c.DailyBytes, 1, accounts.MaxBytes,
			"Cap on bytes stored per day that replaces the plan's cap; null if the plan's cap applies."),
	}, Check: func(d *body.Decoder) { d.AddErrors(c.Validate()) }}
}

func newAccount(a *ent.Account) operatorAccountRecord {
	return operatorAccountRecord{ID: a.ID, Name: a.Name, Email: a.Email, Plan: a.PlanID,
		ProductionUnlocked: a.ProductionUnlocked, PaymentMethodAt: wire.OptionalTime{At: a.PaymentMethodAt},
		PaymentDueAt: wire.OptionalTime{At: a.PaymentDueAt}, SuspendedAt: wire.OptionalTime{At: a.SuspendedAt},
		Unmetered: a.Unmetered, MonthlyLimit: a.MonthlyLimit, StoredBytes: a.StoredBytes, DailyBytes: a.DailyBytes,
		CreatedAt: wire.Time(a.CreatedAt)}
}

func newAccountAnswer(a desk.Account) operatorAccountAnswer {
	return operatorAccountAnswer{newAccount(a.Account), operatorUsageRecord{Day: a.Usage.Day, Month: a.Usage.Month,
		DailyCap: a.Usage.DailyCap, MonthlyCap: a.Usage.MonthlyCap,
		StoredBytes: a.Usage.StoredBytes, StoredBytesCap: a.Usage.StoredBytesCap, DailyBytes: a.Usage.DailyBytes,
		DailyBytesCap: a.Usage.DailyBytesCap}}
}

func accountExample() map[string]any {
	return map[string]any{"id": exampleAccount, "name": "Example", "email": "ada@example.com", "plan": "pro",
		"production_unlocked": false, "payment_method_at": exampleTime,
		"payment_due_at": nil, "suspended_at": nil, "unmetered": false, "monthly_limit": nil, "stored_bytes": nil,
		"daily_bytes": nil, "created_at": exampleTime}
}
