package hosts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/trackinghost"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/storage/db"
)

// maxAliases is the maximum length of a CNAME chain.
const maxAliases = 8

// sighting is the result of a DNS lookup of a host.
type sighting struct {
	unanswered bool // no answer, or a fault of the operator: the state does not change
	chain      []string
	points     bool // points to this installation
	advice     string
}

// lookUp follows the CNAME chain one alias at a time, because the target may appear anywhere in it.
func (s *Service) lookUp(ctx context.Context, host, domainID string) sighting {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	var chain []string
	for at := host; len(chain) < maxAliases; at = chain[len(chain)-1] {
		next, err := s.dns.LookupCNAME(ctx, at)
		if errors.Is(err, dnsx.ErrNotFound) {
			break
		}
		if err != nil {
			return sighting{unanswered: true,
				advice: fmt.Sprintf("The DNS servers of %s did not answer. Verify again, or wait for the next check.",
					host)}
		}
		chain = append(chain, strings.ToLower(strings.TrimSuffix(next, ".")))
		if chain[len(chain)-1] == s.config.Target {
			break
		}
	}
	return s.config.compareChain(host, domainID, chain)
}

// compareChain checks that the chain leads to Target, directly or through the domain's own target.
func (c Config) compareChain(host, domainID string, chain []string) sighting {
	own := c.ownTarget(domainID)
	target := dnscheck.ChooseTarget(own, c.Target, nil, c.OwnTargets)
	seen := sighting{chain: chain}
	switch {
	case slices.Contains(chain, c.Target):
		seen.points = true
	case slices.Contains(chain, own): // the owner of the domain cannot fix this
		seen.unanswered = true
		seen.advice = dnscheck.AdviseOperator(dnscheck.ExplainMissingWildcard(own, c.Target))
	case len(chain) == 0:
		seen.advice = fmt.Sprintf("Publish a CNAME record at %s that points to %s. An address record or a proxy does not work.", host, target)
	default:
		seen.advice = fmt.Sprintf("Point the CNAME record at %s to %s. It currently points to %s.", host, target,
			chain[len(chain)-1])
	}
	return seen
}

// job is a host claimed for a check. A manual check has no fence.
type job struct {
	host  *ent.TrackingHost
	fence *int64
}

type checkedHost struct {
	job  job
	seen sighting
}

// Intervals between checks. A host in an unexpected state is checked again after a fraction of the time it has
// been in that state.
const (
	soonest       = time.Minute
	latest        = 6 * time.Hour
	healthy       = 12 * time.Hour
	LongestPause  = healthy * 11 / 10 // maximum interval between two checks of a host; intervals vary by a tenth
	afterNoAnswer = 10 * time.Minute
	checkTimeout  = 10 * time.Second
	failAfter     = 72 * time.Hour // a host whose CNAME has been missing for this long has failed
	checks        = 4              // concurrent checks in the background
)

// storeSQL implements the state machine: pending becomes verified; verified becomes failed once the record has
// been missing for failAfter; failed becomes verified. A lookup without an answer changes only the time of the
// next check.
var storeSQL = db.Compile(`
UPDATE tracking_hosts t SET
       status = v.next, failing_since = v.failing, updated_at = CASE WHEN t.status = v.next THEN t.updated_at ELSE now() END,
       verified_at = CASE WHEN v.next = 'verified' AND t.status <> 'verified' THEN now() ELSE t.verified_at END,
       found = CASE WHEN @unanswered THEN t.found ELSE @chain::jsonb END, error = @advice, fence = t.fence + 1,
       last_checked_at = CASE WHEN @unanswered THEN t.last_checked_at ELSE now() END,
       due_at = now() + (0.9 + 0.2 * random()) * CASE
         WHEN @unanswered THEN make_interval(secs => @after_no_answer)
         WHEN @points THEN make_interval(secs => @healthy)
         ELSE least(greatest((now() - coalesce(v.failing, t.updated_at)) / 4, make_interval(secs => @soonest)), make_interval(secs => @latest)) END
  FROM (SELECT h.id, h.status AS before,
               CASE WHEN @unanswered THEN h.status WHEN @points THEN 'verified'
                    WHEN h.status = 'verified' AND h.failing_since <= now() - make_interval(secs => @fail_after) THEN 'failed' ELSE h.status END AS next,
               CASE WHEN @unanswered THEN h.failing_since WHEN NOT @points AND h.status <> 'pending' THEN coalesce(h.failing_since, now()) END AS failing
          FROM tracking_hosts h WHERE h.id = @id AND h.account_id = @account_id AND h.host = @host AND (@fence::bigint IS NULL OR h.fence = @fence) FOR UPDATE) v
 WHERE t.id = v.id RETURNING v.before, v.next`)

