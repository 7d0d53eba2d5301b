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

// Hold is what keeps the installation from sending.
type Hold struct {
	Since  time.Time
	Reason string
}

const readSQL = `SELECT since, reason FROM delivery_holds`

// Read gives the hold, or nil where there is none.
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
	// One that stands keeps its beginning.
	conflictSQL = `) ON CONFLICT (id) DO UPDATE SET reason = excluded.reason`
)

// Statement is Set as a statement for psql, which has no parameters.
func Statement(reason string) string { return insertSQL + pq.QuoteLiteral(reason) + conflictSQL }

// maxReason bounds a reason, in characters.
const maxReason = 500

// Set begins a hold. One that stands keeps its beginning and gets the new reason. Error:
// Invalid naming `reason`.
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

// Release ends the hold, and tells whether there was one.
func Release(ctx context.Context, on db.Execer) (held bool, err error) {
	n, err := db.Exec(ctx, on, releaseSQL)
	if err != nil {
		return false, fmt.Errorf("release the installation: %w", err)
	}
	return n > 0, nil
}
