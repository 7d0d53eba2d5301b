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

// answerLimit is how long a caller waits for the payment provider, however many questions there are and
// whoever else asks it: what changes money is answered within six seconds.
const answerLimit = 5 * time.Second

const emailSQL = `UPDATE billing_customers SET billing_email = $2, updated_at = now() WHERE id = $1`

// late is the error of something that was not done in the time that a caller waits: wherever it was when the time
// was over, the provider was too slow.
func late(asking context.Context, err error) error {
	switch kind := fault.KindOf(err); {
	case err == nil, kind != fault.Internal && kind != fault.Away, !errors.Is(asking.Err(), context.DeadlineExceeded):
		return err
	}
	return provider.Upstream(err)
}

// Update changes how an account is billed. Its own limit holds whether billing is on or off.
func (s *Service) Update(ctx context.Context, accountID string, c Change) (o Overview, err error) {
	wrong := c.Validate()
	if err := wrong.Err(); err != nil {
		return Overview{}, err
	}
	if c.BillingEmail != nil {
		asking, cancel := context.WithTimeout(ctx, s.config.Answer)
		defer cancel()
		defer func() { err = late(asking, err) }()
		w, err := s.customers.begin(asking, accountID)
		if err != nil {
			return Overview{}, err
		}
		defer s.customers.end(ctx, w)
		email := accounts.CheckEmail(wrong, "billing_email", *c.BillingEmail)
		if err := s.stripe.SetEmail(asking, w.customer, email, w.key("email")); err != nil {
			return Overview{}, provider.Upstream(err)
		}
		if err := s.customers.note(ctx, emailSQL, accountID, email); err != nil {
			return Overview{}, err
		}
	}
	if c.MonthlyLimit != nil {
		if _, err := s.accounts.UpdateAccount(ctx, accountID, accounts.AccountChange{MonthlyLimit: c.MonthlyLimit}); err != nil {
			return Overview{}, err
		}
	}
	return s.Overview(ctx, accountID)
}

// When a change of plan holds.
const (
	Now       = "now"
	PeriodEnd = "period_end"
)

// choice is a change of plan that may be made.
type choice struct {
	to     accounts.Plan
	from   provider.Subscription
	prices provider.Prices
	up     bool
}

// effective tells when it holds.
func (c choice) effective() string {
	if c.up {
		return Now
	}
	return PeriodEnd
}

const countDomainsSQL = `SELECT count(*) FROM domains WHERE account_id = $1`

// choose judges a change of an account's plan. Errors: Invalid; Conflict; Upstream.
func (s *Service) choose(ctx context.Context, accountID, customer, planID string) (c choice, err error) {
	if c.to, c.prices, err = s.wanted(ctx, planID); err != nil {
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
		return c, fault.Conflictf(fault.CodeConflict, "The account has no subscription: buy the plan by POST /billing/checkout")
	case list[i].Status == "past_due":
		return c, fault.Conflictf(fault.CodePaymentDue, "A payment is overdue: pay it, or give another card, before the plan is changed")
	case account.Plan.ID == planID:
		return c, fault.Conflictf(fault.CodeConflict, "The account has the plan %s", account.Plan.Name)
	case slices.ContainsFunc(list[i].Items, func(i provider.Item) bool { return i.Price == c.prices.Base }): // as of a moment ago
		return c, fault.Conflictf(fault.CodeConflict, "The account pays for the plan %s already", c.to.Name)
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
		return c, fault.Conflictf(fault.CodeConflict, "The account has %d domains and the plan %s allows %d: remove some first", domains, c.to.Name, c.to.MaxDomains).
			With("domains", domains).With("limit", c.to.MaxDomains)
	}
	return c, nil
}

