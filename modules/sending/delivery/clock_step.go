package delivery

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
)

// repairDueSQL corrects recipients whose due time is too far in the future: more than suspendedFor ahead if
// they were never tried, otherwise more than the pause after their latest attempt. A recipient that was tried
// becomes due after one lease, so that a live owner keeps it. Due times that are a century away belong to accounts that
// are being moved (runtime/ops/transfer).
var repairDueSQL = db.Compile(`
UPDATE recipients r SET due_at = CASE WHEN r.attempts = 0 THEN now() ELSE now() + @lease * interval '1 microsecond' END, queued_at = least(r.queued_at, now())
FROM (
	SELECT email_id, id FROM recipients WHERE due_at > now() + @lease * interval '1 microsecond' AND due_at < now() + interval '100 years' AND due_at > now() + interval '1 microsecond' * CASE
		WHEN attempts = 0 THEN @put_off ELSE (@pauses::bigint[])[least(attempts, cardinality(@pauses::bigint[]))] END
	ORDER BY due_at DESC LIMIT 5000 FOR UPDATE SKIP LOCKED
) v WHERE ` + lifecycle.RecipientSQL)

// repairDueTimes corrects the due times of recipients after the database clock stepped back
// (runtime/storage/clockstep).
func (s *Service) repairDueTimes(ctx context.Context, _ clockstep.Step) (int64, error) {
	pauses := make([]int64, len(retrySchedule))
	for i, pause := range retrySchedule {
		pauses[i] = pause.Microseconds()
	}
	rows, err := db.ExecAll(ctx, s.claimer.db.SQL, repairDueSQL.Text,
		repairDueSQL.Args(db.Arg("lease", claimLease.Microseconds()),
			db.Arg("put_off", suspendedRetryDelay.Microseconds()), db.Arg("pauses", db.Array(pauses)))...)
	if rows > 0 {
		s.signals.Wake(lifecycle.DueChannel)
		s.claimer.searchSoon() // parked recipients were not due, so their lanes seemed empty
	}
	if err != nil {
		return rows, fmt.Errorf("repair due times of recipients: %w", err)
	}
	return rows, nil
}
