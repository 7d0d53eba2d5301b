package billing

import (
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
)

// seen is a subscription as the provider showed it, with the plan that its prices are of.
type seen struct {
	id         string
	plan       string // empty: its price is of no plan that is known here
	status     string
	pastDue    time.Time // since when it is, as first seen; zero: it is not
	created    time.Time
	rank       int
	accessible bool // its plan is one of this installation
}

// entitlement is what follows of all that the provider showed.
type entitlement struct {
	plan       string // empty: nothing; the operator decides
	paymentDue bool
	until      time.Time // when it has to be judged again; zero: never by itself
	problems   []string  // for the operator
}

// entitle is pure: it judges subscriptions, whose order says nothing. before is what they came to last.
func entitle(all []seen, before string, grace time.Duration, now time.Time) (e entitlement) {
	var best *seen
	live, ended := 0, false
	for i := range all {
		s := &all[i]
		switch s.status {
		case "active", "trialing", "past_due":
			live++
			if s.status == "past_due" && !now.Before(s.pastDue.Add(grace)) {
				ended = true
				continue
			}
			if !s.accessible {
				e.problems = append(e.problems, fmt.Sprintf("The subscription %s has a price of no plan that is known here: the account keeps its plan", s.id))
				if before != "" && before != accounts.PlanFree {
					e.plan = before
				}
				continue
			}
			if best == nil || s.above(best) {
				best = s
			}
		case "incomplete": // the first payment is open: what was before, holds
		default:
			ended = true
		}
	}
	if live > 1 {
		e.problems = append(e.problems, fmt.Sprintf("The account has %d live subscriptions: the highest plan counts", live))
	}
	switch {
	case best != nil:
		e.plan, e.paymentDue = best.plan, best.status == "past_due"
		if e.paymentDue {
			e.until = best.pastDue.Add(grace)
		}
	case e.plan != "": // of an unknown price
	case ended || before != "":
		e.plan = accounts.PlanFree
	}
	return e
}

func (s *seen) above(other *seen) bool {
	switch {
	case s.rank != other.rank:
		return s.rank > other.rank
	case (s.status == "past_due") != (other.status == "past_due"):
		return s.status != "past_due"
	}
	return s.id > other.id
}

// alive tells whether a subscription of a status still stands.
func alive(status string) bool {
	switch status {
	case "active", "trialing", "past_due", "incomplete":
		return true
	}
	return false
}

// chosen gives the subscription that people are shown: the best that is alive, else the latest.
func chosen(all []*ent.BillingSubscription) (best *ent.BillingSubscription) {
	for _, b := range all {
		if best == nil || better(b, best) {
			best = b
		}
	}
	return best
}

func better(a, b *ent.BillingSubscription) bool {
	if grade(a.Status) != grade(b.Status) {
		return grade(a.Status) > grade(b.Status)
	}
	return a.ID > b.ID
}

func grade(status string) int {
	switch {
	case status == "active" || status == "trialing":
		return 3
	case status == "past_due":
		return 2
	case alive(status):
		return 1
	}
	return 0
}
