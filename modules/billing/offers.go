package billing

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing/provider"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/limit"
)

// catalogFor is how long prices are cached.
const catalogFor = 10 * time.Minute

// catalog caches the provider's prices of the plans.
type catalog struct {
	stripe *provider.Client

	turn *limit.Semaphore // semaphore that guards have and at; unlike a mutex, it can be awaited with a context
	have provider.Catalog
	at   time.Time
}

func newCatalog(stripe *provider.Client) *catalog {
	return &catalog{stripe: stripe, turn: limit.NewSemaphore(1, limit.Unbounded)}
}

// get returns the catalog, at most ten minutes old.
func (c *catalog) get(ctx context.Context) (provider.Catalog, error) {
	if err := c.turn.Acquire(ctx); err != nil {
		return provider.Catalog{}, err
	}
	defer c.turn.Release()
	if !c.at.IsZero() && time.Since(c.at) < catalogFor {
		return c.have, nil
	}
	found, err := c.stripe.Catalog(ctx)
	if err != nil {
		return provider.Catalog{}, err
	}
	c.have, c.at = found, time.Now()
	return found, nil
}

// pricesLimit is how long listing plans waits for prices. Without a response, they are omitted.
const pricesLimit = 2 * time.Second

// offers lists the plans that customers can buy.
type offers struct {
	config   *Config
	accounts *accounts.Service
	plans    *plans.Service
	catalog  *catalog // nil if billing is disabled
	log      *slog.Logger
}

// Offers lists the plans that a customer may choose, and the account's own plan. While the provider does not
// respond, they have no prices.
func (s *offers) Offers(ctx context.Context, accountID string) ([]Offer, error) {
	account, err := s.accounts.Account(ctx, accountID)
	if err != nil {
		return nil, err
	}
	all, err := s.plans.Plans(ctx)
	if err != nil {
		return nil, err
	}
	var prices map[string]provider.Prices
	if s.catalog != nil {
		asking, cancel := context.WithTimeout(ctx, min(pricesLimit, s.config.Answer))
		defer cancel()
		known, err := s.catalog.get(asking)
		if err != nil {
			s.log.WarnContext(ctx, "listing plans without prices: the payment provider does not answer", "error",
				provider.ErrorMessage(err))
		}
		prices = known.Plans
	}
	out := make([]Offer, 0, len(all))
	for _, p := range all {
		current := p.ID == account.Plan.ID
		if !p.SelfService && !current {
			continue
		}
		offer := Offer{Plan: p, Current: current}
		if found, has := prices[p.ID]; has {
			if found.Base != "" {
				offer.Price = &Price{Amount: found.Amount, Currency: found.Currency, Interval: found.Interval}
			}
			if found.Metered != "" {
				offer.OveragePrice = &Price{Amount: int64(math.Round(found.Overage * OverageUnit)),
					Currency: found.Currency}
			}
		}
		out = append(out, offer)
	}
	return out, nil
}

// findOffer returns a plan that a customer may choose. Its error is Invalid, for the field plan.
func (s *offers) findOffer(ctx context.Context, planID string) (accounts.Plan, provider.Prices, error) {
	all, err := s.plans.Plans(ctx)
	if err != nil {
		return accounts.Plan{}, provider.Prices{}, err
	}
	i := slices.IndexFunc(all, func(p accounts.Plan) bool { return p.ID == planID })
	switch {
	case i < 0:
		return accounts.Plan{}, provider.Prices{}, fault.InvalidField("plan", "is not a plan of this installation")
	case !all[i].SelfService:
		return accounts.Plan{}, provider.Prices{},
			fault.InvalidField("plan", "cannot be chosen by customers: ask the operator")
	case planID == accounts.PlanFree:
		return all[i], provider.Prices{}, nil
	}
	known, err := s.catalog.get(ctx)
	if err != nil {
		return accounts.Plan{}, provider.Prices{}, provider.Upstream(err)
	}
	prices := known.Plans[planID]
	if prices.Base == "" || all[i].Overage && prices.Metered == "" {
		return accounts.Plan{}, provider.Prices{},
			fault.InvalidField("plan", "has no price yet: ask the operator to set it up")
	}
	return all[i], prices, nil
}
