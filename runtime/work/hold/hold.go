package hold

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

// Hold describes why the installation does not send.
type Hold struct {
	Since  time.Time
	Reason string
}

const readSQL = `SELECT since, reason FROM delivery_holds`

// Read returns the hold, or nil if there is none.
func Read(ctx context.Context, on db.Execer) (*Hold, error) {
	found, err := db.One(ctx, on, func(h *Hold) []any { return []any{&h.Since, &h.Reason} }, readSQL)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the hold of the installation: %w", err)
	}
	return &found, nil
}

const (
	setSQL    = insertSQL + `$1` + conflictSQL
	insertSQL = `INSERT INTO public.delivery_holds (id, since, reason) VALUES (1, now(), `
	// An existing hold keeps its start time.
	conflictSQL = `) ON CONFLICT (id) DO UPDATE SET reason = excluded.reason`
)

// Statement returns Set as a statement for psql, which has no parameters.
func Statement(reason string) string { return insertSQL + pq.QuoteLiteral(reason) + conflictSQL }

// maxReason is the maximum length of a reason, in characters.
const maxReason = 500

// Set starts a hold. An existing hold keeps its start time and gets the new reason. An invalid reason is an
// Invalid error naming `reason`.
func Set(ctx context.Context, on db.Execer, reason string) error {
	if n := len([]rune(reason)); n == 0 || n > maxReason {
		return fault.InvalidField("reason", "must have 1 to %d characters", maxReason)
	}
	if _, err := db.Exec(ctx, on, setSQL, reason); err != nil {
		return fmt.Errorf("hold the installation: %w", err)
	}
	return nil
}

const releaseSQL = `DELETE FROM delivery_holds`

// Release ends the hold, and reports whether there was one.
func Release(ctx context.Context, on db.Execer) (held bool, err error) {
	n, err := db.Exec(ctx, on, releaseSQL)
	if err != nil {
		return false, fmt.Errorf("release the installation: %w", err)
	}
	return n > 0, nil
}
