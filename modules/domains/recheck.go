package domains

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/reportaddress"
	"github.com/postrider/postrider/runtime/storage/db"
)

// checksAtOnce is the number of concurrent background checks in a process.
const checksAtOnce = 8

// job is a domain claimed for a check.
type job struct {
	domain *ent.Domain
	fence  int64
}

// checked is the result of a check. A check with an error changes nothing.
type checked struct {
	seen []dnscheck.Observation
	err  error
}

// checks looks up the records of domains, on request or in the background, and stores the results.
type checks struct {
	db      *db.DB
	bus     publisher
	keys    *signing.Ring
	checker dnscheck.Checker
	hosts   dnscheck.Hosts // host names of this installation
	reports *reportaddress.Signer
	lookups *lookups

	certificates PolicyCertificates

	log    *slog.Logger
	worker *worker.Worker[job, checked]
}

func (s *checks) queue() worker.Queue[job, checked] {
	return worker.Queue[job, checked]{Name: "domains", Claim: s.claim, Run: s.run, Settle: s.settle, Release: s.release}
}

const claimDue = `
UPDATE domains SET fence = fence + 1, due_at = now() + make_interval(secs => $2)
 WHERE id IN (SELECT id FROM domains WHERE due_at <= now() AND NOT seeded AND account_id IS NOT NULL
               ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING id`

func (s *checks) claim(ctx context.Context, limit int, lease time.Duration) ([]job, error) {
	var jobs []job
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		ids, err := db.All(ctx, tx, db.Value[string], claimDue, limit, lease.Seconds())
		if err != nil || len(ids) == 0 {
			return err
		}
		rows, err := tx.Domain.Query().Where(domain.IDIn(ids...)).WithKeys(signing.LoadListedKeys).All(ctx)
		if err != nil {
			return err
		}
		jobs = make([]job, len(rows))
		for i, row := range rows {
			jobs[i] = job{domain: row.Unwrap(), fence: row.Fence}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claim domains: %w", err)
	}
	return jobs, nil
}

// check looks up the records of a domain. DNS failures are observations. It returns an error if a key cannot
// be opened.
func (s *checks) check(ctx context.Context, d *ent.Domain) ([]dnscheck.Observation, error) {
	signers, err := s.keys.Signers(ctx, d)
	if err != nil {
		return nil, err
	}
	return s.checker.CheckRecords(ctx, expectedRecords(d, s.hostsOf(d)), signers), nil
}

func (s *checks) run(ctx context.Context, j job, _ *worker.Lease) checked {
	seen, err := s.check(ctx, j.domain)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx) // a canceled lookup proves nothing
	}
	return checked{seen: seen, err: err}
}

// settle stores the results of a batch. A failed check is repeated when its lease expires.
func (s *checks) settle(ctx context.Context, results []worker.Result[job, checked]) error {
	outcomes := make([]outcome, len(results))
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		for i, r := range results {
			if r.Value.err != nil {
				outcomes[i] = outcome{gone: true}
				continue
			}
			var err error
			if outcomes[i], err = s.store(ctx, tx, r.Job.domain, &r.Job.fence, r.Value.seen); err != nil {
				return fmt.Errorf("store check of %s: %w", r.Job.domain.ID, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, r := range results {
		if r.Value.err != nil {
			s.log.Warn("domain check failed; retried after its lease expires", "domain_id", r.Job.domain.ID, "error",
				r.Value.err)
		}
		s.announce(r.Job.domain, outcomes[i])
	}
	return nil
}

// release makes claimed domains due again if they were not checked.
func (s *checks) release(ctx context.Context, jobs []job) error {
	return s.db.InTx(ctx, func(tx *ent.Tx) error {
		for _, j := range jobs {
			if _, err := tx.ExecContext(ctx,
				`UPDATE domains SET due_at = now(), fence = fence + 1 WHERE id = $1 AND fence = $2`, j.domain.ID, j.fence); err != nil {
				return err
			}
		}
		return nil
	})
}
