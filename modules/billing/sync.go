package billing

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/billing/metering"
	"github.com/postrider/postrider/modules/billing/provider"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	lease     = "40 seconds" // per customer, whose sync takes a few exchanges of up to five seconds
	syncBatch = 10

	claimSQL = `
UPDATE billing_customers SET claimed_until = now() + interval '` + lease + `', fence = fence + 1
 WHERE id IN (SELECT id FROM billing_customers WHERE sync_due_at <= now() AND (claimed_until IS NULL OR claimed_until NOT BETWEEN now() AND now() + interval '2 minutes') AND customer_id IS NOT NULL AND ($2 = '' OR id = $2)
	ORDER BY sync_due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING id, customer_id, fence, failures, sync_due_at, entitled_plan, payment_method, write_no, coalesce(wrote_at > now() - interval '60 seconds', false)`

	// failedSQL postpones a sync, under the fencing number.
	failedSQL = `
UPDATE billing_customers SET claimed_until = NULL, failures = failures + 1, sync_due_at = now() + $3 * interval '1 second' WHERE id = $1 AND fence = $2`

	lockSQL = `SELECT sync_due_at FROM billing_customers WHERE id = $1 AND fence = $2 FOR UPDATE`

	storeSQL = `
UPDATE billing_customers SET claimed_until = NULL, failures = 0, synced_at = now(), updated_at = now(), customer_id = nullif(@customer::text, ''), payment_method = @on_file,
	card_brand = @brand, card_last4 = @last4, card_exp_month = @month, card_exp_year = @year, entitled_plan = @plan, problems = @problems::jsonb,
	write_no = write_no + CASE WHEN @customer::text = '' THEN 1 ELSE 0 END,
	sync_due_at = CASE WHEN sync_due_at IS DISTINCT FROM @due THEN sync_due_at WHEN @customer::text = '' THEN NULL ELSE now() + @next * interval '1 second' END
 WHERE id = @account AND fence = @fence`

	dropSubscriptionsSQL = `DELETE FROM billing_subscriptions WHERE account_id = $1 AND NOT id = ANY ($2::text[])`

	storeSubscriptionSQL = `
INSERT INTO billing_subscriptions (id, account_id, plan_id, status, item_id, metered, metered_since, metered_until, period_start, period_end, cancel_at, schedule_id, pending_plan, pending_at, past_due_since, created_at, updated_at)
VALUES (@id, @account, @plan, @status::text, @item, @metered, @metered_since, CASE WHEN @metered AND NOT @bills THEN coalesce(@ended, now()) END, @start, @end, @cancel, @schedule, @pending, @pending_at, CASE WHEN @status::text = 'past_due' THEN now() END, now(), now())
ON CONFLICT (id) DO UPDATE SET plan_id = @plan, status = @status::text, item_id = @item, metered = @metered, metered_since = coalesce(@metered_since, billing_subscriptions.metered_since),
	metered_until = CASE WHEN @metered AND @bills THEN NULL WHEN @metered OR billing_subscriptions.metered THEN coalesce(billing_subscriptions.metered_until, @ended, now()) ELSE billing_subscriptions.metered_until END,
	period_start = @start, period_end = @end,
	cancel_at = @cancel, schedule_id = @schedule, pending_plan = @pending, pending_at = @pending_at, updated_at = now(),
	past_due_since = CASE WHEN @status::text = 'past_due' THEN coalesce(billing_subscriptions.past_due_since, now()) END
RETURNING past_due_since`
)

var (
	store             = db.Compile(storeSQL)
	storeSubscription = db.Compile(storeSubscriptionSQL)
)

// claim is a customer to sync, under a fencing number.
type claim struct {
	accountID, customer string
	fence               int64
	failures            int
	due                 time.Time
	entitled            string // the plan of the last sync
	onFile              bool   // whether the last sync found a payment method
	number              int64
	fresh               bool // changed in the last minute
}

// syncDue syncs every customer that is due. Several processes may run it.
func (s *customers) syncDue(ctx context.Context) error {
	for n := syncBatch; n == syncBatch; {
		claims, err := s.claimDue(ctx, "")
		if err != nil {
			return err
		}
		var failed []error
		for _, c := range claims {
			failed = append(failed, s.syncCustomer(ctx, ctx, c))
		}
		if err := errors.Join(failed...); err != nil {
			return err
		}
		n = len(claims)
	}
	return nil
}

func (s *customers) claimDue(ctx context.Context, accountID string) ([]claim, error) {
	list, err := db.All(ctx, s.db.SQL, func(c *claim) []any {
		return []any{&c.accountID, &c.customer, &c.fence, &c.failures, &c.due, &c.entitled, &c.onFile,
			&c.number, &c.fresh}
	}, claimSQL, syncBatch, accountID)
	if err != nil {
		return nil, fmt.Errorf("due customers: %w", err)
	}
	return list, nil
}

