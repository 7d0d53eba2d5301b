package node

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Hold describes why the whole installation sends nothing: no mail, no scheduled mail and no webhooks. It is
// for a database that was restored to a point in time: its queued mail may have been sent after that point
// and would be sent again.
//
// A hold is one row, so that every process obeys it, and so that it can be in a database before the first
// process opens it. Requests are still accepted, and the resulting mail is queued. Each process reads the row
// with its beat.
type Hold struct {
	Since  time.Time
	Reason string
}

const readHoldSQL = `SELECT since, reason FROM delivery_holds`

// ReadHold returns the hold, or nil if there is none.
func ReadHold(ctx context.Context, on db.Execer) (*Hold, error) {
	found, err := db.One(ctx, on, func(h *Hold) []any { return []any{&h.Since, &h.Reason} }, readHoldSQL)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the hold of the installation: %w", err)
	}
	return &found, nil
}

const (
	setHoldSQL    = insertHoldSQL + `$1` + holdConflictSQL
	insertHoldSQL = `INSERT INTO public.delivery_holds (id, since, reason) VALUES (1, now(), `
	// An existing hold keeps its start time.
	holdConflictSQL = `) ON CONFLICT (id) DO UPDATE SET reason = excluded.reason`
)

// HoldStatement returns SetHold as a statement for psql, which has no parameters.
func HoldStatement(reason string) string {
	return insertHoldSQL + pq.QuoteLiteral(reason) + holdConflictSQL
}

// maxReason is the maximum length of a reason, in characters.
const maxReason = 500

// SetHold starts a hold. An existing hold keeps its start time and gets the new reason. An invalid reason is
// an Invalid error for reason.
func SetHold(ctx context.Context, on db.Execer, reason string) error {
	if n := len([]rune(reason)); n == 0 || n > maxReason {
		return fault.InvalidField("reason", "must have 1 to %d characters", maxReason)
	}
	if _, err := db.Exec(ctx, on, setHoldSQL, reason); err != nil {
		return fmt.Errorf("hold the installation: %w", err)
	}
	return nil
}

const releaseHoldSQL = `DELETE FROM delivery_holds`

// ReleaseHold ends the hold, and reports whether there was one.
func ReleaseHold(ctx context.Context, on db.Execer) (held bool, err error) {
	n, err := db.Exec(ctx, on, releaseHoldSQL)
	if err != nil {
		return false, fmt.Errorf("release the installation: %w", err)
	}
	return n > 0, nil
}
