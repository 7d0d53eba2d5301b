package billing

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing/provider"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// A change at the provider is made under a lease on the customer's row, so that an account makes one change
// at a time. Each change has a number, which is stored before the call and is part of the call's idempotency
// key. A lease that ends later than any new one could dates from before the database clock was set back, and
// is ignored.

const (
	makeRowSQL = `INSERT INTO billing_customers (id) VALUES ($1) ON CONFLICT (id) DO NOTHING`

	beginSQL = `
UPDATE billing_customers SET write_no = write_no + 1, writing_until = now() + interval '20 seconds'
 WHERE id = $1 AND (writing_until IS NULL OR writing_until NOT BETWEEN now() AND now() + interval '2 minutes')
RETURNING coalesce(customer_id, ''), write_no, billing_email, checkout_id, checkout_kind, checkout_url, checkout_expires_at`

	// The customer is synced again a minute later, in case the event of the change never arrives.
	endSQL = `
UPDATE billing_customers SET writing_until = NULL, wrote_at = clock_timestamp(), sync_due_at = clock_timestamp(), updated_at = now() WHERE id = $1 AND write_no = $2`

	nameSQL = `UPDATE billing_customers SET customer_id = $2 WHERE id = $1 AND customer_id IS NULL`
)

// customers manages accounts at the provider: it makes changes under a lease and stores the provider's state.
type customers struct {
	config   *Config
	db       *db.DB
	accounts *accounts.Service
	plans    *plans.Service
	stripe   *provider.Client // nil if billing is disabled
	catalog  *catalog
	log      *slog.Logger
}

// pendingChange is a change in progress for an account.
type pendingChange struct {
	accountID string
	customer  string
	number    int64
	email     string
	checkout  provider.Session
	kind      string // kind of checkout
}

// key returns the idempotency key of one call of a change.
func (w *pendingChange) key(kind string) string {
	return fmt.Sprintf("%s:%s:%d", kind, w.accountID, w.number)
}

// begin leases the customer's row of an account for a change, and creates the customer if necessary. Errors:
// Conflict while another change is in progress; Upstream.
func (s *customers) begin(ctx context.Context, accountID string) (*pendingChange, error) {
	if !s.config.isEnabled() {
		return nil, errDisabled()
	}
	if _, err := s.db.SQL.ExecContext(ctx, makeRowSQL, accountID); err != nil {
		return nil, fmt.Errorf("billing: %w", err)
	}
	w, err := db.One(ctx, s.db.SQL, func(w *pendingChange) []any {
		return []any{&w.customer, &w.number, &w.email, &w.checkout.ID, &w.kind, &w.checkout.URL, &w.checkout.Expires}
	}, beginSQL, accountID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fault.Conflictf(fault.CodeConflict,
			"Another change to this account's billing is in progress: retry in a moment")
	case err != nil:
		return nil, fmt.Errorf("billing: %w", err)
	}
	w.accountID = accountID
	if w.customer != "" {
		return &w, nil
	}
	p, err := s.accounts.Profile(ctx, accountID)
	if err == nil {
		w.customer, err = s.makeCustomer(ctx, &w, p.Email, p.Name)
	}
	if err == nil {
		err = s.storeResult(ctx, nameSQL, accountID, w.customer)
	}
	if err != nil {
		s.end(ctx, &w)
		return nil, err
	}
	return &w, nil
}

// makeCustomer creates the customer of an account. It first looks for one that an earlier change created
// without receiving the response.
func (s *customers) makeCustomer(ctx context.Context, w *pendingChange, email, name string) (id string, err error) {
	if w.number > 1 {
		if id, err = s.stripe.FindCustomer(ctx, w.accountID, email); id != "" || err != nil {
			return id, provider.Upstream(err)
		}
	}
	id, err = s.stripe.CreateCustomer(ctx, w.accountID, email, name, w.key("customer"))
	return id, provider.Upstream(err)
}

// noteLimit is how long storing a result of the provider may take. Storing continues when the caller
// disconnects or its deadline passes.
const noteLimit = 5 * time.Second

func (s *customers) storeResult(ctx context.Context, statement string, args ...any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	if _, err := s.db.SQL.ExecContext(ctx, statement, args...); err != nil {
		return fmt.Errorf("billing: %w", err)
	}
	return nil
}

// end releases the row and schedules a sync that reads the result of the change.
func (s *customers) end(ctx context.Context, w *pendingChange) {
	if err := s.storeResult(ctx, endSQL, w.accountID, w.number); err != nil {
		s.log.WarnContext(ctx, "cannot release a billing change; the next change of the account must wait 20 seconds",
			"account_id", w.accountID, "error", err)
	}
}