// syncCustomer reads one customer from the provider and stores its state. An unavailable provider is not an
// error, because the sync is repeated later. asking bounds the calls to the provider.
func (s *customers) syncCustomer(ctx, asking context.Context, c claim) error {
	state, err := s.readState(asking, c)
	if err != nil {
		wait := math.Min(math.Pow(2, float64(c.failures)), maxWait.Seconds())
		if provider.KindOf(err) == provider.Refused {
			wait = refusedWait.Seconds()
		}
		s.log.WarnContext(ctx, "cannot read a customer from the payment provider", "account_id", c.accountID, "error",
			provider.ErrorMessage(err), "again_in_seconds", wait)
		_, stored := s.db.SQL.ExecContext(ctx, failedSQL, c.accountID, c.fence, wait)
		return stored
	}
	return s.storeState(ctx, c, state)
}

const (
	maxWait     = 30 * time.Second
	refusedWait = 5 * time.Minute // after a rejected key
	daily       = 24 * time.Hour
	again       = time.Minute // after a change made here
)

// state is a customer's state at the provider.
type state struct {
	customer provider.Customer
	card     *provider.Card // charged by default, and not expired
	subs     []plannedSubscription
}

// plannedSubscription is a subscription with its plan and its planned change.
type plannedSubscription struct {
	provider.Subscription

	plan      string
	pending   string
	pendingAt *time.Time
}

// readState reads the complete state of a customer. If the default payment method is missing or expired and another
// one exists, that one becomes the default.
func (s *customers) readState(ctx context.Context, c claim) (state, error) {
	customer, err := s.stripe.Customer(ctx, c.customer)
	if err != nil || customer.Deleted {
		return state{customer: customer}, err
	}
	out := state{customer: customer}
	list, err := s.stripe.Subscriptions(ctx, c.customer)
	if err != nil {
		return state{}, err
	}
	known, err := s.catalog.get(ctx)
	if err != nil {
		return state{}, err
	}
	charged := map[string]bool{customer.Default: true}
	for _, b := range list {
		one, err := s.readSubscription(ctx, b, known)
		if err != nil {
			return state{}, err
		}
		if isAlive(b.Status) {
			charged[b.Default] = true
		}
		out.subs = append(out.subs, one)
	}
	return out, s.chooseCard(ctx, c, &out, charged)
}

// readSubscription returns a subscription with its plan and its planned change.
func (s *customers) readSubscription(ctx context.Context, b provider.Subscription,
	known provider.Catalog) (one plannedSubscription, err error) {
	one.Subscription = b
	if i := slices.IndexFunc(b.Items, func(i provider.SubscriptionItem) bool { return !i.Metered }); i >= 0 {
		if one.plan = known.ByID[b.Items[i].Price]; one.plan == "" && b.Items[i].Product != "" {
			if one.plan, err = s.stripe.PlanOf(ctx, b.Items[i].Product); err != nil &&
				provider.KindOf(err) != provider.Missing {
				return one, err
			}
		}
	}
	if b.Schedule == "" || !isAlive(b.Status) {
		return one, nil
	}
	price, when, err := s.stripe.NextPrice(ctx, b.Schedule, time.Now())
	if err != nil && provider.KindOf(err) != provider.Missing {
		return one, err
	}
	one.pending, one.pendingAt = known.ByID[price], when
	return one, nil
}

// chooseCard returns the default payment method if it has not expired. Otherwise, if another one can be
// charged, that one becomes the default.
func (s *customers) chooseCard(ctx context.Context, c claim, out *state, charged map[string]bool) error {
	now := time.Now()
	other := -1
	for i, card := range out.customer.Cards {
		switch {
		case card.IsExpired(now):
		case charged[card.ID]:
			out.card = &out.customer.Cards[i]
			return nil
		case other < 0:
			other = i
		}
	}
	if other < 0 {
		return nil
	}
	out.card = &out.customer.Cards[other]
	return s.stripe.SetDefault(ctx, c.customer, out.card.ID,
		fmt.Sprintf("default:%s:%s:%d", c.accountID, out.card.ID, c.fence))
}

