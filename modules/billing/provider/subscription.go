package provider

import (
	"context"
	"time"

	"github.com/stripe/stripe-go/v86"
)

// Subscription is a subscription of a customer.
type Subscription struct {
	ID          string
	Status      string
	Items       []SubscriptionItem
	PeriodStart *time.Time
	PeriodEnd   *time.Time
	CancelAt    *time.Time // the customer canceled it for the end of the period
	Ended       *time.Time
	Schedule    string // ID; empty if no change is planned
	Default     string // its own payment method
	Created     time.Time
}

// SubscriptionItem is one price of a subscription.
type SubscriptionItem struct {
	ID, Price, Product string
	Metered            bool
	Created            time.Time
}

// Subscriptions reads every subscription of a customer, including ended ones.
func (c *Client) Subscriptions(ctx context.Context, customer string) ([]Subscription, error) {
	params := &stripe.SubscriptionListParams{Customer: stripe.String(customer), Status: stripe.String("all")}
	params.Limit = stripe.Int64(100)
	return collectAll(list[stripe.Subscription](ctx, c, "/v1/subscriptions", params), subscriptionOf)
}

func subscriptionOf(s *stripe.Subscription) Subscription {
	out := Subscription{ID: s.ID, Status: string(s.Status), CancelAt: timeOf(s.CancelAt), Ended: timeOf(s.EndedAt),
		Created: time.Unix(s.Created, 0).UTC()}
	if s.Schedule != nil {
		out.Schedule = s.Schedule.ID
	}
	if s.DefaultPaymentMethod != nil {
		out.Default = s.DefaultPaymentMethod.ID
	}
	if s.Items == nil {
		return out
	}
	for _, i := range s.Items.Data {
		item := SubscriptionItem{ID: i.ID, Created: time.Unix(i.Created, 0).UTC()}
		if p := i.Price; p != nil {
			item.Price = p.ID
			if p.Product != nil {
				item.Product = p.Product.ID
			}
			item.Metered = p.Recurring != nil && p.Recurring.UsageType == "metered"
		}
		out.Items = append(out.Items, item)
		if !item.Metered || out.PeriodEnd == nil {
			out.PeriodStart, out.PeriodEnd = timeOf(i.CurrentPeriodStart), timeOf(i.CurrentPeriodEnd)
		}
	}
	if s.CancelAtPeriodEnd && out.CancelAt == nil {
		out.CancelAt = out.PeriodEnd
	}
	return out
}

// itemChanges returns the item changes that move a subscription to other prices: it keeps common items, deletes
// extra ones and adds missing ones.
func (s Subscription) itemChanges(to Prices) (items []Order) {
	base, metered := "", ""
	for _, i := range s.Items {
		switch {
		case !i.Metered && base == "":
			base = i.ID
			if i.Price != to.Base {
				items = append(items, Order{Item: i.ID, Price: to.Base})
			}
		case i.Metered && i.Price == to.Metered && metered == "":
			metered = i.ID
		default:
			items = append(items, Order{Item: i.ID, Gone: true, Metered: i.Metered})
		}
	}
	if base == "" {
		items = append(items, Order{Price: to.Base})
	}
	if metered == "" && to.Metered != "" {
		items = append(items, Order{Price: to.Metered, Metered: true})
	}
	return items
}

// MatchesPrices reports whether a subscription has exactly the prices of a plan.
func (s Subscription) MatchesPrices(p Prices) bool { return len(s.itemChanges(p)) == 0 }

// Order is the change of one item of a subscription.
type Order struct {
	Item, Price string
	Gone        bool
	Metered     bool
}

// Upgrade changes the prices of a subscription now and bills the difference immediately. If the payment fails,
// nothing changes.
func (c *Client) Upgrade(ctx context.Context, s Subscription, to Prices, key string) error {
	params := &stripe.SubscriptionUpdateParams{Params: idempotentParams(key),
		ProrationBehavior: stripe.String("always_invoice"), PaymentBehavior: stripe.String("pending_if_incomplete")}
	for _, o := range s.itemChanges(to) {
		item := &stripe.SubscriptionUpdateItemParams{}
		if o.Item != "" {
			item.ID = stripe.String(o.Item)
		}
		switch {
		case o.Gone:
			item.Deleted = new(true)
		case o.Metered:
			item.Price = stripe.String(o.Price)
		default:
			item.Price, item.Quantity = stripe.String(o.Price), stripe.Int64(1)
		}
		params.Items = append(params.Items, item)
	}
	_, err := post[stripe.Subscription](ctx, c, stripe.FormatURLPath("/v1/subscriptions/%s", s.ID), params)
	return err
}

// EndAtPeriod cancels a subscription at the end of its period, or reverts this.
func (c *Client) EndAtPeriod(ctx context.Context, id string, end bool, key string) error {
	_, err := post[stripe.Subscription](ctx, c, stripe.FormatURLPath("/v1/subscriptions/%s", id),
		&stripe.SubscriptionUpdateParams{Params: idempotentParams(key),
			CancelAtPeriodEnd: new(end)})
	return err
}

