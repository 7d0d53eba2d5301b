package account

import (
	"context"
	"net/http"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/openapi"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/id"
)

// Service is the part of accounts that the account operations use.
type Service interface {
	Profile(ctx context.Context, accountID string) (accounts.Profile, error)
	UpdateAccount(ctx context.Context, accountID string, c accounts.AccountChange) (*ent.Account, error)
}

var _ Service = (*accounts.Service)(nil)

const tagAccount = "Account"

type accountRecord struct {
	ID                  string        `json:"id" doc:"The ID of the account." example:"acc_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name                string        `json:"name" doc:"The name of the account." example:"Acme"`
	Email               string        `json:"email" doc:"The only address that the sandbox sender may send to." example:"ada@example.com"`
	Plan                accountPlan   `json:"plan" doc:"The plan of the account."`
	Limits              accountLimits `json:"limits" doc:"The limits of the plan."`
	Usage               accountUsage  `json:"usage" doc:"Usage of the account against its caps."`
	ProductionUnlocked  bool          `json:"production_unlocked" doc:"Whether the account may send from a verified domain to any recipient. The Free plan requires a payment method on file for this."`
	PaymentMethod       bool          `json:"payment_method" doc:"Whether a payment method is on file."`
	RequireSecondFactor bool          `json:"require_second_factor" doc:"Whether members must have a second factor. Members without one must set one up before they can do anything else."`
	Suspended           bool          `json:"suspended" doc:"Whether the account is suspended. A suspended account cannot send: 403 account_suspended."`
	BodyRetentionDays   int           `json:"body_retention_days" doc:"Number of days after sending when the bodies and attachments of an email are deleted."`
	RecordRetentionDays int           `json:"record_retention_days" doc:"Number of days after sending when the rest of an email is deleted."`
	CreatedAt           wire.Time     `json:"created_at" doc:"When the account was created."`
	UpdatedAt           wire.Time     `json:"updated_at" doc:"When the account was last changed."`
}

type accountPlan struct {
	ID   string `json:"id" doc:"The ID of the plan." example:"free"`
	Name string `json:"name" doc:"The name of the plan." example:"Free"`
}

type accountLimits accounts.Limits

type accountUsage struct {
	Day            int64     `json:"day" doc:"Emails sent today (UTC). If a cap applies, scheduled emails due today also count."`
	Month          int64     `json:"month" doc:"Emails sent this month (UTC). If a cap applies, scheduled emails due this month also count."`
	DailyCap       *int      `json:"daily_cap" doc:"The maximum number of emails per day (UTC). null if unlimited."`
	MonthlyCap     *int      `json:"monthly_cap" doc:"The maximum number of emails per month (UTC). null if unlimited."`
	StoredBytes    *int64    `json:"stored_bytes" doc:"Bytes that the account stores. Deleted data stops counting within a day. null if neither the plan nor the operator limits them."`
	StoredBytesCap *int      `json:"stored_bytes_cap" doc:"Cap on stored bytes, from the plan or set by the operator; null if unlimited."`
	DailyBytes     *int64    `json:"daily_bytes" doc:"Bytes stored today (UTC); null if neither the plan nor the operator limits them."`
	DailyBytesCap  *int      `json:"daily_bytes_cap" doc:"Cap on bytes stored per day, from the plan or set by the operator; null if unlimited."`
	DayResetsAt    wire.Time `json:"day_resets_at" doc:"When the daily count resets to zero."`
	MonthResetsAt  wire.Time `json:"month_resets_at" doc:"When the monthly count resets to zero."`
}

type accountAnswer struct {
	Account accountRecord `json:"account" doc:"The account."`
}

type edge struct{ accounts Service }

// Routes returns the routes of the caller's own account.
func Routes(service Service) api.Routes {
	return api.NewRoutes("account", func(a *api.API) {
		e := &edge{accounts: service}
		g := a.Tag(tagAccount, "The account that the API key belongs to: its plan, usage and settings.")
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/account", ID: "getAccount", Needs: rights.ReadAccount,
			Summary: "Retrieve the account", Description: "Returns the account with its plan and its usage of the " +
				"plan's caps. In test mode, caps, usage and retention are those of test mode.",
			Example: map[string]any{"account": accountExample()},
		}, e.getAccount)
		api.HandleBody(g, api.Operation{
			Method: http.MethodPatch, Path: "/account", ID: "updateAccount", Needs: rights.Settings,
			Summary: "Update the account's settings",
			Description: "Updates the settings that you send. Omitted fields keep their value; `null` is refused. " +
				"An email cannot be kept for a shorter time than its body. A shorter retention also applies to " +
				"stored emails.",
			Body: &api.Body{About: "The settings to change. At least one is required.",
				Examples: map[string]any{"retention": map[string]any{"body_retention_days": 14,
					"record_retention_days": 180}}},
			Example: map[string]any{"account": accountExample()},
		}, changeBody, e.updateAccount)
	})
}

func changeBody(c *accounts.AccountChange) body.Object {
	return body.Object{Name: "UpdateAccount", Change: true, Fields: []body.Field{
		{Name: "name", Type: body.Pointer(&c.Name, nameField), About: "The display name of the account."},
		{Name: "email", Type: body.Pointer(&c.Email, body.Text), About: "The address of a member. The sandbox sender " +
			"may send only to this address."},
		{Name: "require_second_factor", Type: body.Pointer(&c.RequireSecondFactor, body.Boolean), About: "Whether " +
			"every member must have a second factor. Only owners can change this."},
		{Name: "body_retention_days", Type: body.Pointer(&c.BodyRetentionDays, daysField(accounts.MaxBodyRetention)),
			About: "Number of days after sending when bodies and attachments are deleted."},
		{Name: "record_retention_days",
			Type: body.Pointer(&c.RecordRetentionDays, daysField(accounts.MaxRecordRetention)),
			About: "Number of days after sending when the whole email is deleted. Must be at least " +
				"`body_retention_days`."},
	}, Check: func(d *body.Decoder) { d.AddErrors(c.Validate()) }}
}

func nameField(to *string) body.Type { return body.Text(to).Length(1, 200) }

func daysField(most int) func(*int) body.Type {
	return func(to *int) body.Type { return body.Integer(to).AtLeast(1).UpTo(most) }
}

func (e *edge) getAccount(ctx context.Context, c *api.Call, _ *api.None) (answer accountAnswer, err error) {
	found, err := e.accounts.Profile(ctx, c.AccountID)
	if err != nil {
		return answer, err
	}
	return accountAnswer{Account: newAccountRecord(found)}, nil
}

func (e *edge) updateAccount(ctx context.Context, c *api.Call, _ *api.None,
	change accounts.AccountChange) (accountAnswer, error) {
	if change.RequireSecondFactor != nil {
		if err := c.Authorize(rights.Own); err != nil {
			return accountAnswer{}, err
		}
	}
	if _, err := e.accounts.UpdateAccount(ctx, c.AccountID, change); err != nil {
		return accountAnswer{}, err
	}
	return e.getAccount(ctx, c, nil)
}

func newAccountRecord(p accounts.Profile) accountRecord {
	return accountRecord{
		ID: id.HomeAccount(p.ID), Name: p.Name, Email: p.Email, Plan: accountPlan{ID: p.Plan.ID, Name: p.Plan.Name},
		Limits: accountLimits(p.Plan.Limits()),
		Usage:  newAccountUsage(p.Usage), ProductionUnlocked: p.IsUnlocked(true), PaymentMethod: p.PaymentMethod,
		RequireSecondFactor: p.SecondFactor, Suspended: p.Suspended,
		BodyRetentionDays: p.BodyRetentionDays, RecordRetentionDays: p.RecordRetentionDays,
		CreatedAt: wire.Time(p.CreatedAt), UpdatedAt: wire.Time(p.UpdatedAt),
	}
}

func newAccountUsage(u accounts.Usage) accountUsage {
	return accountUsage{Day: u.Day, Month: u.Month, DailyCap: u.DailyCap, MonthlyCap: u.MonthlyCap,
		StoredBytes: u.StoredBytes, StoredBytesCap: u.StoredBytesCap,
		DailyBytes: u.DailyBytes, DailyBytesCap: u.DailyBytesCap, DayResetsAt: wire.Time(u.DayEnds),
		MonthResetsAt: wire.Time(u.MonthEnds)}
}

func accountExample() map[string]any {
	at := func(month time.Month, day, hour int) string {
		return time.Date(2026, month, day, hour, 0, 0, 0, time.UTC).Format(wire.Layout)
	}
	return map[string]any{
		"id": "acc_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "Acme", "email": "ada@example.com", "plan": map[string]any{"id": "free", "name": "Free"},
		"limits": openapi.Example(accounts.ExampleFree.Limits()),
		"usage": map[string]any{"day": 12, "month": 340, "daily_cap": 100, "monthly_cap": 3000,
			"stored_bytes": 4_200_000, "stored_bytes_cap": 1_000_000_000, "daily_bytes": 180_000, "daily_bytes_cap": 100_000_000,
			"day_resets_at": at(1, 16, 0), "month_resets_at": at(2, 1, 0)},
		"production_unlocked": false, "payment_method": false, "require_second_factor": false, "suspended": false,
		"body_retention_days": 30, "record_retention_days": 90,
		"created_at": at(1, 2, 9), "updated_at": at(1, 2, 9),
	}
}
