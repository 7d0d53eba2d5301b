package shown

import (
	"time"

	"github.com/postrider/postrider/modules/billing/desk"
	"github.com/postrider/postrider/modules/billing/metering"
)

// Setup contains the objects that postrider admin billing setup created.
type Setup struct {
	Made   []string `json:"made"`
	Secret string   `json:"webhook_secret,omitempty"` // shown once
}

// SetupOf returns the JSON of a setup.
func SetupOf(d desk.SetupResult) Setup { return Setup{append([]string{}, d.Made...), d.Secret} }

// Finding is an object that is missing or differs at the payment provider.
type Finding struct {
	About string `json:"about"`
	What  string `json:"what"`
	Do    string `json:"do"`
}

// FindingsOf returns the JSON of findings.
func FindingsOf(list []desk.Finding) map[string][]Finding {
	out := make([]Finding, len(list))
	for i, f := range list {
		out[i] = Finding(f)
	}
	return map[string][]Finding{"findings": out}
}

// Billing is the state of billing: waiting, failed and overdue work.
type Billing struct {
	Customers         int64        `json:"customers"`
	Due               int64        `json:"due"`
	Failing           int64        `json:"failing"`
	PastDue           int64        `json:"past_due"`
	LastEventAt       *time.Time   `json:"last_event_at"`
	UnreportedHours   int64        `json:"unreported_hours"`
	OldestUnreportedS int64        `json:"oldest_unreported_seconds"`
	Stuck             []StuckHour  `json:"stuck"`
	Problems          []AccountHas `json:"problems"`
}

// StuckHour is an hour of usage that the payment provider does not accept.
type StuckHour struct {
	AccountID string    `json:"account_id"`
	Hour      time.Time `json:"hour"`
	Emails    int64     `json:"emails"`
	Reason    string    `json:"reason"`
}

// AccountHas is a problem of an account.
type AccountHas struct {
	AccountID string `json:"account_id"`
	What      string `json:"what"`
}

// BillingOf returns the JSON of the state of billing.
func BillingOf(s metering.BillingState) map[string]Billing {
	out := Billing{Customers: s.Customers, Due: s.Due, Failing: s.Failing, PastDue: s.PastDue, LastEventAt: s.LastEvent,
		UnreportedHours:   s.Backlog.Hours,
		OldestUnreportedS: int64(s.Backlog.Oldest.Seconds()), Stuck: []StuckHour{}, Problems: []AccountHas{}}
	for _, h := range s.Backlog.Stuck {
		out.Stuck = append(out.Stuck, StuckHour{h.AccountID, h.Hour.UTC(), h.Emails, h.Reason})
	}
	for _, p := range s.Problems {
		out.Problems = append(out.Problems, AccountHas(p))
	}
	return map[string]Billing{"billing": out}
}
