package provider

import (
	"context"
	"regexp"
	"strconv"
	"time"

	"github.com/stripe/stripe-go/v86"
)

// MeterEvent is the name of the events that meter emails.
const MeterEvent = "postrider_emails"

var alreadyTold = regexp.MustCompile(`(?i)already exists with (the )?identifier`)

// ReportUsage reports the total number of emails that a customer has sent in an hour. It replaces earlier reports of
// that hour.
func (c *Client) ReportUsage(ctx context.Context, customer, identifier string, hour time.Time, emails int64) error {
	_, err := post[stripe.BillingMeterEvent](ctx, c, "/v1/billing/meter_events", &stripe.BillingMeterEventCreateParams{
		EventName: stripe.String(MeterEvent), Identifier: stripe.String(identifier),
		Timestamp: new(hour.Add(30 * time.Minute).Unix()),
		Payload:   map[string]string{"stripe_customer_id": customer, "value": strconv.FormatInt(emails, 10)},
	})
	return err
}

// Meter returns the ID of the email meter, or an empty string if there is none.
func (c *Client) Meter(ctx context.Context) (string, error) {
	for m, err := range list[stripe.BillingMeter](ctx, c, "/v1/billing/meters",
		&stripe.BillingMeterListParams{Status: stripe.String("active")}) {
		if err != nil {
			return "", err
		}
		if m.EventName == MeterEvent {
			return m.ID, nil
		}
	}
	return "", nil
}

// ReportedUsage returns what Stripe has counted for a customer, by hour.
func (c *Client) ReportedUsage(ctx context.Context, meter, customer string, since,
	until time.Time) (map[time.Time]int64, error) {
	out := map[time.Time]int64{}
	params := &stripe.BillingMeterEventSummaryListParams{Customer: stripe.String(customer),
		StartTime: new(since.Unix()), EndTime: new(until.Unix()),
		ValueGroupingWindow: stripe.String("hour")}
	params.Limit = stripe.Int64(100)
	for s, err := range list[stripe.BillingMeterEventSummary](ctx, c,
		stripe.FormatURLPath("/v1/billing/meters/%s/event_summaries", meter), params) {
		if err != nil {
			return nil, err
		}
		out[time.Unix(s.StartTime, 0).UTC()] = int64(s.AggregatedValue)
	}
	return out, nil
}
