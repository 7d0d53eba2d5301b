package provider

import (
	"context"

	"github.com/stripe/stripe-go/v86"
)

// EnsureMeter creates the email meter if it is missing. The latest report of an hour counts.
func (c *Client) EnsureMeter(ctx context.Context) (id string, made bool, err error) {
	if id, err = c.Meter(ctx); err != nil || id != "" {
		return id, false, err
	}
	m, err := post[stripe.BillingMeter](ctx, c, "/v1/billing/meters",
		&stripe.BillingMeterCreateParams{DisplayName: stripe.String("Emails"), EventName: stripe.String(MeterEvent),
			EventTimeWindow:    stripe.String("hour"),
			DefaultAggregation: &stripe.BillingMeterCreateDefaultAggregationParams{Formula: stripe.String("sum")}})
	if err != nil {
		return "", false, err
	}
	return m.ID, true, nil
}

// RequiredPrice is the price that a plan must have. Amounts are in minor units of the currency.
type RequiredPrice struct {
	Plan     string
	Name     string
	Currency string
	Amount   int64
	Overage  float64 // per email beyond Included; used with Metered
	Included int64
	Metered  bool
}

// MatchesPrices reports whether the prices match.
func (w RequiredPrice) MatchesPrices(p Prices) bool {
	return w.fitsBase(p) && w.fitsMetered(p)
}

func (w RequiredPrice) fitsBase(p Prices) bool {
	return p.Base != "" && p.Amount == w.Amount && p.Currency == w.Currency && p.Interval == "month"
}

func (w RequiredPrice) fitsMetered(p Prices) bool {
	return !w.Metered || p.Metered != "" && p.Overage == w.Overage && p.Included == w.Included
}

// EnsurePlan creates the product of a plan and its prices if they are missing or differ. It never changes a
// price but replaces it with a new one. Customers keep the old price until their plan changes.
func (c *Client) EnsurePlan(ctx context.Context, w RequiredPrice, have Prices, meter string) (made []string, err error) {
	product := ""
	for p, err := range list[stripe.Product](ctx, c, "/v1/products", &stripe.ProductListParams{Active: new(true)}) {
		if err != nil {
			return nil, err
		}
		if p.Metadata[PlanKey] == w.Plan {
			product = p.ID
			break
		}
	}
	if product == "" {
		p, err := post[stripe.Product](ctx, c, "/v1/products",
			&stripe.ProductCreateParams{Name: stripe.String(w.Name), Metadata: map[string]string{PlanKey: w.Plan}})
		if err != nil {
			return nil, err
		}
		product, made = p.ID, append(made, "product "+p.ID)
	}
	if !w.fitsBase(have) {
		p, err := post[stripe.Price](ctx, c, "/v1/prices", &stripe.PriceCreateParams{Product: stripe.String(product),
			Currency: stripe.String(w.Currency), UnitAmount: new(w.Amount),
			Recurring: &stripe.PriceCreateRecurringParams{Interval: stripe.String("month")}})
		if err != nil {
			return made, err
		}
		made = append(made, "price "+p.ID)
	}
	if w.fitsMetered(have) {
		return made, nil
	}
	params := &stripe.PriceCreateParams{Product: stripe.String(product), Currency: stripe.String(w.Currency),
		Recurring: &stripe.PriceCreateRecurringParams{Interval: stripe.String("month"),
			UsageType: stripe.String("metered"), Meter: stripe.String(meter)},
		BillingScheme: stripe.String("tiered"), TiersMode: stripe.String("graduated")}
	if w.Included > 0 {
		params.Tiers = append(params.Tiers,
			&stripe.PriceCreateTierParams{UpTo: new(w.Included), UnitAmountDecimal: stripe.Float64(0)})
	}
	params.Tiers = append(params.Tiers,
		&stripe.PriceCreateTierParams{UpToInf: new(true), UnitAmountDecimal: new(w.Overage)})
	p, err := post[stripe.Price](ctx, c, "/v1/prices", params)
	if err != nil {
		return made, err
	}
	return append(made, "metered price "+p.ID), nil
}

// EnsurePortal creates the portal configuration if it is missing.
func (c *Client) EnsurePortal(ctx context.Context) (made bool, err error) {
	for p, err := range list[stripe.BillingPortalConfiguration](ctx, c, "/v1/billing_portal/configurations",
		&stripe.BillingPortalConfigurationListParams{Active: new(true)}) {
		if err != nil {
			return false, err
		}
		if p.Metadata[setupKey] != "" {
			return false, nil
		}
	}
	_, err = post[stripe.BillingPortalConfiguration](ctx, c, "/v1/billing_portal/configurations",
		&stripe.BillingPortalConfigurationCreateParams{Metadata: map[string]string{setupKey: "1"},
			Features: &stripe.BillingPortalConfigurationCreateFeaturesParams{
				CustomerUpdate:      &stripe.BillingPortalConfigurationCreateFeaturesCustomerUpdateParams{Enabled: new(true), AllowedUpdates: stripe.StringSlice([]string{"address", "name", "tax_id"})},
				InvoiceHistory:      &stripe.BillingPortalConfigurationCreateFeaturesInvoiceHistoryParams{Enabled: new(true)},
				PaymentMethodUpdate: &stripe.BillingPortalConfigurationCreateFeaturesPaymentMethodUpdateParams{Enabled: new(true)},
			}})
	return err == nil, err
}

// endpointEvents lists the events that are posted to the endpoint.
var endpointEvents = []string{
	"checkout.session.completed", "checkout.session.async_payment_succeeded", "checkout.session.async_payment_failed",
	"checkout.session.expired",
	"customer.subscription.created", "customer.subscription.updated", "customer.subscription.deleted",
	"customer.subscription.paused", "customer.subscription.resumed",
	"customer.subscription.pending_update_applied", "customer.subscription.pending_update_expired",
	"invoice.created", "invoice.paid", "invoice.payment_failed", "invoice.payment_action_required", "invoice.finalized",
	"invoice.finalization_failed", "invoice.voided", "invoice.marked_uncollectible",
	"payment_method.attached", "payment_method.updated", "payment_method.automatically_updated",
	"payment_method.detached",
	"customer.updated", "customer.deleted", "charge.dispute.created", "charge.dispute.closed",
}

// Endpoint reports whether Stripe posts its events to a URL.
func (c *Client) Endpoint(ctx context.Context, url string) (bool, error) {
	for e, err := range list[stripe.WebhookEndpoint](ctx, c, "/v1/webhook_endpoints",
		&stripe.WebhookEndpointListParams{}) {
		if err != nil {
			return false, err
		}
		if e.URL == url && e.Status == "enabled" {
			return true, nil
		}
	}
	return false, nil
}

// EnsureEndpoint makes Stripe post its events to a URL. Stripe returns the secret only when the endpoint is
// created, so the secret is empty if the endpoint already existed.
func (c *Client) EnsureEndpoint(ctx context.Context, url string) (secret string, err error) {
	if there, err := c.Endpoint(ctx, url); err != nil || there {
		return "", err
	}
	made, err := post[stripe.WebhookEndpoint](ctx, c, "/v1/webhook_endpoints",
		&stripe.WebhookEndpointCreateParams{URL: stripe.String(url),
			APIVersion:    stripe.String(stripe.APIVersion),
			EnabledEvents: stripe.StringSlice(endpointEvents), Description: stripe.String("Postrider")})
	if err != nil {
		return "", err
	}
	return made.Secret, nil
}
