package accounts

import (
	"cmp"

	"github.com/postrider/postrider/ent"
)

// The plans that an installation starts with.
const (
	PlanFree      = "free"
	PlanPro       = "pro"
	PlanScale     = "scale"
	PlanPool      = "pool"
	PlanDedicated = "dedicated"
)

// UpgradeURL is the dashboard page where a plan is changed, relative to the
// dashboard.
const UpgradeURL = "/settings/billing"

// Plan is what an account may do. A nil cap is none.
type Plan struct {
	ID                string
	Name              string
	RequestsPerSecond int
	DailyEmails       *int
	MonthlyEmails     *int
	DailySMS          *int // text messages by the operator's provider
	StoredBytes       *int
	DailyBytes        *int // bytes that are stored in a day
	MaxDomains        int
	Sandboxed         bool // sends only to the account email until production is unlocked
	Rank              int  // up is a change to a greater one
	SelfService       bool // a customer may choose it
	IncludedEmails    *int // a month, in the price; nil: nothing was said
	Overage           bool // emails beyond the included ones are metered
}

// PlanOf is what a row says of a plan.
func PlanOf(p *ent.Plan) Plan {
	return Plan{ID: p.ID, Name: p.Name, RequestsPerSecond: p.RequestsPerSecond, DailyEmails: p.DailyEmails,
		MonthlyEmails: p.MonthlyEmails, DailySMS: p.DailySms, StoredBytes: p.StoredBytes, DailyBytes: p.DailyBytes, MaxDomains: p.MaxDomains, Sandboxed: p.Sandboxed,
		Rank: p.Rank, SelfService: p.SelfService, IncludedEmails: p.IncludedEmails, Overage: p.Overage}
}

// ByteQuota is how many bytes an account may store; nil is unlimited.
type ByteQuota struct{ Stored, Daily *int }

// None reports whether nothing is limited.
func (q ByteQuota) None() bool { return q.Stored == nil && q.Daily == nil }

// ByteQuota returns what the plan allows, or what the operator has set for this account. Accounts
// without caps, and the installation's own, have none.
func (a Account) ByteQuota() ByteQuota {
	if a.Unmetered || a.System {
		return ByteQuota{}
	}
	return ByteQuota{Stored: cmp.Or(a.StoredBytes, a.Plan.StoredBytes), Daily: cmp.Or(a.DailyBytes, a.Plan.DailyBytes)}
}
