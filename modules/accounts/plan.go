package accounts

import (
	"cmp"

	"github.com/postrider/postrider/ent"
)

// The plans of a new installation.
const (
	PlanFree      = "free"
	PlanPro       = "pro"
	PlanScale     = "scale"
	PlanPool      = "pool"
	PlanDedicated = "dedicated"
)

// UpgradeURL is the dashboard page on which a plan is changed, relative to the dashboard.
const UpgradeURL = "/settings/billing"

// Plan is the limits and terms of a plan, as REST and the command line print it for the operator, GraphQL
// serves it and the audit log compares it. A nil cap means unlimited.
type Plan struct {
	ID                string `json:"id" doc:"The ID of the plan." example:"pro"`
	Name              string `json:"name" doc:"The name of the plan." example:"Pro"`
	Rank              int    `json:"rank" doc:"A change to a plan of a higher rank takes effect immediately, any other change at the end of the billing period." example:"1"`
	SelfService       bool   `json:"self_service" doc:"Whether customers can choose this plan themselves."`
	RequestsPerSecond int    `json:"requests_per_second" doc:"Requests per second across all API keys, with bursts of up to twice as many." example:"50"`
	DailyEmails       *int   `json:"daily_emails" doc:"Emails per day; null if unlimited."`
	MonthlyEmails     *int   `json:"monthly_emails" doc:"Emails per month; null if unlimited."`
	DailySMS          *int   `json:"daily_sms" doc:"Text messages per day through the provider of the installation; null if unlimited."`
	StoredBytes       *int   `json:"stored_bytes" doc:"Hard cap on stored bytes; null if unlimited."`
	DailyBytes        *int   `json:"daily_bytes" doc:"Hard cap on bytes stored per day (UTC); null if unlimited."`
	IncludedEmails    *int   `json:"included_emails" doc:"Emails per month included in the price; null if not stated."`
	Overage           bool   `json:"overage" doc:"Whether emails beyond the included volume are sent and metered."`
	MaxDomains        int    `json:"max_domains" doc:"The maximum number of domains." example:"10"`
	Sandboxed         bool   `json:"sandboxed" doc:"Whether accounts on this plan can send only to their own address until they have a verified domain and a payment method."`
}

// Limits is the part of a plan that its accounts see.
type Limits struct {
	RequestsPerSecond int  `json:"requests_per_second" doc:"Requests per second across all API keys, with bursts of up to twice as many."`
	DailyEmails       *int `json:"daily_emails" doc:"Emails per day; null if unlimited."`
	MonthlyEmails     *int `json:"monthly_emails" doc:"Emails per month; null if unlimited."`
	StoredBytes       *int `json:"stored_bytes" doc:"Hard cap on stored bytes; null if unlimited."`
	DailyBytes        *int `json:"daily_bytes" doc:"Hard cap on bytes stored per day (UTC); null if unlimited."`
	Domains           int  `json:"domains" doc:"The maximum number of domains."`
}

// Limits returns the part of the plan that its accounts see.
func (p Plan) Limits() Limits {
	return Limits{RequestsPerSecond: p.RequestsPerSecond, DailyEmails: p.DailyEmails, MonthlyEmails: p.MonthlyEmails,
		StoredBytes: p.StoredBytes, DailyBytes: p.DailyBytes, Domains: p.MaxDomains}
}

// OfferedLimits is the part of a plan that customers see before they choose it.
type OfferedLimits struct {
	RequestsPerSecond int  `json:"requests_per_second" doc:"Requests per second across all API keys, with bursts of up to twice as many." example:"50"`
	DailyEmails       *int `json:"daily_emails" doc:"Emails per day; null if unlimited."`
	MonthlyEmails     *int `json:"monthly_emails" doc:"Emails per month; null if unlimited."`
	Domains           int  `json:"domains" doc:"The maximum number of domains." example:"10"`
}

// OfferedLimits returns the part of the plan that customers see before they choose it.
func (p Plan) OfferedLimits() OfferedLimits {
	return OfferedLimits{RequestsPerSecond: p.RequestsPerSecond, DailyEmails: p.DailyEmails,
		MonthlyEmails: p.MonthlyEmails, Domains: p.MaxDomains}
}

// AllowsDomains reports whether an account on the plan may have that many sending domains.
func (p Plan) AllowsDomains(count int) bool { return count <= p.MaxDomains }

// The plans in the examples of the API description.
var (
	ExampleFree = Plan{ID: PlanFree, Name: "Free", RequestsPerSecond: 10, DailyEmails: new(100),
		MonthlyEmails: new(3000),
		StoredBytes:   new(1_000_000_000), DailyBytes: new(100_000_000), MaxDomains: 1, Sandboxed: true}
	ExamplePro = Plan{ID: PlanPro, Name: "Pro", Rank: 1, SelfService: true, RequestsPerSecond: 50,
		StoredBytes: new(50_000_000_000), DailyBytes: new(5_000_000_000), IncludedEmails: new(50_000), Overage: true,
		MaxDomains: 10}
	ExamplePool = Plan{ID: PlanPool, Name: "Pool", RequestsPerSecond: 500, IncludedEmails: new(100_000), Overage: true,
		MaxDomains: 1000}
)

// PlanOf converts a row to a plan.
func PlanOf(p *ent.Plan) Plan {
	return Plan{ID: p.ID, Name: p.Name, RequestsPerSecond: p.RequestsPerSecond, DailyEmails: p.DailyEmails,
		MonthlyEmails: p.MonthlyEmails, DailySMS: p.DailySms, StoredBytes: p.StoredBytes, DailyBytes: p.DailyBytes,
		MaxDomains: p.MaxDomains, Sandboxed: p.Sandboxed,
		Rank: p.Rank, SelfService: p.SelfService, IncludedEmails: p.IncludedEmails, Overage: p.Overage}
}

// The limits of test mode, which are the same on every plan.
const (
	testPlanName    = "Test mode"
	testDailyEmails = 10_000
	testStoredBytes = 1_000_000_000
	testDailyBytes  = 250_000_000
)

// withTestLimits returns the plan with the limits of test mode.
func (p Plan) withTestLimits() Plan {
	p.Name = testPlanName
	p.DailyEmails, p.MonthlyEmails = new(testDailyEmails), nil
	p.StoredBytes, p.DailyBytes = new(testStoredBytes), new(testDailyBytes)
	p.IncludedEmails, p.Overage = nil, false
	return p
}

// ByteQuota limits the bytes that an account stores; nil means unlimited.
type ByteQuota struct{ Stored, Daily *int }

// IsUnlimited reports whether nothing is limited.
func (q ByteQuota) IsUnlimited() bool { return q.Stored == nil && q.Daily == nil }

// ByteQuota returns the quota of the plan, or the one that the operator has set for this account. It is empty
// for unmetered accounts and the installation's own account.
func (a Account) ByteQuota() ByteQuota {
	if a.Unmetered || a.System {
		return ByteQuota{}
	}
	return ByteQuota{Stored: cmp.Or(a.StoredBytes, a.Plan.StoredBytes), Daily: cmp.Or(a.DailyBytes, a.Plan.DailyBytes)}
}
