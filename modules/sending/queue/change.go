package queue

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// Operation is an operation on the recipients of a selection. It works in steps of one transaction each, so that
// a large change blocks nothing else. A committed step stays if a later one fails.
type Operation struct {
	Selection Selection
	DryRun    bool
	// Progress, if not nil, is called after each step with the number of recipients processed and in total.
	Progress func(done, of int)
}

// Result is the result of a change.
type Result struct {
	Matched int // recipients that the selection named
	Changed int // number of matches that the operation changed; 0 with DryRun
}

// stepSize is how many recipients one transaction changes at most.
const stepSize = 1000

// Each operation has a condition that a recipient must still meet when its row is locked, and the changes to
// make then. Rows that another transaction has locked are skipped, and tried once more at the end.
const (
	// A step passes the recipients' emails as $1 and their ids as $2.
	stepSQL     = `unnest($1::text[], $2::bigint[]) AS v (email_id, id) JOIN recipients r ON ` + lifecycle.RecipientSQL
	stepOnlySQL = `WHERE ` + lifecycle.RecipientSQL

	retrySQL = `
UPDATE recipients r SET due_at = now(), lane = NULL
FROM (SELECT r.email_id, r.id FROM ` + stepSQL + ` WHERE r.due_at IS NOT NULL AND (r.due_at > now() OR r.lane IS NOT NULL)
	AND r.held_by IS NULL AND NOT ` + runningSQL + ` ORDER BY r.id FOR UPDATE OF r SKIP LOCKED) v
` + stepOnlySQL + ` RETURNING r.id`

	holdSQL = `
UPDATE recipients r SET lane = NULL, held_by = 'operator'
FROM (SELECT r.email_id, r.id FROM ` + stepSQL + ` WHERE r.due_at IS NOT NULL AND r.held_by IS DISTINCT FROM 'operator'
	ORDER BY r.id FOR UPDATE OF r SKIP LOCKED) v
` + stepOnlySQL + ` RETURNING r.id`

	holdForAccountSQL = `
UPDATE recipients r SET lane = NULL, held_by = 'account'
FROM (SELECT r.email_id, r.id FROM ` + stepSQL + ` WHERE r.due_at IS NOT NULL AND r.held_by IS NULL
	ORDER BY r.id FOR UPDATE OF r SKIP LOCKED) v
` + stepOnlySQL + ` RETURNING r.id`

	releaseHeldSQL       = releaseWhereSQL + `r.held_by IS NOT NULL` + releaseEndSQL
	releaseForAccountSQL = releaseWhereSQL + `r.held_by = 'account'` + releaseEndSQL

	// A running recipient keeps its lease.
	releaseWhereSQL = `
UPDATE recipients r SET held_by = NULL, due_at = CASE WHEN v.running THEN r.due_at ELSE now() END
FROM (SELECT r.email_id, r.id, ` + runningSQL + ` AS running FROM ` + stepSQL + ` WHERE r.due_at IS NOT NULL AND `
	releaseEndSQL = `
	ORDER BY r.id FOR UPDATE OF r SKIP LOCKED) v
` + stepOnlySQL + ` RETURNING r.id`

	dropSQL = `
UPDATE recipients r SET state = 'failed', due_at = NULL, lane = NULL, held_by = NULL, settled_at = now(), fence = r.fence + 1, diagnostic = $3
FROM (SELECT r.email_id, r.id FROM ` + stepSQL + ` WHERE r.due_at IS NOT NULL ORDER BY r.id FOR UPDATE OF r SKIP LOCKED) v
` + stepOnlySQL + ` RETURNING r.id, r.email_id, r.address`
)

// Retry makes recipients due now, in the common queue. Held recipients stay held; those that are already due
// or running are not changed.
func (s *Service) Retry(ctx context.Context, c Operation) (Result, error) {
	return s.applyChange(ctx, "retry", c, s.updateStep(retrySQL))
}

// Hold keeps recipients from being tried until Release or Drop. Their deadlines stay: retries still end 72
// hours after acceptance, and expires_at still applies.
func (s *Service) Hold(ctx context.Context, c Operation) (Result, error) {
	return s.applyChange(ctx, "hold", c, s.updateStep(holdSQL))
}

