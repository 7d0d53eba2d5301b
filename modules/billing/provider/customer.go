package provider

import (
	"context"
	"errors"
	"time"

	"github.com/stripe/stripe-go/v86"
)

// Customer is Stripe's record of an account.
type Customer struct {
	ID      string
	Deleted bool
	Default string // ID of the payment method that is charged; empty if none
	Cards   []Card
}

// Card is a payment method.
type Card struct {
	ID    string
	Brand string // brand of a card, or the type of another payment method
	Last4 string
	Month int // 0 if the card does not expire
	Year  int
}

// IsExpired reports whether the card's expiry month is over.
func (c Card) IsExpired(now time.Time) bool {
	return c.Year != 0 && !now.UTC().Before(time.Date(c.Year, time.Month(c.Month)+1, 1, 0, 0, 0, 0, time.UTC))
}

// CreateCustomer creates the customer of an account, once per key.
func (c *Client) CreateCustomer(ctx context.Context, accountID, email, name, key string) (string, error) {
	made, err := post[stripe.Customer](ctx, c, "/v1/customers",
		&stripe.CustomerCreateParams{Params: idempotentParams(key),
			Email: stripe.String(email), Name: stripe.String(name), Metadata: map[string]string{accountKey: accountID}})
	if err != nil {
		return "", err
	}
	return made.ID, nil
}

// accountKey is the metadata key that contains a customer's account. It is only read if a customer may have
// been created without our receiving the response.
const accountKey = "postrider_account"

// FindCustomer returns the customer created for an account, or an empty string if none exists.
func (c *Client) FindCustomer(ctx context.Context, accountID, email string) (string, error) {
	params := &stripe.CustomerListParams{Email: stripe.String(email)}
	params.Limit = stripe.Int64(100)
	for found, err := range list[stripe.Customer](ctx, c, "/v1/customers", params) {
		if err != nil {
			return "", err
		}
		if found.Metadata[accountKey] == accountID {
			return found.ID, nil
		}
	}
	return "", nil
}

// Customer reads a customer and its payment methods. A deleted customer is not an error.
func (c *Client) Customer(ctx context.Context, id string) (Customer, error) {
	found, err := get[stripe.Customer](ctx, c, "/v1/customers/%s", id)
	if err != nil {
		return Customer{}, err
	}
	out := Customer{ID: id, Deleted: found.Deleted}
	if out.Deleted {
		return out, nil
	}
	if s := found.InvoiceSettings; s != nil && s.DefaultPaymentMethod != nil {
		out.Default = s.DefaultPaymentMethod.ID
	}
	out.Cards, err = collectAll(list[stripe.PaymentMethod](ctx, c,
		stripe.FormatURLPath("/v1/customers/%s/payment_methods", id),
		&stripe.CustomerListPaymentMethodsParams{}), cardOf)
	return out, err
}

func cardOf(m *stripe.PaymentMethod) Card {
	out := Card{ID: m.ID, Brand: string(m.Type)}
	if card := m.Card; card != nil {
		out.Brand, out.Last4, out.Month, out.Year = string(card.Brand), card.Last4, int(card.ExpMonth),
			int(card.ExpYear)
	}
	if debit := m.SEPADebit; debit != nil {
		out.Last4 = debit.Last4
	}
	return out
}

// Payer returns the customer of a charge, or an empty string if it has none.
func (c *Client) Payer(ctx context.Context, charge string) (string, error) {
	found, err := get[stripe.Charge](ctx, c, "/v1/charges/%s", charge)
	if err != nil {
		if KindOf(err) == Missing {
			return "", nil
		}
		return "", err
	}
	if found.Customer == nil {
		return "", nil
	}
	return found.Customer.ID, nil
}

// SetDefault makes a payment method the one that is charged.
func (c *Client) SetDefault(ctx context.Context, customer, method, key string) error {
	_, err := post[stripe.Customer](ctx, c, stripe.FormatURLPath("/v1/customers/%s", customer),
		&stripe.CustomerUpdateParams{Params: idempotentParams(key),
			InvoiceSettings: &stripe.CustomerUpdateInvoiceSettingsParams{DefaultPaymentMethod: stripe.String(method)}})
	return err
}

// SetEmail changes the address that invoices are sent to.
func (c *Client) SetEmail(ctx context.Context, customer, email, key string) error {
	_, err := post[stripe.Customer](ctx, c, stripe.FormatURLPath("/v1/customers/%s", customer),
		&stripe.CustomerUpdateParams{Params: idempotentParams(key), Email: stripe.String(email)})
	return err
}

// Session is a temporary hosted page.
type Session struct {
	ID, URL string
	Expires *time.Time
}

// currencyOfSetup is the currency of pages that charge nothing. Stripe requires a currency to choose payment
// methods.
const currencyOfSetup = "usd"

// CardPage creates a page that collects a payment method.
func (c *Client) CardPage(ctx context.Context, customer, back, key string) (Session, error) {
	return sessionOf(post[stripe.CheckoutSession](ctx, c, "/v1/checkout/sessions",
		&stripe.CheckoutSessionCreateParams{Params: idempotentParams(key), Mode: stripe.String("setup"),
			Customer: stripe.String(customer),
			Currency: stripe.String(currencyOfSetup), SuccessURL: stripe.String(back), CancelURL: stripe.String(back)}))
}

