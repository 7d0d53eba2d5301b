package automations

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/automation"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Retry resumes a run that failed within the last 30 days at the step that failed. It returns NotFound, or
// Conflict if the run has not failed, if the automation is archived, or if it allows one run at a time and the
// person has another live one.
func (s *Service) Retry(ctx context.Context, accountID, runID string, keep KeepRun) (out RunDetail, err error) {
	run, err := s.Run(ctx, accountID, runID)
	if err != nil {
		return RunDetail{}, err
	}
	if err := s.mayRetry(ctx, accountID, run.AutomationID); err != nil {
		return RunDetail{}, err
	}
	if run.Version == 0 {
		return RunDetail{}, fault.Conflictf(fault.CodeConflict, "This run was a test; test again instead")
	}
	f := failedRun{id: runID, version: run.Version,
		person: runs.Person{AccountID: run.AccountID, UserID: orEmpty(run.UserID), EmailKey: orEmpty(run.EmailKey)}}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		free, err := s.freeToGoOn(ctx, tx, run.AutomationID, []failedRun{f})
		switch {
		case err != nil:
			return err
		case len(free) == 0:
			return fault.Conflictf(fault.CodeConflict,
				"The person has a live run of this automation, which allows one at a time")
		}
		n, err := runs.Restart(ctx, tx, accountID, runID)
		switch {
		case err != nil:
			return err
		case n == 0:
			return fault.Conflictf(CodeRunNotFailed,
				"Only a run that failed within the last 30 days can be retried. This run is %s.", run.Status).
				With("status", string(run.Status))
		}
		out, err = s.keepRun(ctx, tx, accountID, runID, keep)
		return err
	})
	if err != nil {
		return RunDetail{}, fmt.Errorf("retry run: %w", err)
	}
	s.signals.Wake(ingest.WorkChannel)
	return out, nil
}

// mayRetry returns an error if the automation is archived, because its runs are cancelled.
func (s *Service) mayRetry(ctx context.Context, accountID, automationID string) error {
	a, err := s.Get(ctx, accountID, automationID)
	if err == nil && a.Status == automation.StatusArchived {
		return fault.Conflictf(fault.CodeConflict, "This automation is archived, so its runs cannot be retried")
	}
	return err
}

// failedRun is a run that may be retried.
type failedRun struct {
	id      string
	version int
	person  runs.Person
}

// freeToGoOn locks persons and returns the runs that may resume. If the version allows one run at a time, that
// is at most one run for each person without a live run.
func (s *Service) freeToGoOn(ctx context.Context, tx db.Execer, automationID string,
	list []failedRun) (free []failedRun, err error) {
	persons := make([]runs.Person, len(list))
	for i, f := range list {
		persons[i] = f.person
	}
	if err := runs.LockPerson(ctx, tx, persons...); err != nil {
		return nil, err
	}
	live, err := runs.Lock(ctx, tx, persons)
	if err != nil {
		return nil, err
	}
	var busy []runs.Person
	for _, l := range live {
		if l.Run.AutomationID == automationID {
			busy = append(busy, runs.Person{AccountID: l.AccountID, UserID: l.Run.Identity.UserID,
				EmailKey: l.Run.Identity.EmailKey})
		}
	}
	for _, f := range list {
		v, err := s.versions.Get(ctx, tx, automationID, f.version)
		if err != nil {
			return nil, err
		}
		if v.Definition.Trigger.ReEntry.Mode == definition.AfterCompletion {
			if f.person.IsAny(busy) {
				continue
			}
			busy = append(busy, f.person)
		}
		free = append(free, f)
	}
	return free, nil
}

// Failed selects failed runs to retry.
type Failed struct {
	Since time.Time // that failed at or after this time
	Step  string    // key of the step at which they failed; empty: any
	Keep  func(ctx context.Context, tx idempotency.Execer, n int) error
}

const failedSQL = `
SELECT id, version, account_id, coalesce(user_id, ''), coalesce(email_key, '') FROM automation_runs
WHERE account_id = $1 AND automation_id = $2 AND status = 'failed' AND version > 0 AND id > $3 AND ended_at >= $4 AND ended_at <= $5 AND ended_at > now() - interval '30 days'
	AND (cardinality($6::bigint[]) = 0 OR (version, step_index) IN (SELECT * FROM unnest($6::bigint[], $7::bigint[])))
ORDER BY id LIMIT $8`

func (f *failedRun) columns() []any {
	return []any{&f.id, &f.version, &f.person.AccountID, &f.person.UserID, &f.person.EmailKey}
}

// RetryFailed resumes the failed runs of an automation, each at the step that failed, and returns how many
// there were. It works in transactions of 500 runs; the last one stores the response. Runs that fail again in the
// meantime are not retried again. It returns NotFound, Conflict for an archived automation, or Invalid for an
// unknown step.
func (s *Service) RetryFailed(ctx context.Context, accountID, automationID string,
	in Failed) (restarted int, err error) {
	if err := s.mayRetry(ctx, accountID, automationID); err != nil {
		return 0, err
	}
	versions, indexes := []int64{}, []int64{}
	if in.Step != "" {
		places, err := s.findStepPositions(ctx, accountID, automationID, in.Step)
		if err != nil {
			return 0, err
		}
		for _, p := range places {
			versions, indexes = append(versions, int64(p.version)), append(indexes, int64(p.index))
		}
	}
	until, err := db.One(ctx, s.db.SQL, db.Value[time.Time], `SELECT clock_timestamp()`)
	if err != nil {
		return 0, fmt.Errorf("retry failed runs: %w", err)
	}
	after, done := "", false
	for !done {
		n := 0
		err := s.db.InTx(ctx, func(tx *ent.Tx) error {
			list, err := db.All(ctx, tx, (*failedRun).columns, failedSQL, accountID, automationID, after, in.Since,
				until, db.Array(versions), db.Array(indexes), rowsAtOnce)
			if err != nil {
				return err
			}
			if done = len(list) < rowsAtOnce; len(list) > 0 {
				after = list[len(list)-1].id
				if n, err = s.restartRuns(ctx, tx, accountID, automationID, list); err != nil {
					return err
				}
			}
			if !done || in.Keep == nil {
				return nil
			}
			return in.Keep(ctx, tx, restarted+n)
		})
		if err != nil {
			return 0, fmt.Errorf("retry failed runs: %w", err)
		}
		restarted += n
		s.signals.Wake(ingest.WorkChannel)
	}
	return restarted, nil
}

func (s *Service) restartRuns(ctx context.Context, tx db.Execer, accountID, automationID string,
	list []failedRun) (int, error) {
	free, err := s.freeToGoOn(ctx, tx, automationID, list)
	if err != nil || len(free) == 0 {
		return 0, err
	}
	ids := make([]string, len(free))
	for i, f := range free {
		ids[i] = f.id
	}
	return runs.Restart(ctx, tx, accountID, ids...)
}
