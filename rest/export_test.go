package rest

import "time"

// Hurry makes a test's wait for bodies short.
func (a *API) Hurry(budget, small time.Duration) {
	a.bodies.patience.smallBudget, a.bodies.patience.largeBudget, a.bodies.patience.small = budget, budget, small
}
