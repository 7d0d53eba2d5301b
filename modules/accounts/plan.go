package accounts

import "github.com/postrider/postrider/ent"

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
		MonthlyEmails: p.MonthlyEmails, DailySMS: p.DailySms, MaxDomains: p.MaxDomains, Sandboxed: p.Sandboxed,
		Rank: p.Rank, SelfService: p.SelfService, IncludedEmails: p.IncludedEmails, Overage: p.Overage}
}