// PlanPage creates a page where a customer buys a plan. Billing periods begin on the first of each month in
// UTC.
func (c *Client) PlanPage(ctx context.Context, customer string, o Prices, back, key string) (Session, error) {
	items := []*stripe.CheckoutSessionCreateLineItemParams{{Price: stripe.String(o.Base), Quantity: stripe.Int64(1)}}
	if o.Metered != "" {
		items = append(items, &stripe.CheckoutSessionCreateLineItemParams{Price: stripe.String(o.Metered)})
	}
	return sessionOf(post[stripe.CheckoutSession](ctx, c, "/v1/checkout/sessions",
		&stripe.CheckoutSessionCreateParams{Params: idempotentParams(key), Mode: stripe.String("subscription"),
			Customer:  stripe.String(customer),
			LineItems: items, SuccessURL: stripe.String(back), CancelURL: stripe.String(back),
			SubscriptionData: &stripe.CheckoutSessionCreateSubscriptionDataParams{
				BillingMode: &stripe.CheckoutSessionCreateSubscriptionDataBillingModeParams{Type: stripe.String("flexible")},
				BillingCycleAnchorConfig: &stripe.CheckoutSessionCreateSubscriptionDataBillingCycleAnchorConfigParams{
					DayOfMonth: stripe.Int64(1), Hour: stripe.Int64(0), Minute: stripe.Int64(0),
					Second: stripe.Int64(0)},
			}}))
}

func sessionOf(made *stripe.CheckoutSession, err error) (Session, error) {
	if err != nil {
		return Session{}, err
	}
	return Session{ID: made.ID, URL: made.URL, Expires: timeOf(made.ExpiresAt)}, nil
}

// EndPage expires an open page. A page that has already ended is not an error.
func (c *Client) EndPage(ctx context.Context, id string) error {
	_, err := post[stripe.CheckoutSession](ctx, c, stripe.FormatURLPath("/v1/checkout/sessions/%s/expire", id),
		&stripe.Params{})
	if kind := KindOf(err); err != nil && (kind == Wrong || kind == Missing) {
		return nil
	}
	return err
}

// PageOpen reports whether a page is neither completed nor expired.
func (c *Client) PageOpen(ctx context.Context, id string) (bool, error) {
	found, err := get[stripe.CheckoutSession](ctx, c, "/v1/checkout/sessions/%s", id)
	if err != nil && KindOf(err) == Missing {
		return false, nil
	}
	return err == nil && found.Status == stripe.CheckoutSessionStatusOpen, err
}

// Portal creates a page with invoices, cards and tax IDs. The page does not allow plan changes.
func (c *Client) Portal(ctx context.Context, customer, back string) (string, error) {
	params := &stripe.BillingPortalSessionCreateParams{Customer: stripe.String(customer),
		ReturnURL: stripe.String(back)}
	for found, err := range list[stripe.BillingPortalConfiguration](ctx, c, "/v1/billing_portal/configurations",
		&stripe.BillingPortalConfigurationListParams{Active: new(true)}) {
		if err != nil {
			return "", err
		}
		if found.Metadata[setupKey] != "" {
			params.Configuration = stripe.String(found.ID)
			break
		}
	}
	if params.Configuration == nil {
		return "", ErrNotSetUp
	}
	made, err := post[stripe.BillingPortalSession](ctx, c, "/v1/billing_portal/sessions", params)
	if err != nil {
		return "", err
	}
	return made.URL, nil
}

// ErrNotSetUp is returned if the operator has not run the setup.
var ErrNotSetUp = errors.New("billing is not set up at the payment provider: run postrider admin billing setup")

// setupKey is the metadata key that marks objects created by the setup.
const setupKey = "postrider"

// Invoice is an invoice of a customer.
type Invoice struct {
	ID, Number, Status, Currency string
	Total                        int64
	PeriodStart, PeriodEnd       *time.Time
	URL, PDF                     string
	Created                      *time.Time
}

// Invoices returns a page of a customer's invoices after a given one, newest first.
func (c *Client) Invoices(ctx context.Context, customer, after string,
	limit int) (out []Invoice, more bool, err error) {
	params := &stripe.InvoiceListParams{Customer: stripe.String(customer)}
	params.Limit = new(int64(limit))
	if after != "" {
		params.StartingAfter = stripe.String(after)
	}
	found, err := listPage[stripe.Invoice](ctx, c, "/v1/invoices", params)
	if err != nil {
		return nil, false, err
	}
	for _, i := range found.Data {
		out = append(out, Invoice{ID: i.ID, Number: i.Number, Status: string(i.Status), Currency: string(i.Currency),
			Total:       i.Total,
			PeriodStart: timeOf(i.PeriodStart), PeriodEnd: timeOf(i.PeriodEnd), URL: i.HostedInvoiceURL,
			PDF: i.InvoicePDF, Created: timeOf(i.Created)})
	}
	return out, found.HasMore, nil
}
