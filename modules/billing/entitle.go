package billing

import (
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
)

// subscriptionState is a subscription as the provider returned it, with the plan that its prices belong to.
type subscriptionState struct {
	id         string
	plan       string // empty if the price belongs to no known plan
	status     string
	pastDue    time.Time // the time since which the payment is overdue, as first seen; zero if it is not
	created    time.Time
	rank       int
	accessible bool // its plan exists in this installation
}

// entitlement is the result of an account's subscriptions.
type entitlement struct {
	plan       string // empty if the operator decides
	paymentDue bool
	until      time.Time // when to evaluate it again; zero if never
	problems   []string  // for the operator
}

// entitle evaluates subscriptions, in any order. It is a pure function. before is the plan of the last
// evaluation.
func entitle(all []subscriptionState, before string, grace time.Duration, now time.Time) (e entitlement) {
	var best *subscriptionState
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
				e.problems = append(e.problems,
					fmt.Sprintf("The subscription %s has a price that belongs to no known plan: the account keeps "+
						"its plan", s.id))
				if before != "" && before != accounts.PlanFree {
					e.plan = before
				}
				continue
			}
			if best == nil || s.outranks(best) {
				best = s
			}
		case "incomplete": // the first payment is pending: the previous plan applies
		default:
			ended = true
		}
	}
	if live > 1 {
		e.problems = append(e.problems, fmt.Sprintf("The account has %d live subscriptions: the highest plan applies",
			live))
	}
	switch {
	case best != nil:
		e.plan, e.paymentDue = best.plan, best.status == "past_due"
		if e.paymentDue {
			e.until = best.pastDue.Add(grace)
		}
	case e.plan != "": // has an unknown price
	case ended || before != "":
		e.plan = accounts.PlanFree
	}
	return e
}

func (s *subscriptionState) outranks(other *subscriptionState) bool {
	switch {
	case s.rank != other.rank:
		return s.rank > other.rank
	case (s.status == "past_due") != (other.status == "past_due"):
		return s.status != "past_due"
	}
	return s.id > other.id
}

// isAlive reports whether a subscription with this status is still in force.
func isAlive(status string) bool {
	switch status {
	case "active", "trialing", "past_due", "incomplete":
		return true
	}
	return false
}

// bestSubscription returns the subscription to show: the best one in force, else the latest.
func bestSubscription(all []*ent.BillingSubscription) (best *ent.BillingSubscription) {
	for _, b := range all {
		if best == nil || isBetter(b, best) {
			best = b
		}
	}
	return best
}

func isBetter(a, b *ent.BillingSubscription) bool {
	if rankStatus(a.Status) != rankStatus(b.Status) {
		return rankStatus(a.Status) > rankStatus(b.Status)
	}
	return a.ID > b.ID
}

func rankStatus(status string) int {
	switch {
	case status == "active" || status == "trialing":
		return 3
	case status == "past_due":
		return 2
	case isAlive(status):
		return 1
	}
	return 0
}
