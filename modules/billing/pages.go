package billing

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/billing/provider"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// HostedPage is a temporary page of the payment provider.
type HostedPage struct {
	URL     string
	Expires *time.Time
}

const (
	keepPageSQL = `UPDATE billing_customers SET checkout_id = $2, checkout_kind = $3, checkout_url = $4, checkout_expires_at = $5 WHERE id = $1`

	// minPageLifetime is the minimum remaining lifetime of an open page that is returned again.
	minPageLifetime = 5 * time.Minute
	card            = "card" // the kind of pages that collect a payment method
)

// returnURL returns the URL that a page links back to. It accepts only paths of this service, never another
// host, whatever slashes the path contains.
func (s *Service) returnURL(path string) (string, error) {
	if path == "" {
		path = accounts.UpgradeURL
	}
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\#") ||
		strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r == 0x7f }) || len(path) > 500 {
		return "", fault.InvalidField("return_path", "must be a path of this service, such as %s", accounts.UpgradeURL)
	}
	return s.config.BaseURL + path, nil
}

// CardPage creates a page that collects a payment method from an account.
func (s *Service) CardPage(ctx context.Context, accountID, returnPath string) (p HostedPage, err error) {
	back, err := s.returnURL(returnPath)
	if err != nil {
		return HostedPage{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Answer)
	defer cancel()
	defer func() { err = upstreamOnTimeout(ctx, err) }()
	return s.openPage(ctx, accountID, card, func(w *pendingChange) (provider.Session, error) {
		return s.stripe.CardPage(ctx, w.customer, back, w.key("page"))
	})
}

// PlanPage creates a page where an account without a subscription buys a plan. Errors: Invalid; Conflict if the
// account has a subscription.
func (s *Service) PlanPage(ctx context.Context, accountID, planID, returnPath string) (p HostedPage, err error) {
	back, err := s.returnURL(returnPath)
	if err != nil {
		return HostedPage{}, err
	}
	if !s.config.isEnabled() {
		return HostedPage{}, errDisabled()
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Answer)
	defer cancel()
	defer func() { err = upstreamOnTimeout(ctx, err) }()
	plan, prices, err := s.findOffer(ctx, planID)
	if err != nil {
		return HostedPage{}, err
	}
	if plan.ID == accounts.PlanFree {
		return HostedPage{}, fault.InvalidField("plan", "is free and cannot be bought")
	}
	return s.openPage(ctx, accountID, plan.ID, func(w *pendingChange) (provider.Session, error) {
		list, err := s.stripe.Subscriptions(ctx, w.customer)
		if err != nil {
			return provider.Session{}, err
		}
		for _, b := range list {
			if isAlive(b.Status) && b.Status != "incomplete" {
				return provider.Session{}, fault.Conflictf(fault.CodeConflict,
					"The account already has a subscription: change its plan with PUT /billing/plan")
			}
		}
		return s.stripe.PlanPage(ctx, w.customer, prices, back, w.key("page"))
	})
}

// openPage returns the open page if it is of the same kind. Otherwise it ends the open page and creates a new
// one.
func (s *Service) openPage(ctx context.Context, accountID, kind string,
	open func(*pendingChange) (provider.Session, error)) (HostedPage, error) {
	w, err := s.customers.begin(ctx, accountID)
	if err != nil {
		return HostedPage{}, err
	}
	defer s.customers.end(ctx, w)
	if at := w.checkout.Expires; at != nil && time.Until(*at) > minPageLifetime {
		still, err := s.keepPage(ctx, w, kind)
		if err != nil {
			return HostedPage{}, provider.Upstream(err)
		}
		if still {
			return HostedPage{w.checkout.URL, at}, nil
		}
	}
	made, err := open(w)
	if err != nil {
		if f := fault.Classify(err); f.Kind == fault.Conflict {
			return HostedPage{}, f
		}
		return HostedPage{}, provider.Upstream(err)
	}
	if err := s.customers.storeResult(ctx, keepPageSQL, accountID, made.ID, kind, made.URL, made.Expires); err != nil {
		return HostedPage{}, err
	}
	return HostedPage{made.URL, made.Expires}, nil
}

// keepPage reports whether the page in w is of the same kind and still open, that is, neither completed nor
// expired at the provider. It ends a page of another kind.
func (s *Service) keepPage(ctx context.Context, w *pendingChange, kind string) (bool, error) {
	if w.kind == kind && w.checkout.URL != "" {
		if still, err := s.stripe.PageOpen(ctx, w.checkout.ID); still || err != nil {
			return still, err
		}
	}
	return false, s.stripe.EndPage(ctx, w.checkout.ID)
}

// Portal creates a page with an account's invoices, cards and tax IDs.
func (s *Service) Portal(ctx context.Context, accountID, returnPath string) (url string, err error) {
	back, err := s.returnURL(returnPath)
	if err != nil {
		return "", err
	}
	customer, err := s.lookupCustomer(ctx, accountID)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Answer)
	defer cancel()
	defer func() { err = upstreamOnTimeout(ctx, err) }()
	url, err = s.stripe.Portal(ctx, customer, back)
	return url, provider.Upstream(err)
}

// Invoices returns a page of an account's invoices, newest first. Errors: Invalid, Upstream.
func (s *Service) Invoices(ctx context.Context, accountID string,
	r page.Request) (found page.Page[provider.Invoice], err error) {
	list := page.List{Name: "invoices", AccountID: accountID}
	at, err := s.cursors.Open(list, r.OrDefault())
	if err != nil || !s.config.isEnabled() {
		return found, err
	}
	customer, err := s.lookupCustomer(ctx, accountID)
	if fault.KindOf(err) == fault.Conflict { // the account has never bought anything
		return found, nil
	}
	if err != nil {
		return found, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Answer)
	defer cancel()
	defer func() { err = upstreamOnTimeout(ctx, err) }()
	found.Items, found.HasMore, err = s.stripe.Invoices(ctx, customer, at.ID, at.Limit)
	if err != nil {
		return found, provider.Upstream(err)
	}
	if n := len(found.Items); found.HasMore && n > 0 {
		found.NextCursor = s.cursors.Encode(list, found.Items[n-1].ID)
	}
	return found, nil
}

const (
	askedSQL = `
UPDATE billing_customers SET asked_at = now(), sync_due_at = clock_timestamp()
 WHERE id = $1 AND customer_id IS NOT NULL AND (asked_at IS NULL OR asked_at < now() - interval '5 seconds')`
)

// Sync syncs an account with the provider now, at most once in five seconds.
func (s *Service) Sync(ctx context.Context, accountID string) (o Overview, err error) {
	if !s.config.isEnabled() {
		return Overview{}, errDisabled()
	}
	result, err := s.db.SQL.ExecContext(ctx, askedSQL, accountID)
	if err != nil {
		return Overview{}, fmt.Errorf("billing: %w", err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return s.Overview(ctx, accountID)
	}
	asking, cancel := context.WithTimeout(ctx, s.config.Answer)
	defer cancel()
	defer func() { err = upstreamOnTimeout(asking, err) }()
	return s.syncAndRead(ctx, asking, accountID)
}

// syncAndRead syncs an account that is due, unless another process is doing so, and then returns the
// account's state. asking bounds the sync.
func (s *Service) syncAndRead(ctx, asking context.Context, accountID string) (Overview, error) {
	claims, err := s.customers.claimDue(ctx, accountID)
	if err != nil {
		return Overview{}, err
	}
	for _, c := range claims {
		if err := s.customers.syncCustomer(ctx, asking, c); err != nil {
			return Overview{}, err
		}
	}
	return s.Overview(ctx, accountID)
}
