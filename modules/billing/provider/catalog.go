package provider

import (
	"context"

	"github.com/stripe/stripe-go/v86"
)

// Prices are the prices of one plan.
type Prices struct {
	Plan     string
	Base     string // ID of the monthly price
	Metered  string // ID of the metered price; empty if none
	Amount   int64
	Currency string
	Interval string
	Overage  float64 // in minor units, per email beyond the included volume
	Included int64   // emails in the free first tier
}

// Catalog contains Stripe's prices of the plans, by plan ID.
type Catalog struct {
	Plans map[string]Prices
	ByID  map[string]string // plan of a price
}

// Catalog reads the active prices of the products that represent plans. If there are several, the newest
// applies.
func (c *Client) Catalog(ctx context.Context) (Catalog, error) {
	out := Catalog{Plans: map[string]Prices{}, ByID: map[string]string{}}
	params := &stripe.PriceListParams{Active: new(true), Type: stripe.String("recurring")}
	params.Limit = stripe.Int64(100)
	params.AddExpand("data.product")
	params.AddExpand("data.tiers")
	newest := map[string]int64{}
	for p, err := range list[stripe.Price](ctx, c, "/v1/prices", params) {
		if err != nil {
			return Catalog{}, err
		}
		if p.Product == nil || p.Recurring == nil || p.Product.Metadata[PlanKey] == "" {
			continue
		}
		plan := p.Product.Metadata[PlanKey]
		out.ByID[p.ID] = plan
		metered := p.Recurring.UsageType == "metered"
		kind := plan
		if metered {
			kind += " metered"
		}
		// if created in the same second, the first in the list is the newest
		if before, has := newest[kind]; has && p.Created <= before {
			continue
		}
		newest[kind] = p.Created
		prices := out.Plans[plan]
		prices.Plan = plan
		if metered {
			prices.Metered = p.ID
			prices.Overage, prices.Included = p.UnitAmountDecimal, 0
			for i, tier := range p.Tiers {
				if i == 0 && len(p.Tiers) > 1 {
					prices.Included = tier.UpTo
				}
				prices.Overage = tier.UnitAmountDecimal
			}
		} else {
			prices.Base, prices.Amount, prices.Currency, prices.Interval = p.ID, p.UnitAmount, string(p.Currency),
				string(p.Recurring.Interval)
		}
		out.Plans[plan] = prices
	}
	return out, nil
}

// PlanOf returns the plan of a product, or an empty string if it has none.
func (c *Client) PlanOf(ctx context.Context, product string) (string, error) {
	found, err := get[stripe.Product](ctx, c, "/v1/products/%s", product)
	if err != nil {
		return "", err
	}
	return found.Metadata[PlanKey], nil
}