// storeChecks stores checks in one transaction. It skips hosts that another process has changed or checked in
// the meantime.
func (s *Service) storeChecks(ctx context.Context, checks []checkedHost) error {
	var verified []string
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		for _, c := range checks {
			before, after, err := s.storeOne(ctx, tx, c)
			if err != nil {
				return err
			}
			if before != after {
				s.log.InfoContext(ctx, "tracking host changed", slog.String(telemetry.KeyDomainID, c.job.host.DomainID),
					slog.String("host", c.job.host.Host),
					slog.String("from", before), slog.String("to", after))
			}
			if after == string(trackinghost.StatusVerified) {
				verified = append(verified, c.job.host.Host)
			}
		}
		return nil
	})
	if err == nil && s.certificates != nil {
		s.certificates.Obtain(verified...)
	}
	return err
}

func (s *Service) storeOne(ctx context.Context, tx *ent.Tx, c checkedHost) (before, after string, err error) {
	chain, err := json.Marshal(append([]string{}, c.seen.chain...))
	if err != nil {
		return "", "", err
	}
	err = db.Each(ctx, tx, func(row db.Row) error { return row.Scan(&before, &after) }, storeSQL.Text, storeSQL.Args(
		db.Arg("id", c.job.host.ID), db.Arg("account_id", c.job.host.AccountID), db.Arg("host", c.job.host.Host),
		db.Arg("fence", c.job.fence),
		db.Arg("unanswered", c.seen.unanswered), db.Arg("points", c.seen.points), db.Arg("chain", string(chain)),
		db.Arg("advice", c.seen.advice),
		db.Arg("fail_after", failAfter.Seconds()), db.Arg("after_no_answer", afterNoAnswer.Seconds()),
		db.Arg("healthy", healthy.Seconds()),
		db.Arg("soonest", soonest.Seconds()), db.Arg("latest", latest.Seconds()))...)
	return before, after, err
}

func (s *Service) newQueue() worker.Queue[job, sighting] {
	return worker.Queue[job, sighting]{Name: "tracking_hosts", Claim: s.claim, Release: s.release,
		Run: func(ctx context.Context, j job, _ *worker.Lease) sighting {
			seen := s.lookUp(ctx, j.host.Host, j.host.DomainID)
			if ctx.Err() != nil {
				return sighting{unanswered: true} // a cancelled lookup says nothing about DNS
			}
			return seen
		},
		Settle: func(ctx context.Context, results []worker.Result[job, sighting]) error {
			checks := make([]checkedHost, len(results))
			for i, r := range results {
				checks[i] = checkedHost{r.Job, r.Value}
			}
			return s.storeChecks(ctx, checks)
		}}
}

const claimSQL = `
UPDATE tracking_hosts SET fence = fence + 1, due_at = now() + make_interval(secs => $2)
 WHERE id IN (SELECT id FROM tracking_hosts WHERE due_at <= now() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING id, account_id, domain_id, host, fence`

func (s *Service) claim(ctx context.Context, limit int, lease time.Duration) ([]job, error) {
	jobs, err := db.All(ctx, s.db.SQL, func(j *job) []any {
		h := &ent.TrackingHost{}
		*j = job{h, &h.Fence}
		return []any{&h.ID, &h.AccountID, &h.DomainID, &h.Host, &h.Fence}
	}, claimSQL, limit, lease.Seconds())
	if err != nil {
		return nil, fmt.Errorf("claim tracking hosts: %w", err)
	}
	return jobs, nil
}

// release makes claimed hosts due again that were not checked.
func (s *Service) release(ctx context.Context, jobs []job) error {
	for _, j := range jobs {
		if _, err := s.db.SQL.ExecContext(ctx,
			`UPDATE tracking_hosts SET due_at = now(), fence = fence + 1 WHERE id = $1 AND fence = $2`, j.host.ID, *j.fence); err != nil {
			return err
		}
	}
	return nil
}
