package metering

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/postrider/postrider/modules/billing/provider"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Service reports usage. It is safe for concurrent use, including across processes.
type Service struct {
	db     *db.DB
	stripe *provider.Client
	log    *slog.Logger
}

// New returns a new Service.
func New(d *db.DB, stripe *provider.Client, log *slog.Logger) *Service {
	return &Service{d, stripe, log}
}

// oldest is the maximum age of usage that is reported: one day less than the provider's limit of 35 days.
const oldest = "34 days"

// billedSQL selects subscriptions whose usage is billed.
const billedSQL = `metered AND status IN ('active', 'trialing', 'past_due')`

// BillsUsage reports whether usage is billed for a subscription with this status. It must agree with billedSQL.
func BillsUsage(status string) bool {
	return status == "active" || status == "trialing" || status == "past_due"
}

// meteredSQL selects the accounts whose usage is reported, and their range of hours: from the hour in which
// the metered price began to the hour in which it ended. Earlier hours are not billed at that price. An hour
// is reported once it has ended, and the last invoice contains the usage until then.
const meteredSQL = `(SELECT account_id, min(date_trunc('hour', metered_since)) AS since, max(CASE WHEN ` + billedSQL + ` THEN 'infinity' ELSE metered_until END) AS until
	FROM billing_subscriptions WHERE ` + billedSQL + ` OR metered_until > now() - interval '` + oldest + `' GROUP BY account_id)`

// queueSQL creates rows for closed hours, and queues corrected hours again.
const queueSQL = `
INSERT INTO usage_reports AS r (account_id, hour, emails, due_at)
SELECT u.account_id, u.hour, u.emails, now() FROM usage_hours u JOIN ` + meteredSQL + ` m ON m.account_id = u.account_id
 WHERE u.hour >= m.since AND u.hour < m.until AND u.hour >= now() - interval '` + oldest + `' AND u.hour < (SELECT hour FROM usage_marks)
 ORDER BY u.account_id, u.hour
ON CONFLICT (account_id, hour) DO UPDATE SET emails = excluded.emails, revision = r.revision + 1, due_at = now(), tries = 0, stuck_reason = NULL
 WHERE r.emails <> excluded.emails`

const (
	batch = 50

	claimSQL = `
UPDATE usage_reports r SET fence = r.fence + 1, due_at = now() + interval '30 seconds'
  FROM billing_customers c
 WHERE c.id = r.account_id AND c.customer_id IS NOT NULL AND (r.account_id, r.hour) IN (
	SELECT account_id, hour FROM usage_reports u WHERE due_at <= now() AND reported_revision < revision AND stuck_reason IS NULL AND ($2 = '' OR account_id = $2)
	   AND EXISTS (SELECT FROM billing_customers k WHERE k.id = u.account_id AND k.customer_id IS NOT NULL)
	 ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING r.account_id, r.hour, r.emails, r.revision, r.fence, r.tries, c.customer_id, r.hour < now() - interval '` + oldest + `'`

	toldSQL = `
UPDATE usage_reports SET reported_revision = $4, reported_emails = $5, tries = 0 WHERE account_id = $1 AND hour = $2 AND fence = $3`

	// A failed report is repeated after 1, 5 and 15 minutes, and then every 60 minutes.
	laterSQL = `
UPDATE usage_reports SET tries = tries + 1, due_at = now() + $4 * interval '1 second' WHERE account_id = $1 AND hour = $2 AND fence = $3`

	stuckSQL = `UPDATE usage_reports SET stuck_reason = $4 WHERE account_id = $1 AND hour = $2 AND fence = $3`

	// A rejected key affects all hours.
	pauseSQL = `UPDATE usage_reports SET due_at = greatest(due_at, now() + interval '5 minutes') WHERE reported_revision < revision AND stuck_reason IS NULL`
)

// orphanSQL marks hours of customers that were deleted at the provider, because they can no longer be billed.
const orphanSQL = `
UPDATE usage_reports r SET stuck_reason = 'the customer was deleted at the payment provider'
 WHERE reported_revision < revision AND stuck_reason IS NULL AND NOT EXISTS (SELECT FROM billing_customers c WHERE c.id = r.account_id AND c.customer_id IS NOT NULL)`

type report struct {
	accountID string
	hour      time.Time
	emails    int64
	revision  int
	fence     int64
	tries     int
	customer  string
	tooOld    bool
}

// identifier returns the idempotent identifier of the report.
func (r report) identifier() string {
	return fmt.Sprintf("%s:%s:%d", r.accountID, r.hour.UTC().Format("2006-01-02T15"), r.revision)
}

