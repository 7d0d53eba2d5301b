package billing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/billing/provider"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// answerLimit is how long a caller waits for the payment provider, in total for all its calls. Operations
// that change money respond within six seconds.
const answerLimit = 5 * time.Second

const emailSQL = `UPDATE billing_customers SET billing_email = $2, updated_at = now() WHERE id = $1`

// upstreamOnTimeout returns the error of an operation that did not finish in time. Whichever step was running when the
// deadline passed, the cause is a slow provider.
func upstreamOnTimeout(asking context.Context, err error) error {
	switch kind := fault.KindOf(err); {
	case err == nil, kind != fault.Internal && kind != fault.Unavailable,
		!errors.Is(asking.Err(), context.DeadlineExceeded):
		return err
	}
	return provider.Upstream(err)
}

// Update changes how an account is billed. The account's own monthly limit applies even if billing is
// disabled.
func (s *Service) Update(ctx context.Context, accountID string, c SettingsChange) (o Overview, err error) {
	wrong := c.Validate()
	if err := wrong.Err(); err != nil {
		return Overview{}, err
	}
	if c.BillingEmail != nil {
		asking, cancel := context.WithTimeout(ctx, s.config.Answer)
		defer cancel()
		defer func() { err = upstreamOnTimeout(asking, err) }()
		w, err := s.customers.begin(asking, accountID)
		if err != nil {
			return Overview{}, err
		}
		defer s.customers.end(ctx, w)
		email := accounts.CheckEmail(wrong, "billing_email", *c.BillingEmail)
		if err := s.stripe.SetEmail(asking, w.customer, email, w.key("email")); err != nil {
			return Overview{}, provider.Upstream(err)
		}
		if err := s.customers.storeResult(ctx, emailSQL, accountID, email); err != nil {
			return Overview{}, err
		}
	}
	if c.MonthlyLimit != nil {
		if _, err := s.accounts.UpdateAccount(ctx, accountID,
			accounts.AccountChange{MonthlyLimit: c.MonthlyLimit}); err != nil {
			return Overview{}, err
		}
	}
	return s.Overview(ctx, accountID)
}

// The times at which a change of plan takes effect.
const (
	Now       = "now"
	PeriodEnd = "period_end"
)

// choice is a permitted change of plan.
type choice struct {
	to     accounts.Plan
	from   provider.Subscription
	prices provider.Prices
	up     bool
}

// effectiveAt returns when the change takes effect.
func (c choice) effectiveAt() string {
	if c.up {
		return Now
	}
	return PeriodEnd
}

const countDomainsSQL = `SELECT count(*) FROM domains WHERE account_id = $1`

// checkPlanChange returns an error unless the account may change to a plan. Errors: Invalid, Conflict,
// Upstream.
func (s *Service) checkPlanChange(ctx context.Context, accountID, customer, planID string) (c choice, err error) {
	if c.to, c.prices, err = s.findOffer(ctx, planID); err != nil {
		return c, err
	}
	account, err := s.accounts.Profile(ctx, accountID)
	if err != nil {
		return c, err
	}
	list, err := s.stripe.Subscriptions(ctx, customer)
	if err != nil {
		return c, provider.Upstream(err)
	}
	i := slices.IndexFunc(list, func(b provider.Subscription) bool {
		return b.Status == "active" || b.Status == "trialing" || b.Status == "past_due"
	})
	switch {
	case i < 0:
		return c, fault.Conflictf(fault.CodeConflict,
			"The account has no subscription: buy the plan with POST /billing/checkout")
	case list[i].Status == "past_due":
		return c, fault.Conflictf(fault.CodePaymentDue,
			"A payment is overdue: pay it or add another card before you change the plan")
	case account.Plan.ID == planID:
		return c, fault.Conflictf(fault.CodeConflict, "The account already has the plan %s", account.Plan.Name)
	// as of a moment ago
	case slices.ContainsFunc(list[i].Items, func(i provider.SubscriptionItem) bool { return i.Price == c.prices.Base }):
		return c, fault.Conflictf(fault.CodeConflict, "The account already pays for the plan %s", c.to.Name)
	}
	c.from, c.up = list[i], c.to.Rank > account.Plan.Rank
	if c.up {
		return c, nil
	}
	domains, err := db.One(ctx, s.db.SQL, db.Value[int], countDomainsSQL, accountID)
	if err != nil {
		return c, fmt.Errorf("billing: %w", err)
	}
	if domains > c.to.MaxDomains {
		return c, fault.Conflictf(fault.CodeConflict,
			"The account has %d domains and the plan %s allows %d: remove some first", domains, c.to.Name,
			c.to.MaxDomains).
			With("domains", domains).With("limit", c.to.MaxDomains)
	}
	return c, nil
}

