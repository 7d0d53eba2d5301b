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

// Results of an event, as they are counted.
const (
	eventTaken   = "taken"
	eventForeign = "foreign" // of another mode, or of nobody who is known here
	eventHeld    = "held"    // an invoice that waits for the last hours of usage
	eventRefused = "refused"
)

const (
	keepEventSQL = `INSERT INTO billing_events (id, type, api_version, customer_id, received_at) VALUES ($1, $2, $3, $4, now()) ON CONFLICT (id) DO NOTHING`

	// The clock and not now(): who is asking at this moment sees that it moved.
	dueSQL = `UPDATE billing_customers SET sync_due_at = clock_timestamp() WHERE customer_id = $1 RETURNING id`

	sweepEventsSQL = `
DELETE FROM billing_events WHERE id IN (SELECT id FROM billing_events WHERE received_at < now() - interval '60 days' LIMIT 10000 FOR UPDATE SKIP LOCKED)`
)

// tolerance is how far the time of a signature may be off.
const tolerance = 5 * time.Minute

// held is how long an invoice waits for usage at most: Stripe finalizes it after 72 hours anyhow.
const held = 60 * time.Hour

// events hears what happens at the provider.
type events struct {
	config  *Config
	db      *db.DB
	stripe  *provider.Client  // nil: billing is off
	meter   *metering.Service // nil: billing is off
	figures figures
	log     *slog.Logger
}

// Take takes an event of the provider: it says only whom to ask about. Errors: NotFound while billing is
// off; Invalid for a signature that is none of the secrets'; Away where the event is to be sent again.
func (s *events) Take(ctx context.Context, body []byte, signature string) error {
	if !s.config.on() {
		return &fault.Error{Kind: fault.NotFound, Code: fault.CodeNotFound, Message: "Not found"}
	}
	event, err := s.genuine(body, signature)
	if err != nil {
		s.count(eventRefused)
		return err
	}
	customer := ""
	if event.Livemode == s.config.live() {
		if customer, err = s.about(ctx, event); err != nil {
			return err
		}
	}
	if customer == "" {
		s.count(eventForeign)
		return nil
	}
	accountID := ""
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if _, err := tx.ExecContext(ctx, keepEventSQL, event.ID, string(event.Type), event.APIVersion, customer); err != nil {
			return err
		}
		known, err := db.All(ctx, tx, db.Value[string], dueSQL, customer)
		accountID = strings.Join(known, "")
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("billing event: %w", fault.Unavailable(err))
	case accountID == "":
		s.count(eventForeign)
		return nil
	case event.Type == stripe.EventTypeChargeDisputeCreated:
		s.log.ErrorContext(ctx, "a customer disputes a payment: answer it at the payment provider", "account_id", accountID, "event_id", event.ID)
	case event.Type == stripe.EventTypeInvoiceCreated:
		err := s.Settled(ctx, accountID, event)
		switch {
		case err == nil:
		case time.Since(time.Unix(event.Created, 0)) < held:
			s.count(eventHeld)
			return err
		default:
			s.log.ErrorContext(ctx, "an invoice is not held any longer, although the usage of its period was not told: postrider billing usage shows what is missing",
				"account_id", accountID, "event_id", event.ID, "error", err)
		}
	}
	s.count(eventTaken)
	return nil
}

// genuine checks the signature against each secret.
func (s *events) genuine(body []byte, signature string) (stripe.Event, error) {
	if at := signedAt(signature); at.After(time.Now().Add(tolerance)) { // the library takes the future
		return stripe.Event{}, fault.Invalidf("The signature is of the future")
	}
	for _, secret := range s.config.Secrets {
		if secret.IsZero() {
			continue // the library would accept what anybody signs
		}
		// Only ids are read of an event, which every version of the API has.
		event, err := webhook.ConstructEventWithOptions(body, signature, secret.Reveal(), webhook.ConstructEventOptions{Tolerance: tolerance, IgnoreAPIVersionMismatch: true})
		if err == nil && event.ID != "" {
			return event, nil
		}
		if err == nil || !isSignature(err) {
			return stripe.Event{}, fault.Invalidf("The body is no event")
		}
	}
	return stripe.Event{}, fault.Invalidf("The signature is not one of Stripe's")
}

func isSignature(err error) bool {
	return errors.Is(err, webhook.ErrNotSigned) || errors.Is(err, webhook.ErrInvalidHeader) || errors.Is(err, webhook.ErrTooOld) || errors.Is(err, webhook.ErrNoValidSignature)
}

// signedAt is the time that a signature names; zero: none.
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

// about gives the customer whom an event is about; empty: nobody. A dispute names a charge only, so the provider
// is asked whose it is. Error: Away where it does not answer; the event is sent again.
func (s *events) about(ctx context.Context, e stripe.Event) (string, error) {
	if !strings.HasPrefix(string(e.Type), "charge.dispute.") || e.Data == nil {
		return customerOf(e), nil
	}
	var dispute struct {
		Charge json.RawMessage `json:"charge"`
	}
	if json.Unmarshal(e.Data.Raw, &dispute) != nil {
		return "", nil
	}
	charge := idIn(dispute.Charge)
	if charge == "" {
		return "", nil
	}
	asking, cancel := context.WithTimeout(ctx, s.config.Answer)
	defer cancel()
	customer, err := s.stripe.Payer(asking, charge)
	if err != nil {
		return "", &fault.Error{Kind: fault.Away, Code: fault.CodeUnavailable, RetryAfter: time.Minute, Message: "It could not be asked whose charge that is; send the event again"}
	}
	return customer, nil
}

// customerOf tells whom an event is about; empty: nobody.
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
	if id := idIn(object.Customer); id != "" {
		return id
	}
	// What was detached from a customer names it as what was before.
	before, err := json.Marshal(e.Data.PreviousAttributes["customer"])
	if err != nil {
		return ""
	}
	return idIn(before)
}

// idIn reads an id, or the id of an object that stands in its place.
func idIn(raw json.RawMessage) string {
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
