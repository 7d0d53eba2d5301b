package billing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stripe/stripe-go/v86"

	"github.com/postrider/postrider/modules/billing/provider"
	"github.com/postrider/postrider/runtime/base/fault"
)

// settleLimit is how long an event waits for its usage to be told: the provider does not wait much longer,
// and sends it again.
const settleLimit = 8 * time.Second

// Settled has an invoice of a metered subscription wait until the usage of its period was told: an
// invoice is final an hour after its event was taken. Error: Away while hours are missing.
func (s *events) Settled(ctx context.Context, accountID string, e stripe.Event) error {
	var invoice struct {
		Customer    json.RawMessage `json:"customer"`
		PeriodStart int64           `json:"period_start"`
		PeriodEnd   int64           `json:"period_end"`
	}
	if err := json.Unmarshal(e.Data.Raw, &invoice); err != nil {
		return fault.Invalidf("The body is no invoice")
	}
	if invoice.PeriodEnd <= invoice.PeriodStart {
		return nil
	}
	start, end := time.Unix(invoice.PeriodStart, 0).UTC(), time.Unix(invoice.PeriodEnd, 0).UTC()
	if time.Since(end) > 34*24*time.Hour {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	settled, err := s.meter.Settled(asking, accountID, idIn(invoice.Customer), start, end)
	switch {
	case err != nil && (asking.Err() != nil || !fault.IsDatabaseAway(err)):
		s.log.WarnContext(ctx, "an invoice waits: the usage of its period could not be settled", "account_id", accountID, "error", provider.Words(err))
		return waits()
	case err != nil:
		return fmt.Errorf("settle usage: %w", err)
	case !settled:
		return waits()
	}
	return nil
}

func waits() error {
	return &fault.Error{Kind: fault.Away, Code: fault.CodeUnavailable, RetryAfter: time.Minute, Message: "The usage of the invoice's period is not told yet; send the event again"}
}
