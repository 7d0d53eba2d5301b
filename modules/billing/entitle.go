package billing

import (
	"github.com/postrider/postrider/ent"
)

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