// storeState writes the state and the resulting entitlement in one transaction, unless another sync has taken over.
func (s *customers) storeState(ctx context.Context, c claim, seen state) error {
	all, err := s.plans.Plans(ctx)
	if err != nil {
		return err
	}
	plans := map[string]accounts.Plan{}
	for _, p := range all {
		plans[p.ID] = p
	}
	changed := false
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if _, err := db.One(ctx, tx, db.Value[*time.Time], lockSQL, c.accountID, c.fence); err != nil {
			if errors.Is(err, sql.ErrNoRows) { // the lease has ended, and another sync holds it
				return nil
			}
			return err
		}
		now, err := db.Now(ctx, tx)
		if err != nil {
			return err
		}
		judged, err := storeSubscriptions(ctx, tx, c.accountID, seen.subs, plans)
		if err != nil {
			return err
		}
		e := entitle(judged, c.entitled, s.config.Grace, now)
		if err := s.storeCustomer(ctx, tx, c, seen, e, now); err != nil {
			return err
		}
		changed, err = s.applyEntitlement(ctx, tx, c, seen, e)
		return err
	})
	if err != nil {
		return fmt.Errorf("store a customer's state: %w", err)
	}
	if changed {
		s.accounts.Forget(c.accountID)
	}
	return nil
}

func storeSubscriptions(ctx context.Context, tx *ent.Tx, accountID string, list []plannedSubscription,
	plans map[string]accounts.Plan) ([]subscriptionState, error) {
	ids, judged := make([]string, len(list)), make([]subscriptionState, len(list))
	for i, b := range list {
		ids[i] = b.ID
		item, meteredSince := "", (*time.Time)(nil)
		for _, it := range b.Items {
			switch {
			case it.Metered:
				meteredSince = &it.Created
			case item == "":
				item = it.ID
			}
		}
		since, err := db.One(ctx, tx, db.Value[*time.Time], storeSubscription.Text,
			storeSubscription.Args(db.Arg("id", b.ID), db.Arg("account", accountID), db.Arg("plan", b.plan),
				db.Arg("status", b.Status), db.Arg("item", item), db.Arg("metered", meteredSince != nil),
				db.Arg("metered_since", meteredSince), db.Arg("bills", metering.BillsUsage(b.Status)),
				db.Arg("ended", b.Ended), db.Arg("start", b.PeriodStart),
				db.Arg("end", b.PeriodEnd), db.Arg("cancel", b.CancelAt), db.Arg("schedule", b.Schedule),
				db.Arg("pending", b.pending), db.Arg("pending_at", b.pendingAt))...)
		if err != nil {
			return nil, err
		}
		p, known := plans[b.plan]
		judged[i] = subscriptionState{id: b.ID, plan: b.plan, status: b.Status, created: b.Created, rank: p.Rank,
			accessible: known}
		if since != nil {
			judged[i].pastDue = *since
		}
	}
	_, err := tx.ExecContext(ctx, dropSubscriptionsSQL, accountID, db.Array(ids))
	return judged, err
}

func (s *customers) storeCustomer(ctx context.Context, tx *ent.Tx, c claim, seen state, e entitlement,
	now time.Time) error {
	next, customer, card := daily, c.customer, provider.Card{}
	if c.fresh {
		next = again
	}
	if !e.until.IsZero() {
		next = max(min(next, e.until.Sub(now)), time.Second)
	}
	if seen.customer.Deleted {
		customer = ""
	}
	if seen.card != nil {
		card = *seen.card
	}
	problems, err := json.Marshal(append([]string{}, e.problems...))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, store.Text,
		store.Args(db.Arg("customer", customer), db.Arg("on_file", seen.card != nil), db.Arg("brand", card.Brand),
			db.Arg("last4", card.Last4),
			db.Arg("month", card.Month), db.Arg("year", card.Year), db.Arg("plan", e.plan),
			db.Arg("problems", string(problems)), db.Arg("due", c.due), db.Arg("next", next.Seconds()),
			db.Arg("account", c.accountID), db.Arg("fence", c.fence))...)
	return err
}

// applyEntitlement updates the account if the entitlement differs from the last one. A decision that the
// operator made in between therefore applies until something changes at the provider.
func (s *customers) applyEntitlement(ctx context.Context, tx *ent.Tx, c claim, seen state,
	e entitlement) (bool, error) {
	current, err := tx.Account.Get(ctx, c.accountID)
	if ent.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var change accounts.AccountChange
	changes := map[string]any{}
	if e.plan != c.entitled && e.plan != "" && e.plan != current.PlanID {
		change.Plan, changes["plan"] = &e.plan, e.plan
	}
	if onFile := seen.card != nil; onFile != c.onFile && onFile != (current.PaymentMethodAt != nil) {
		change.PaymentMethod, changes["payment_method"] = &onFile, onFile
	}
	if e.paymentDue != (current.PaymentDueAt != nil) {
		change.PaymentDue, changes["payment_due"] = &e.paymentDue, e.paymentDue
	}
	if change.IsEmpty() {
		return false, nil
	}
	if err := s.accounts.UpdateAccountIn(ctx, tx, c.accountID, change); err != nil {
		return false, err
	}
	return true, audit.Write(ctx, tx,
		audit.Entry{AccountID: c.accountID, Actor: audit.Actor{Kind: audit.BySystem, Name: "billing"},
			Action: "billing.synced",
			Target: c.accountID, Changes: changes})
}
