package transfer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
)

// State is how far the move of an account is, as one of its two installations sees it.
type State string

// The states.
const (
	Settled State = ""       // no move; also at the target after the start
	Leaving State = "frozen" // source: frozen, and can be finished or canceled
	Moved   State = "moved"  // source: the target has the account
	Waiting State = "copy"   // target: a copy that the move code starts
)

// StateOf returns the state from the columns of an account. frozen reports whether frozen_at is set.
func StateOf(frozen bool, movedTo, moveCode *string) State {
	switch {
	case movedTo != nil:
		return Moved
	case !frozen:
		return Settled
	case moveCode != nil:
		return Leaving
	}
	return Waiting
}

// Move is the move of an account, whose row is locked.
type Move struct {
	State   State
	System  bool
	ID      string // SHA-256 of the code; "" if the account never moved
	Code    string // at the source
	MovedTo string
	Digest  *string // of the unfinished work in the exported file; nil without a complete file
}

// LockMove locks an account and returns its move. Error: NotFound.
func LockMove(ctx context.Context, tx *sql.Tx, accountID string) (m Move, err error) {
	var frozen bool
	var id, code, movedTo *string
	err = tx.QueryRowContext(ctx, `SELECT system, frozen_at IS NOT NULL, move_id, move_code, moved_to, move_digest FROM accounts WHERE id = $1 FOR UPDATE`,
		accountID).Scan(&m.System, &frozen, &id, &code, &movedTo, &m.Digest)
	if errors.Is(err, sql.ErrNoRows) {
		return m, fault.NoSuch("account", accountID)
	}
	if err != nil {
		return m, fmt.Errorf("read the move of %s: %w", accountID, err)
	}
	m.State = StateOf(frozen, movedTo, code)
	for from, to := range map[*string]*string{id: &m.ID, code: &m.Code, movedTo: &m.MovedTo} {
		if from != nil {
			*to = *from
		}
	}
	return m, nil
}

// BusyError is the error of a move that has found work in progress.
type BusyError struct{ Work []string }

func (e BusyError) Error() string {
	return "work in progress did not end in time: " + strings.Join(e.Work, ", ")
}
