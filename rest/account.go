package rest

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/fault"
)

// AccountService is what the account operations need of accounts.
type AccountService interface {
	Profile(ctx context.Context, accountID string) (accounts.Profile, error)
	UpdateAccount(ctx context.Context, accountID string, c accounts.AccountChange) (*ent.Account, error)
}

var _ AccountService = (*accounts.Service)(nil)

const tagAccount = "Account"

type accountRecord struct {
	ID                  string        `json:"id" example:"acc_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name                string        `json:"name" example:"Acme"`
	Email               string        `json:"email" doc:"The only address that the sandbox sender may write to." example:"ada@example.com"`
	Plan                accountPlan   `json:"plan"`
	Limits              accountLimits `json:"limits" doc:"Of the plan."`
	Usage               accountUsage  `json:"usage"`
	ProductionUnlocked  bool          `json:"production_unlocked" doc:"Whether the account may write to others than itself from a verified domain. On the plan Free that needs a payment method on file."`
	PaymentMethod       bool          `json:"payment_method" doc:"Whether a payment method is on file."`
	Suspended           bool          `json:"suspended" doc:"A suspended account cannot send: 403 account_suspended."`
	BodyRetentionDays   int           `json:"body_retention_days" doc:"Bodies and attachments of emails are deleted so many days after sending."`
	RecordRetentionDays int           `json:"record_retention_days" doc:"What is left of an email is deleted so many days after sending."`
	CreatedAt           timestamp     `json:"created_at"`
	UpdatedAt           timestamp     `json:"updated_at"`
}

type accountPlan struct {
	ID   string `json:"id" example:"free"`
	Name string `json:"name" example:"Free"`
}

type accountLimits struct {
	RequestsPerSecond int  `json:"requests_per_second" doc:"Over all keys; twice as many at once."`
	DailyEmails       *int `json:"daily_emails" doc:"null: no cap."`
	MonthlyEmails     *int `json:"monthly_emails" doc:"null: no cap."`
	Domains           int  `json:"domains"`
}

type accountUsage struct {
	Day           *int64    `json:"day" doc:"Emails of the present day (UTC); null when the plan has no cap, because then they are not counted."`
	Month         *int64    `json:"month" doc:"Emails of the present month (UTC); null likewise."`
	DailyCap      *int      `json:"daily_cap"`
	MonthlyCap    *int      `json:"monthly_cap"`
	DayResetsAt   timestamp `json:"day_resets_at"`
	MonthResetsAt timestamp `json:"month_resets_at"`
}

type accountAnswer struct {
	Account accountRecord `json:"account"`
}

type accountEdge struct{ accounts AccountService }

// Account makes the routes of the caller's own account.
func Account(service AccountService) Routes {
	return Routes{name: "account", add: func(a *API) {
		e := &accountEdge{accounts: service}
		a.describeTag(tagAccount, "The account that the API key belongs to: its plan, what it has used of it, and its settings.")
		register(a, operation{
			method: http.MethodGet, path: "/account", id: "getAccount", tag: tagAccount, needs: accounts.Read,
			summary: "Retrieve the account", description: "With its plan, and what it has sent of the plan's caps.",
			example: map[string]any{"account": accountExample()},
		}, e.get)
		register(a, operation{
			method: http.MethodPatch, path: "/account", id: "updateAccount", tag: tagAccount, needs: accounts.Write,
			summary: "Change the account's settings",
			description: "A field that is left out stays as it is; `null` is refused. An email is not kept shorter than its body. A shorter retention applies to what " +
				"is stored already, too.",
			body: &requestBody{description: "The settings to change, at least one.", schema: "UpdateAccount",
				examples: map[string]any{"retention": map[string]any{"body_retention_days": 14, "record_retention_days": 180}}},
			example: map[string]any{"account": accountExample()},
		}, e.update)
		a.describeBody("UpdateAccount", updateAccountSchema())
	}}
}

func updateAccountSchema() *huma.Schema {
	least, longest := 1, 200
	one, body, record := 1.0, float64(accounts.MaxBodyRetention), float64(accounts.MaxRecordRetention)
	s := closed(map[string]*huma.Schema{
		"name":                  {Type: huma.TypeString, MinLength: &least, MaxLength: &longest, Description: "The name that people know the account by."},
		"body_retention_days":   {Type: huma.TypeInteger, Minimum: &one, Maximum: &body, Description: "Bodies and attachments are deleted so many days after sending."},
		"record_retention_days": {Type: huma.TypeInteger, Minimum: &one, Maximum: &record, Description: "The whole email; at least `body_retention_days`."},
	})
	s.MinProperties = &least
	return s
}

func (e *accountEdge) get(ctx context.Context, c *call, _ *none) (*accountAnswer, error) {
	found, err := e.accounts.Profile(ctx, c.AccountID)
	if err != nil {
		return nil, err
	}
	return &accountAnswer{Account: showAccount(found)}, nil
}

func (e *accountEdge) update(ctx context.Context, c *call, _ *none) (*accountAnswer, error) {
	body, err := parseObject(c.body)
	if err != nil {
		return nil, err
	}
	change, err := decodeAccountChange(body)
	if err != nil {
		return nil, err
	}
	if _, err := e.accounts.UpdateAccount(ctx, c.AccountID, change); err != nil {
		return nil, err
	}
	return e.get(ctx, c, nil)
}

func decodeAccountChange(body value) (change accounts.AccountChange, err error) {
	d := newDecoder()
	d.refuseNull = true
	days := func(target **int) func(string, value) {
		return func(path string, v value) {
			if n, ok := d.integer(path, v); ok {
				*target = &n
			}
		}
	}
	d.object("", body, []field{
		{name: "name", decode: func(path string, v value) {
			if name, ok := d.text(path, v); ok {
				change.Name = &name
			}
		}},
		{name: "body_retention_days", decode: days(&change.BodyRetentionDays)},
		{name: "record_retention_days", decode: days(&change.RecordRetentionDays)},
	})
	for path, reason := range change.Validate() {
		d.refuse(path, "%s", reason)
	}
	if err := d.wrong.Err(); err != nil {
		return change, err
	}
	if change.Empty() {
		return change, fault.Invalidf("The body changes nothing: give at least one of name, body_retention_days and record_retention_days")
	}
	return change, nil
}

// integer reads a whole number; the second result is false when it is none. 14.0
// is one, as in JSON Schema.
func (d *decoder) integer(path string, v value) (int, bool) {
	if !d.expect(path, v, kindNumber) {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(v.raw), 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > 1<<31 {
		d.refuse(path, "must be a whole number")
		return 0, false
	}
	return int(n), true
}

func showAccount(p accounts.Profile) accountRecord {
	return accountRecord{
		ID: p.ID, Name: p.Name, Email: p.Email, Plan: accountPlan{ID: p.Plan.ID, Name: p.Plan.Name},
		Limits: accountLimits{RequestsPerSecond: p.Plan.RequestsPerSecond, DailyEmails: p.Plan.DailyEmails, MonthlyEmails: p.Plan.MonthlyEmails,
			Domains: p.Plan.MaxDomains},
		Usage: showUsage(p.Usage), ProductionUnlocked: p.Unlocked(true), PaymentMethod: p.PaymentMethod, Suspended: p.Suspended,
		BodyRetentionDays: p.BodyRetentionDays, RecordRetentionDays: p.RecordRetentionDays, CreatedAt: timestamp(p.CreatedAt), UpdatedAt: timestamp(p.UpdatedAt),
	}
}

func showUsage(u accounts.Usage) accountUsage {
	out := accountUsage{DailyCap: u.DailyCap, MonthlyCap: u.MonthlyCap, DayResetsAt: timestamp(u.DayEnds), MonthResetsAt: timestamp(u.MonthEnds)}
	if u.Counted {
		out.Day, out.Month = &u.Day, &u.Month
	}
	return out
}

func accountExample() map[string]any {
	at := func(month time.Month, day, hour int) string {
		return time.Date(2026, month, day, hour, 0, 0, 0, time.UTC).Format(timestampLayout)
	}
	return map[string]any{
		"id": "acc_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "Acme", "email": "ada@example.com", "plan": map[string]any{"id": "free", "name": "Free"},
		"limits": map[string]any{"requests_per_second": 10, "daily_emails": 100, "monthly_emails": 3000, "domains": 1},
		"usage": map[string]any{"day": 12, "month": 340, "daily_cap": 100, "monthly_cap": 3000,
			"day_resets_at": at(1, 16, 0), "month_resets_at": at(2, 1, 0)},
		"production_unlocked": false, "payment_method": false, "suspended": false, "body_retention_days": 30, "record_retention_days": 90,
		"created_at": at(1, 2, 9), "updated_at": at(1, 2, 9),
	}
}