var waits = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}

// Queue creates rows for the hours that have ended.
func (s *Service) Queue(ctx context.Context) error {
	for _, statement := range []string{queueSQL, orphanSQL} {
		if _, err := s.db.SQL.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("queue usage: %w", err)
		}
	}
	return nil
}

// Run reports the hours that are due.
func (s *Service) Run(ctx context.Context) error {
	if err := s.Queue(ctx); err != nil {
		return err
	}
	return s.reportAccount(ctx, "")
}

func (s *Service) reportAccount(ctx context.Context, accountID string) error {
	for n := batch; n == batch; {
		list, err := db.All(ctx, s.db.SQL, func(r *report) []any {
			return []any{&r.accountID, &r.hour, &r.emails, &r.revision, &r.fence, &r.tries, &r.customer, &r.tooOld}
		}, claimSQL, batch, accountID)
		if err != nil {
			return fmt.Errorf("due usage: %w", err)
		}
		for _, r := range list {
			if paused, err := s.reportHour(ctx, r); err != nil || paused {
				return err
			}
		}
		n = len(list)
	}
	return nil
}

// reportHour reports an hour. It returns paused if no report can succeed now.
func (s *Service) reportHour(ctx context.Context, r report) (paused bool, err error) {
	if r.tooOld {
		return false, s.markStuck(ctx, r, "the hour is older than the provider accepts")
	}
	said := s.stripe.ReportUsage(ctx, r.customer, r.identifier(), r.hour, r.emails)
	switch {
	case said == nil, provider.Duplicate(said):
		_, err = s.db.SQL.ExecContext(ctx, toldSQL, r.accountID, r.hour, r.fence, r.revision, r.emails)
	case provider.KindOf(said) == provider.Unavailable:
		wait := waits[min(r.tries, len(waits)-1)]
		_, err = s.db.SQL.ExecContext(ctx, laterSQL, r.accountID, r.hour, r.fence, wait.Seconds())
		s.log.WarnContext(ctx, "cannot report usage to the payment provider", "account_id", r.accountID, "hour", r.hour,
			"error", provider.ErrorMessage(said), "again_in", wait)
	case provider.KindOf(said) == provider.Refused:
		s.log.ErrorContext(ctx, "the payment provider rejects the key; usage reports are paused for 5 minutes", "error",
			provider.ErrorMessage(said))
		_, err = s.db.SQL.ExecContext(ctx, pauseSQL)
		return true, err
	default:
		err = s.markStuck(ctx, r, provider.ErrorMessage(said))
	}
	return false, err
}

func (s *Service) markStuck(ctx context.Context, r report, reason string) error {
	s.log.ErrorContext(ctx,
		"usage of an hour cannot be reported to the payment provider; see postrider admin billing usage",
		"account_id", r.accountID, "hour", r.hour, "reason", reason)
	_, err := s.db.SQL.ExecContext(ctx, stuckSQL, r.accountID, r.hour, r.fence, reason)
	return err
}

const openSQL = `
SELECT coalesce((SELECT hour < $3 FROM usage_marks), true) OR EXISTS (
	SELECT FROM usage_reports WHERE account_id = $1 AND hour >= $2 AND hour < $3 AND reported_revision < revision AND stuck_reason IS NULL)`

// IsSettled reports whether all hours of a period are reported and match the provider's totals. It first
// reports as many hours as it can.
func (s *Service) IsSettled(ctx context.Context, accountID, customer string, since, until time.Time) (bool, error) {
	if err := s.Queue(ctx); err != nil {
		return false, err
	}
	if err := s.reportAccount(ctx, accountID); err != nil {
		return false, err
	}
	open, err := db.One(ctx, s.db.SQL, db.Value[bool], openSQL, accountID, since, until)
	if err != nil || open {
		return false, err
	}
	repaired, err := s.reconcile(ctx, accountID, customer, since, until)
	if err != nil || repaired == 0 {
		return err == nil, err
	}
	if err := s.reportAccount(ctx, accountID); err != nil {
		return false, err
	}
	open, err = db.One(ctx, s.db.SQL, db.Value[bool], openSQL, accountID, since, until)
	return !open, err
}

