package domains

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// outcome is the result of storing a check.
type outcome struct {
	gone    bool // the row was deleted, or another worker has claimed the check
	from    domain.Status
	to      domain.Status
	claimed bool // valid, but another account has verified the name
	rotated int  // replacements of keys

	policyHost string // needs a certificate; empty: none does
}

const standingSQL = `
SELECT status, check_attempts, coalesce(failing_since <= now() - make_interval(secs => $3), false), coalesce(records, '[]'), now()
  FROM domains WHERE id = $1 AND account_id = $2 AND NOT seeded AND ($4::bigint IS NULL OR fence = $4)
   AND ownership_token = $5 FOR UPDATE`

// The fencing number also increases here: a check that was running meanwhile has seen an older state of DNS and
// changes nothing. The next check is jittered by a tenth, so that domains added together are not always checked
// together.
const storeVerdict = `
UPDATE domains SET status = $2::text, records = $3::jsonb, check_attempts = $4, fence = fence + 1,
       due_at = now() + make_interval(secs => $5 * (0.9 + 0.2 * random())), last_checked_at = now(), updated_at = now(),
       verified_at = CASE WHEN $2::text = 'verified' AND status <> 'verified' THEN now() ELSE verified_at END,
       failing_since = CASE $2::text WHEN 'temporary_failure' THEN coalesce(failing_since, now()) WHEN 'failed' THEN failing_since END
 WHERE id = $1 RETURNING now()`

// store applies the results of a check to the current row, and stores them with their fact. With a fence, it
// applies only to that claim. Without one, the check was requested by a user and takes precedence. Neither
// applies if the domain was lost meanwhile, because then the results only prove what the former owner
// published.
func (s *checks) store(ctx context.Context, tx *ent.Tx, d *ent.Domain, fence *int64,
	seen []dnscheck.Observation) (outcome, error) {
	before, err := lockStanding(ctx, tx, d, fence)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return outcome{gone: true}, nil
	case err != nil:
		return outcome{}, err
	}
	ripe, seen := signing.Turnover(before.keys, seen)
	v := judge(before, seen)
	if age := signing.PendingAge(before.keys, ripe, before.now); age >= 0 {
		v.next = min(v.next, untilWaiting(age))
	}
	result := outcome{from: before.status, to: v.status}
	at, err := writeVerdict(ctx, tx, d, before, v)
	if fault.IsDuplicate(err) {
		// Another account verified the name first: store the results, but not the status.
		result.claimed, result.to = true, before.status
		v.status, v.attempts = before.status, before.attempts+1
		v.next = nextInterval(v.status, v.attempts)
		at, err = write(ctx, tx, d, v)
	}
	if err != nil {
		return outcome{}, err
	}
	if result.rotated, err = activate(ctx, tx, s.bus, d, at, ripe); err != nil {
		return outcome{}, err
	}
	if CanSend(result.to) && dnscheck.HasPolicyHost(v.records, s.hosts.Policies) {
		result.policyHost = dnscheck.PolicyHost(d.Name)
	}
	changed := result.to != result.from || !dnscheck.SameResults(before.records, v.records)
	if err := storeHistory(ctx, tx, d, result.to, v.records, changed); err != nil {
		return outcome{}, err
	}
	if typ, told := facts[result.to]; told && result.to != result.from {
		fact := event.New(*d.AccountID, typ, at, event.Domain{DomainID: d.ID, Name: d.Name, Status: string(result.to)})
		if err := s.bus.Publish(ctx, tx, fact); err != nil {
			return outcome{}, err
		}
	}
	return result, nil
}

func lockStanding(ctx context.Context, tx *ent.Tx, d *ent.Domain, fence *int64) (standing, error) {
	before, err := db.One(ctx, tx, func(b *standing) []any {
		return []any{&b.status, &b.attempts, &b.overdue, db.ScanJSON(&b.records), &b.now}
	}, standingSQL, d.ID, *d.AccountID, failAfter.Seconds(), fence, d.OwnershipToken)
	if err != nil {
		return standing{}, err
	}
	before.keys, err = signing.LockKeys(ctx, tx, d.ID)
	return before, err
}

// writeVerdict writes the verdict. Verifying a domain can violate the index that allows one owner per name, so it
// uses a savepoint that keeps the transaction usable.
func writeVerdict(ctx context.Context, tx *ent.Tx, d *ent.Domain, before standing, v verdict) (time.Time, error) {
	if CanSend(before.status) || !CanSend(v.status) {
		return write(ctx, tx, d, v)
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT promote"); err != nil {
		return time.Time{}, err
	}
	at, err := write(ctx, tx, d, v)
	if fault.IsDuplicate(err) {
		if _, undo := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT promote"); undo != nil {
			return time.Time{}, undo
		}
	}
	return at, err
}

func write(ctx context.Context, tx *ent.Tx, d *ent.Domain, v verdict) (at time.Time, err error) {
	records, err := json.Marshal(v.records)
	if err != nil {
		return time.Time{}, err
	}
	return db.One(ctx, tx, db.Value[time.Time], storeVerdict, d.ID, string(v.status), string(records), v.attempts,
		v.next.Seconds())
}

// announce notifies other modules after a commit.
func (s *checks) announce(d *ent.Domain, o outcome) {
	switch {
	case o.gone:
		return
	case o.claimed:
		s.log.Info("domain is verified by another account", slog.String("domain_id", d.ID),
			slog.String("domain", d.Name))
	case o.to != o.from:
		s.log.Info("domain changed", slog.String("domain_id", d.ID), slog.String("domain", d.Name),
			slog.String("from", string(o.from)), slog.String("to", string(o.to)))
		s.bus.Wake()
	}
	if o.rotated > 0 {
		s.log.Info("dkim key rotated", slog.String("domain_id", d.ID), slog.String("domain", d.Name))
		s.bus.Wake()
	}
	s.lookups.forget(*d.AccountID, d.Name)
	if o.policyHost != "" && s.certificates != nil {
		s.certificates.Obtain(o.policyHost)
	}
}