// SetPlan changes the plan of a paying account. An upgrade takes effect as soon as it is paid, a downgrade at
// the end of the period. Errors: Invalid, Conflict, Upstream.
func (s *Service) SetPlan(ctx context.Context, accountID, planID string) (o Overview, effective string, err error) {
	asking, cancel := context.WithTimeout(ctx, s.config.Answer)
	defer cancel()
	defer func() { err = upstreamOnTimeout(asking, err) }()
	if _, err := s.checkCustomer(asking, accountID, planID); err != nil {
		return Overview{}, "", err
	}
	w, err := s.customers.begin(asking, accountID)
	if err != nil {
		return Overview{}, "", err
	}
	c, err := s.checkPlanChange(asking, accountID, w.customer, planID)
	if err == nil {
		err = provider.Upstream(s.orderPlanChange(asking, w, c))
	}
	s.customers.end(ctx, w)
	if err != nil {
		return Overview{}, "", err
	}
	o, err = s.syncAndRead(ctx, asking, accountID)
	return o, c.effectiveAt(), err
}

// orderPlanChange orders a change of plan. It first discards any planned change.
func (s *Service) orderPlanChange(ctx context.Context, w *pendingChange, c choice) error {
	if c.from.Schedule != "" && (c.up || c.to.ID == accounts.PlanFree) {
		if err := s.stripe.Release(ctx, c.from.Schedule, w.key("release")); err != nil {
			return err
		}
		c.from.Schedule = ""
	}
	if c.to.ID == accounts.PlanFree {
		return s.stripe.EndAtPeriod(ctx, c.from.ID, true, w.key("end"))
	}
	if c.from.CancelAt != nil {
		if err := s.stripe.EndAtPeriod(ctx, c.from.ID, false, w.key("stay")); err != nil {
			return err
		}
	}
	if c.up {
		return s.stripe.Upgrade(ctx, c.from, c.prices, w.key("plan"))
	}
	return s.stripe.Downgrade(ctx, c.from, c.prices, w.key("plan"))
}

// KeepPlan cancels the change planned for the end of the period. It returns Conflict if no change is planned.
func (s *Service) KeepPlan(ctx context.Context, accountID string) (o Overview, err error) {
	asking, cancel := context.WithTimeout(ctx, s.config.Answer)
	defer cancel()
	defer func() { err = upstreamOnTimeout(asking, err) }()
	if _, err := s.lookupCustomer(asking, accountID); err != nil {
		return Overview{}, err
	}
	w, err := s.customers.begin(asking, accountID)
	if err != nil {
		return Overview{}, err
	}
	err = s.cancelPlanChange(asking, w)
	s.customers.end(ctx, w)
	if err != nil {
		return Overview{}, err
	}
	return s.syncAndRead(ctx, asking, accountID)
}

func (s *Service) cancelPlanChange(ctx context.Context, w *pendingChange) error {
	list, err := s.stripe.Subscriptions(ctx, w.customer)
	if err != nil {
		return provider.Upstream(err)
	}
	for _, b := range list {
		switch {
		case !isAlive(b.Status):
		case b.Schedule != "":
			return provider.Upstream(s.stripe.Release(ctx, b.Schedule, w.key("release")))
		case b.CancelAt != nil:
			return provider.Upstream(s.stripe.EndAtPeriod(ctx, b.ID, false, w.key("stay")))
		}
	}
	return fault.Conflictf(fault.CodeConflict, "No change of plan is pending")
}

// Quote is the cost of a change of plan.
type Quote struct {
	provider.ChangeCost

	Effective string
	At        *time.Time // if At is PeriodEnd
}

// Preview returns what a change of plan would cost now and when it would take effect. Errors: those of
// SetPlan.
func (s *Service) Preview(ctx context.Context, accountID, planID string) (q Quote, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Answer)
	defer cancel()
	defer func() { err = upstreamOnTimeout(ctx, err) }()
	customer, err := s.checkCustomer(ctx, accountID, planID)
	if err != nil {
		return Quote{}, err
	}
	c, err := s.checkPlanChange(ctx, accountID, customer, planID)
	if err != nil {
		return Quote{}, err
	}
	q = Quote{Effective: c.effectiveAt(), ChangeCost: provider.ChangeCost{Currency: c.prices.Currency}}
	if !c.up {
		q.At = c.from.PeriodEnd
		return q, nil
	}
	q.ChangeCost, err = s.stripe.PreviewUpgrade(ctx, customer, c.from, c.prices)
	return q, provider.Upstream(err)
}

// checkCustomer returns the customer of an account that may change to a plan. It creates nothing at the provider
// if the plan is not for sale or the account has bought nothing. Errors: Invalid, Conflict, Upstream.
func (s *Service) checkCustomer(ctx context.Context, accountID, planID string) (customer string, err error) {
	if !s.config.isEnabled() {
		return "", errDisabled()
	}
	if _, _, err := s.findOffer(ctx, planID); err != nil {
		return "", err
	}
	return s.lookupCustomer(ctx, accountID)
}

const customerSQL = `SELECT coalesce((SELECT customer_id FROM billing_customers WHERE id = $1), '')`

// lookupCustomer returns the customer ID of an account. It returns Conflict if the account has none.
func (s *Service) lookupCustomer(ctx context.Context, accountID string) (string, error) {
	if !s.config.isEnabled() {
		return "", errDisabled()
	}
	id, err := db.One(ctx, s.db.SQL, db.Value[string], customerSQL, accountID)
	switch {
	case err != nil:
		return "", fmt.Errorf("billing: %w", err)
	case id == "":
		return "", fault.Conflictf(fault.CodeConflict,
			"The account has no subscription yet: start one with POST /billing/checkout")
	}
	return id, nil
}
