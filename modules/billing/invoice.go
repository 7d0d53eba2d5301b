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

// settleLimit is how long the response to an event waits for its usage to be reported. After about that time,
// the provider gives up and sends the event again.
const settleLimit = 8 * time.Second

// awaitUsageReport delays an invoice of a metered subscription until the usage of its period is reported, because an
// invoice becomes final an hour after its event was accepted. While hours are missing, the error is
// unavailable.
func (s *events) awaitUsageReport(ctx context.Context, accountID string, e stripe.Event) error {
	var invoice struct {
		Customer    json.RawMessage `json:"customer"`
		PeriodStart int64           `json:"period_start"`
		PeriodEnd   int64           `json:"period_end"`
	}
	if err := json.Unmarshal(e.Data.Raw, &invoice); err != nil {
		return fault.Invalidf("The body must contain an invoice")
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
	settled, err := s.meter.IsSettled(asking, accountID, parseID(invoice.Customer), start, end)
	switch {
	case err != nil && (asking.Err() != nil || !fault.IsDatabaseUnavailable(err)):
		s.log.WarnContext(ctx, "invoice delayed: cannot settle the usage of its period", "account_id", accountID,
			"error", provider.ErrorMessage(err))
		return usageNotReported()
	case err != nil:
		return fmt.Errorf("settle usage: %w", err)
	case !settled:
		return usageNotReported()
	}
	return nil
}

// usageNotReported returns the error for an invoice whose usage has not been reported yet.
func usageNotReported() error {
	return &fault.Error{Kind: fault.Unavailable, Code: fault.CodeUnavailable, RetryAfter: time.Minute,
		Message: "The usage of the invoice's period is not reported yet. Send the event again."}
}