// Downgrade schedules other prices for the end of the period.
func (c *Client) Downgrade(ctx context.Context, s Subscription, to Prices, key string) error {
	schedule := s.Schedule
	if schedule == "" {
		made, err := post[stripe.SubscriptionSchedule](ctx, c, "/v1/subscription_schedules",
			&stripe.SubscriptionScheduleCreateParams{Params: idempotentParams(key + ":schedule"),
				FromSubscription: stripe.String(s.ID)})
		if err != nil {
			return err
		}
		schedule = made.ID
	}
	found, err := get[stripe.SubscriptionSchedule](ctx, c, "/v1/subscription_schedules/%s", schedule)
	if err != nil {
		return err
	}
	present := &stripe.SubscriptionScheduleUpdatePhaseParams{EndDate: unixOf(s.PeriodEnd)}
	if len(found.Phases) > 0 {
		present.StartDate = new(found.Phases[0].StartDate)
	}
	for _, i := range s.Items {
		present.Items = append(present.Items, phaseItem(i.Price, i.Metered))
	}
	next := &stripe.SubscriptionScheduleUpdatePhaseParams{StartDate: unixOf(s.PeriodEnd),
		Items: []*stripe.SubscriptionScheduleUpdatePhaseItemParams{phaseItem(to.Base, false)},
		Duration: &stripe.SubscriptionScheduleUpdatePhaseDurationParams{Interval: stripe.String("month"),
			IntervalCount: stripe.Int64(1)}}
	if to.Metered != "" {
		next.Items = append(next.Items, phaseItem(to.Metered, true))
	}
	_, err = post[stripe.SubscriptionSchedule](ctx, c, stripe.FormatURLPath("/v1/subscription_schedules/%s", schedule),
		&stripe.SubscriptionScheduleUpdateParams{Params: idempotentParams(key), EndBehavior: stripe.String("release"),
			ProrationBehavior: stripe.String("none"),
			Phases:            []*stripe.SubscriptionScheduleUpdatePhaseParams{present, next}})
	return err
}

func unixOf(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	return new(t.Unix())
}

func phaseItem(price string, metered bool) *stripe.SubscriptionScheduleUpdatePhaseItemParams {
	item := &stripe.SubscriptionScheduleUpdatePhaseItemParams{Price: stripe.String(price)}
	if !metered {
		item.Quantity = stripe.Int64(1)
	}
	return item
}

// Release discards the schedule of a subscription.
func (c *Client) Release(ctx context.Context, schedule, key string) error {
	_, err := post[stripe.SubscriptionSchedule](ctx, c,
		stripe.FormatURLPath("/v1/subscription_schedules/%s/release", schedule),
		&stripe.SubscriptionScheduleReleaseParams{Params: idempotentParams(key)})
	return err
}

// NextPrice returns the next price of a schedule and when it applies. The price is empty if there is none.
func (c *Client) NextPrice(ctx context.Context, schedule string,
	now time.Time) (price string, when *time.Time, err error) {
	found, err := get[stripe.SubscriptionSchedule](ctx, c, "/v1/subscription_schedules/%s", schedule)
	if err != nil {
		return "", nil, err
	}
	for _, phase := range found.Phases {
		if phase.StartDate <= now.Unix() {
			continue
		}
		for _, i := range phase.Items {
			if i.Price != nil && i.Quantity > 0 {
				return i.Price.ID, timeOf(phase.StartDate), nil
			}
		}
	}
	return "", nil, nil
}

// ChangeCost is the cost of a change made now.
type ChangeCost struct {
	AmountDue int64
	Currency  string
	Lines     []Line
}

// Line is a line of an invoice.
type Line struct {
	Text   string
	Amount int64
}

// PreviewUpgrade returns what Upgrade would bill now.
func (c *Client) PreviewUpgrade(ctx context.Context, customer string, s Subscription, to Prices) (ChangeCost, error) {
	details := &stripe.InvoiceCreatePreviewSubscriptionDetailsParams{ProrationBehavior: stripe.String("always_invoice")}
	for _, o := range s.itemChanges(to) {
		item := &stripe.InvoiceCreatePreviewSubscriptionDetailsItemParams{}
		if o.Item != "" {
			item.ID = stripe.String(o.Item)
		}
		if o.Gone {
			item.Deleted = new(true)
		} else {
			item.Price = stripe.String(o.Price)
		}
		details.Items = append(details.Items, item)
	}
	found, err := post[stripe.Invoice](ctx, c, "/v1/invoices/create_preview",
		&stripe.InvoiceCreatePreviewParams{Customer: stripe.String(customer), Subscription: stripe.String(s.ID),
			SubscriptionDetails: details})
	if err != nil {
		return ChangeCost{}, err
	}
	out := ChangeCost{AmountDue: found.AmountDue, Currency: string(found.Currency)}
	if found.Lines != nil {
		for _, l := range found.Lines.Data {
			out.Lines = append(out.Lines, Line{l.Description, l.Amount})
		}
	}
	return out, nil
}
