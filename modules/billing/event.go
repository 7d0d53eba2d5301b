package billing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v86"
	"github.com/stripe/stripe-go/v86/webhook"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/billing/metering"
	"github.com/postrider/postrider/modules/billing/provider"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Results of an event, as counted by the metrics.
const (
	eventTaken   = "taken"
	eventForeign = "foreign" // for another mode, or for an unknown customer
	eventHeld    = "held"    // an invoice that waits for usage of the last hours
	eventRefused = "refused"
)

const (
	keepEventSQL = `INSERT INTO billing_events (id, type, api_version, customer_id, received_at) VALUES ($1, $2, $3, $4, now()) ON CONFLICT (id) DO NOTHING`

	// clock_timestamp() instead of now(), so that a sync in progress sees the change.
	dueSQL = `UPDATE billing_customers SET sync_due_at = clock_timestamp() WHERE customer_id = $1 RETURNING id`

	sweepEventsSQL = `
DELETE FROM billing_events WHERE id IN (SELECT id FROM billing_events WHERE received_at < now() - interval '60 days' LIMIT 10000 FOR UPDATE SKIP LOCKED)`
)

// tolerance is how far the time of a signature may differ from ours.
const tolerance = 5 * time.Minute

// maxInvoiceDelay is how long an invoice may wait for usage. Stripe finalizes it after 72 hours in any case.
const maxInvoiceDelay = 60 * time.Hour

// events processes the events of the provider.
type events struct {
	config  *Config
	db      *db.DB
	stripe  *provider.Client  // nil if billing is disabled
	meter   *metering.Service // nil if billing is disabled
	metrics metricSet
	log     *slog.Logger
}

// HandleEvent processes an event of the provider, which only identifies a customer to sync. Errors: NotFound while
// billing is disabled; Invalid if the signature matches no secret; an unavailable error if the provider must
// send the event again.
func (s *events) HandleEvent(ctx context.Context, body []byte, signature string) error {
	if !s.config.isEnabled() {
		return &fault.Error{Kind: fault.NotFound, Code: fault.CodeNotFound, Message: "Not found"}
	}
	event, err := s.verifySignature(body, signature)
	if err != nil {
		s.countEvent(eventRefused)
		return err
	}
	customer := ""
	if event.Livemode == s.config.isLive() {
		if customer, err = s.findCustomer(ctx, event); err != nil {
			return err
		}
	}
	if customer == "" {
		s.countEvent(eventForeign)
		return nil
	}
	accountID := ""
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if _, err := tx.ExecContext(ctx, keepEventSQL, event.ID, string(event.Type), event.APIVersion,
			customer); err != nil {
			return err
		}
		known, err := db.All(ctx, tx, db.Value[string], dueSQL, customer)
		accountID = strings.Join(known, "")
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("billing event: %w", fault.DatabaseUnavailable(err))
	case accountID == "":
		s.countEvent(eventForeign)
		return nil
	case event.Type == stripe.EventTypeChargeDisputeCreated:
		s.log.ErrorContext(ctx, "a customer disputes a payment; respond at the payment provider", "account_id",
			accountID, "event_id", event.ID)
	case event.Type == stripe.EventTypeInvoiceCreated:
		err := s.awaitUsageReport(ctx, accountID, event)
		switch {
		case err == nil:
		case time.Since(time.Unix(event.Created, 0)) < maxInvoiceDelay:
			s.countEvent(eventHeld)
			return err
		default:
			s.log.ErrorContext(ctx,
				"invoice released although usage of its period was not reported; see postrider admin billing usage",
				"account_id", accountID, "event_id", event.ID, "error", err)
		}
	}
	s.countEvent(eventTaken)
	return nil
}

// verifySignature verifies the signature with each secret.
func (s *events) verifySignature(body []byte, signature string) (stripe.Event, error) {
	if at := signedAt(signature); at.After(time.Now().Add(tolerance)) { // the library accepts times in the future
		return stripe.Event{}, fault.Invalidf("The signature's time is in the future")
	}
	for _, secret := range s.config.Secrets {
		if secret.IsZero() {
			continue // with an empty secret, the library accepts any signature
		}
		// Only IDs are read from an event, and those are the same in every API version.
		event, err := webhook.ConstructEventWithOptions(body, signature, secret.Reveal(),
			webhook.ConstructEventOptions{Tolerance: tolerance, IgnoreAPIVersionMismatch: true})
		if err == nil && event.ID != "" {
			return event, nil
		}
		if err == nil || !isSignature(err) {
			return stripe.Event{}, fault.Invalidf("The body must be a Stripe event")
		}
	}
	return stripe.Event{}, fault.Invalidf("The signature is invalid")
}

func isSignature(err error) bool {
	return errors.Is(err, webhook.ErrNotSigned) || errors.Is(err, webhook.ErrInvalidHeader) ||
		errors.Is(err, webhook.ErrTooOld) || errors.Is(err, webhook.ErrNoValidSignature)
}

// signedAt returns the time in a signature, or zero if it has none.
func signedAt(signature string) time.Time {
	for part := range strings.SplitSeq(signature, ",") {
		if seconds, found := strings.CutPrefix(strings.TrimSpace(part), "t="); found {
			var n int64
			if _, err := fmt.Sscan(seconds, &n); err == nil {
				return time.Unix(n, 0)
			}
		}
	}
	return time.Time{}
}

// findCustomer returns the customer of an event, or an empty string if it has none. A dispute contains only a
// charge, so findCustomer asks the provider for the customer. If the provider does not respond, the error is
// unavailable, and the event will be sent again.
func (s *events) findCustomer(ctx context.Context, e stripe.Event) (string, error) {
	if !strings.HasPrefix(string(e.Type), "charge.dispute.") || e.Data == nil {
		return customerOf(e), nil
	}
	var dispute struct {
		Charge json.RawMessage `json:"charge"`
	}
	if json.Unmarshal(e.Data.Raw, &dispute) != nil {
		return "", nil
	}
	charge := parseID(dispute.Charge)
	if charge == "" {
		return "", nil
	}
	asking, cancel := context.WithTimeout(ctx, s.config.Answer)
	defer cancel()
	customer, err := s.stripe.Payer(asking, charge)
	if err != nil {
		return "", &fault.Error{Kind: fault.Unavailable, Code: fault.CodeUnavailable, RetryAfter: time.Minute,
			Message: "Cannot look up the customer of the charge. Send the event again."}
	}
	return customer, nil
}

// customerOf returns the customer of an event, or an empty string if it has none.
func customerOf(e stripe.Event) string {
	if e.Data == nil {
		return ""
	}
	var object struct {
		Object   string          `json:"object"`
		ID       string          `json:"id"`
		Customer json.RawMessage `json:"customer"`
	}
	if json.Unmarshal(e.Data.Raw, &object) != nil {
		return ""
	}
	if object.Object == "customer" {
		return object.ID
	}
	if id := parseID(object.Customer); id != "" {
		return id
	}
	// An object that was detached from a customer names it in its previous attributes.
	before, err := json.Marshal(e.Data.PreviousAttributes["customer"])
	if err != nil {
		return ""
	}
	return parseID(before)
}

// parseID returns an ID, which may appear directly or as the ID of an expanded object.
func parseID(raw json.RawMessage) string {
	var id string
	if json.Unmarshal(raw, &id) == nil {
		return id
	}
	var object struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &object) == nil {
		return object.ID
	}
	return ""
}

func (s *events) sweepEvents(ctx context.Context) (int64, error) {
	n, err := db.Exec(ctx, s.db.SQL, sweepEventsSQL)
	return int64(n), err
}