const (
	reportedSQL = `
SELECT hour, emails, repairs FROM usage_reports WHERE account_id = $1 AND hour >= $2 AND hour < $3 AND reported_revision = revision AND stuck_reason IS NULL`

	repairSQL = `
UPDATE usage_reports SET revision = revision + 1, repairs = repairs + 1, due_at = now(), tries = 0
 WHERE account_id = $1 AND hour = $2 AND reported_revision = revision`

	customersSQL = `
SELECT c.id, c.customer_id FROM billing_customers c JOIN ` + meteredSQL + ` m ON m.account_id = c.id WHERE c.customer_id IS NOT NULL AND c.id > $1 ORDER BY c.id LIMIT 100`
)

// countingDelay is how long the provider may take to count a report.
const countingDelay = 30 * time.Minute

// reconcile queues hours again whose totals at the provider differ from ours.
func (s *Service) reconcile(ctx context.Context, accountID, customer string, since,
	until time.Time) (repaired int, err error) {
	type hour struct {
		at      time.Time
		emails  int64
		repairs int
	}
	since, until = since.UTC().Truncate(time.Hour), until.UTC().Truncate(time.Hour)
	if limit := time.Now().UTC().Add(-countingDelay).Truncate(time.Hour); until.After(limit) {
		until = limit
	}
	if !since.Before(until) {
		return 0, nil
	}
	list, err := db.All(ctx, s.db.SQL, func(h *hour) []any { return []any{&h.at, &h.emails, &h.repairs} }, reportedSQL,
		accountID, since, until)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	meter, err := s.stripe.Meter(ctx)
	if err != nil || meter == "" {
		return 0, err
	}
	told, err := s.stripe.ReportedUsage(ctx, meter, customer, since, until)
	if err != nil {
		return 0, err
	}
	for _, h := range list {
		there := told[h.at.UTC()]
		if there == h.emails {
			continue
		}
		level := slog.LevelWarn
		if h.repairs > 0 {
			level = slog.LevelError
		}
		s.log.Log(ctx, level, "the payment provider has a different total for an hour; reporting it again",
			"account_id", accountID, "hour", h.at, "here", h.emails, "there", there, "times", h.repairs+1)
		if _, err := s.db.SQL.ExecContext(ctx, repairSQL, accountID, h.at); err != nil {
			return repaired, err
		}
		repaired++
	}
	return repaired, nil
}

// Reconcile compares the current and the previous month of every metered account.
func (s *Service) Reconcile(ctx context.Context) error {
	now := time.Now().UTC()
	since := time.Date(now.Year(), now.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	if taken := now.Add(-34 * 24 * time.Hour); since.Before(taken) {
		since = taken
	}
	for after := ""; ; {
		type pair struct{ account, customer string }
		list, err := db.All(ctx, s.db.SQL, func(p *pair) []any { return []any{&p.account, &p.customer} },
			customersSQL, after)
		if err != nil || len(list) == 0 {
			return err
		}
		var failed []error
		for _, p := range list {
			_, err := s.reconcile(ctx, p.account, p.customer, since, now)
			failed = append(failed, err)
		}
		if err := errors.Join(failed...); err != nil {
			return fmt.Errorf("reconcile usage: %w", err)
		}
		after = list[len(list)-1].account
	}
}

// Backlog describes the unreported usage.
type Backlog struct {
	Hours  int64
	Oldest time.Duration // since the end of the oldest hour
	Stuck  []Stuck
}

// Stuck is an hour that the provider does not accept.
type Stuck struct {
	AccountID string
	Hour      time.Time
	Emails    int64
	Reason    string
}

const (
	backlogSQL = `
SELECT count(*), coalesce(extract(epoch FROM now() - min(hour) - interval '1 hour'), 0)::bigint FROM usage_reports WHERE reported_revision < revision AND stuck_reason IS NULL`
	stuckListSQL = `SELECT account_id, hour, emails, stuck_reason FROM usage_reports WHERE stuck_reason IS NOT NULL ORDER BY hour LIMIT 100`
)

// Backlog returns the unreported usage, for the operator.
func (s *Service) Backlog(ctx context.Context) (b Backlog, err error) {
	type line struct{ hours, seconds int64 }
	found, err := db.One(ctx, s.db.SQL, func(l *line) []any { return []any{&l.hours, &l.seconds} }, backlogSQL)
	if err != nil {
		return b, fmt.Errorf("unreported usage: %w", err)
	}
	b.Hours, b.Oldest = found.hours, time.Duration(max(found.seconds, 0))*time.Second
	b.Stuck, err = db.All(ctx, s.db.SQL,
		func(t *Stuck) []any { return []any{&t.AccountID, &t.Hour, &t.Emails, &t.Reason} }, stuckListSQL)
	return b, err
}