// SetPlan changes the plan of an account that pays: up at once, when it is paid; down at the end of the
// period. Errors: Invalid; Conflict; Upstream.
func (s *Service) SetPlan(ctx context.Context, accountID, planID string) (o Overview, effective string, err error) {
	asking, cancel := context.WithTimeout(ctx, s.config.Answer)
	defer cancel()
	defer func() { err = late(asking, err) }()
	if _, err := s.changeable(asking, accountID, planID); err != nil {
		return Overview{}, "", err
	}
	w, err := s.customers.begin(asking, accountID)
	if err != nil {
		return Overview{}, "", err
	}
	c, err := s.choose(asking, accountID, w.customer, planID)
	if err == nil {
		err = provider.Upstream(s.move(asking, w, c))
	}
	s.customers.end(ctx, w)
	if err != nil {
		return Overview{}, "", err
	}
	o, err = s.asked(ctx, asking, accountID)
	return o, c.effective(), err
}

// move orders a change of plan. What was planned before is forgotten first.
func (s *Service) move(ctx context.Context, w *writing, c choice) error {
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

// KeepPlan takes back a change that was to come at the end of the period. Error: Conflict if there is none.
func (s *Service) KeepPlan(ctx context.Context, accountID string) (o Overview, err error) {
	asking, cancel := context.WithTimeout(ctx, s.config.Answer)
	defer cancel()
	defer func() { err = late(asking, err) }()
	if _, err := s.customer(asking, accountID); err != nil {
		return Overview{}, err
	}
	w, err := s.customers.begin(asking, accountID)
	if err != nil {
		return Overview{}, err
	}
	err = s.keep(asking, w)
	s.customers.end(ctx, w)
	if err != nil {
		return Overview{}, err
	}
	return s.asked(ctx, asking, accountID)
}

func (s *Service) keep(ctx context.Context, w *writing) error {
	list, err := s.stripe.Subscriptions(ctx, w.customer)
	if err != nil {
		return provider.Upstream(err)
	}
	for _, b := range list {
		switch {
		case !alive(b.Status):
		case b.Schedule != "":
			return provider.Upstream(s.stripe.Release(ctx, b.Schedule, w.key("release")))
		case b.CancelAt != nil:
			return provider.Upstream(s.stripe.EndAtPeriod(ctx, b.ID, false, w.key("stay")))
		}
	}
	return fault.Conflictf(fault.CodeConflict, "No change of plan is to come")
}

// Quote is what a change of plan would cost.
type Quote struct {
	provider.Preview

	Effective string
	At        *time.Time // of PeriodEnd
}

// Preview tells what a change of plan would cost now, and when it would hold. Errors: as SetPlan.
func (s *Service) Preview(ctx context.Context, accountID, planID string) (q Quote, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Answer)
	defer cancel()
	defer func() { err = late(ctx, err) }()
	customer, err := s.changeable(ctx, accountID, planID)
	if err != nil {
		return Quote{}, err
	}
	c, err := s.choose(ctx, accountID, customer, planID)
	if err != nil {
		return Quote{}, err
	}
	q = Quote{Effective: c.effective(), Preview: provider.Preview{Currency: c.prices.Currency}}
	if !c.up {
		q.At = c.from.PeriodEnd
		return q, nil
	}
	q.Preview, err = s.stripe.PreviewUpgrade(ctx, customer, c.from, c.prices)
	return q, provider.Upstream(err)
}

// changeable gives the customer of an account whose plan may be changed into another. Nothing is made at the
// provider for who asks for a plan that is not to be had, or has bought nothing. Errors: Invalid; Conflict; Upstream.
func (s *Service) changeable(ctx context.Context, accountID, planID string) (customer string, err error) {
	if !s.config.on() {
		return "", disabled()
	}
	if _, _, err := s.wanted(ctx, planID); err != nil {
		return "", err
	}
	return s.customer(ctx, accountID)
}

const customerSQL = `SELECT coalesce((SELECT customer_id FROM billing_customers WHERE id = $1), '')`

// customer gives the customer of an account. Error: Conflict if it has none.
func (s *Service) customer(ctx context.Context, accountID string) (string, error) {
	if !s.config.on() {
		return "", disabled()
	}
	id, err := db.One(ctx, s.db.SQL, db.Value[string], customerSQL, accountID)
	switch {
	case err != nil:
		return "", fmt.Errorf("billing: %w", err)
	case id == "":
		return "", fault.Conflictf(fault.CodeConflict, "The account has bought nothing yet: POST /billing/checkout begins it")
	}
	return id, nil
}
