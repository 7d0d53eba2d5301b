package billing

import (
	"context"
	"math"
	"time"

	"github.com/postrider/postrider/modules/billing/provider"
)

// catalogFor is how long prices are believed.
const catalogFor = 10 * time.Minute

// catalog remembers what the provider has for the plans.
type catalog struct {
	stripe *provider.Client

	turn chan struct{} // holds one: who has it may use the rest. Unlike a mutex it is not waited for longer than a caller may
	have provider.Catalog
	at   time.Time
}

func newCatalog(stripe *provider.Client) *catalog {
	return &catalog{stripe: stripe, turn: make(chan struct{}, 1)}
}

// get gives the catalog, at most ten minutes old.
func (c *catalog) get(ctx context.Context) (provider.Catalog, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return provider.Catalog{}, ctx.Err()
	}
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

// pricesLimit is how long a list of plans waits for prices, which it can do without.
const pricesLimit = 2 * time.Second

// Offers lists the plans: those that a customer may choose, and the account's own. While the provider
// does not answer they have no prices.
func (s *Service) Offers(ctx context.Context, accountID string) ([]Offer, error) {
	account, err := s.accounts.Account(ctx, accountID)
	if err != nil {
		return nil, err
	}
	all, err := s.plans.Plans(ctx)
	if err != nil {
		return nil, err
	}
	var prices map[string]provider.Prices
	if s.config.on() {
		asking, cancel := context.WithTimeout(ctx, min(pricesLimit, s.answer))
		defer cancel()
		known, err := s.catalog.get(asking)
		if err != nil {
			s.log.WarnContext(ctx, "plans are shown without prices: the payment provider does not answer", "error", provider.Words(err))
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
				offer.OveragePrice = &Price{Amount: int64(math.Round(found.Overage * OverageUnit)), Currency: found.Currency}
			}
		}
		out = append(out, offer)
	}
	return out, nil
}