// Release releases recipients, whether the operator or the account holds them, and makes them due now.
func (s *Service) Release(ctx context.Context, c Operation) (Result, error) {
	return s.applyChange(ctx, "release", c, s.updateStep(releaseHeldSQL))
}

// updateStep returns a step that changes only recipients.
func (s *Service) updateStep(statement string) step {
	return func(ctx context.Context, all []found) (changed []int64, err error) {
		emails, ids := stepArgs(all)
		err = s.db.InHotTx(ctx, func(tx *sql.Tx) error {
			changed, err = db.All(ctx, tx, db.Value[int64], statement, emails, ids)
			return err
		})
		return changed, err
	}
}

// step applies an operation to at most stepSize recipients and returns the ids of those that it changed.
type step func(ctx context.Context, all []found) (changed []int64, err error)

// found is a recipient of a selection. Its email determines its month where the table is split by month.
type found struct {
	emailID string
	id      int64
}

// stepArgs returns the emails and ids as statement arguments.
func stepArgs(all []found) (emails, ids any) {
	emailIDs, numbers := make([]string, len(all)), make([]int64, len(all))
	for i, f := range all {
		emailIDs[i], numbers[i] = f.emailID, f.id
	}
	return db.Array(emailIDs), db.Array(numbers)
}

func (s *Service) applyChange(ctx context.Context, name string, c Operation, do step) (Result, error) {
	if err := c.Selection.Validate().Err(); err != nil {
		return Result{}, err
	}
	all, err := s.findRecipients(ctx, c.Selection)
	result := Result{Matched: len(all)}
	if err != nil || c.DryRun {
		return result, err
	}
	var left []found
	for pass := range 2 { // the second pass is for rows that were locked
		done := 0
		for chunk := range slices.Chunk(all, stepSize) {
			changed, err := do(ctx, chunk)
			if err != nil {
				return result, fmt.Errorf("%s: %w", name, err)
			}
			result.Changed += len(changed)
			done += len(chunk)
			left = append(left, excludeIDs(chunk, changed)...)
			if pass == 0 && c.Progress != nil {
				c.Progress(done, result.Matched)
			}
		}
		all, left = left, nil
	}
	return result, nil
}

// findRecipients returns the recipients of the selection. It runs once, because every step would otherwise read the
// whole queue.
func (s *Service) findRecipients(ctx context.Context, of Selection) ([]found, error) {
	var query db.Query
	query.Text = `SELECT r.email_id, r.id FROM ` + of.fromSQL(&query, `r.email_id, r.id`) + ` ORDER BY r.id`
	all, err := db.All(ctx, s.db.SQL, columnsOfFound, query.Text, query.Args...)
	if err != nil {
		return nil, fmt.Errorf("find in queue: %w", err)
	}
	return all, nil
}

func columnsOfFound(f *found) []any { return []any{&f.emailID, &f.id} }

func excludeIDs(all []found, some []int64) []found {
	gone := make(map[int64]bool, len(some))
	for _, id := range some {
		gone[id] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(f found) bool { return gone[f.id] })
}

// CodeDropped is failure.code of email.failed for a recipient that an operator dropped.
const CodeDropped = "dropped"

// maxReason bounds the reason of a drop, in characters.
const maxReason = 500

// Drop ends recipients permanently: they fail with the given reason, which the sender receives with
// email.failed. It says nothing about the address, so the address is not suppressed. Error: Invalid naming
// `reason` or `selection`.
func (s *Service) Drop(ctx context.Context, c Operation, reason string) (Result, error) {
	if err := validateReason(reason); err != nil {
		return Result{}, err
	}
	return s.applyChange(ctx, "drop", c, func(ctx context.Context, all []found) (changed []int64, err error) {
		var facts []event.Fact
		err = s.db.InHotTx(ctx, func(tx *sql.Tx) error {
			changed, facts, err = s.dropRecipients(ctx, tx, all, reason)
			return err
		})
		if err == nil {
			s.bus.WakeFor(facts...)
		}
		return changed, err
	})
}

func validateReason(reason string) error {
	switch n := len([]rune(reason)); {
	case n == 0:
		return fault.InvalidField("reason", "is required; the sender receives it with email.failed")
	case n > maxReason:
		return fault.InvalidField("reason", "must be at most %d characters", maxReason)
	default:
		return nil
	}
}
