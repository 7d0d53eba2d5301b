package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	// cachesEnd is how long after the freeze every process knows about it. It is also promised for revoked keys.
	cachesEnd = 5 * time.Second
	// DefaultPatience is how long a freeze waits by default for attempts in progress.
	DefaultPatience = 2 * time.Minute

	freezePoll = 250 * time.Millisecond
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

// moveRow is the state of an account whose row is locked.
type moveRow struct {
	state             State
	system            bool
	id, code, movedTo string
	digest            *string
}

func lockMove(ctx context.Context, tx *sql.Tx, accountID string) (m moveRow, err error) {
	var frozen bool
	var id, code, movedTo *string
	err = tx.QueryRowContext(ctx, `SELECT system, frozen_at IS NOT NULL, move_id, move_code, moved_to, move_digest FROM accounts WHERE id = $1 FOR UPDATE`,
		accountID).Scan(&m.system, &frozen, &id, &code, &movedTo, &m.digest)
	if errors.Is(err, sql.ErrNoRows) {
		return m, fault.NoSuch("account", accountID)
	}
	if err != nil {
		return m, fmt.Errorf("read the move of %s: %w", accountID, err)
	}
	m.state = StateOf(frozen, movedTo, code)
	for from, to := range map[*string]*string{id: &m.id, code: &m.code, movedTo: &m.movedTo} {
		if from != nil {
			*to = *from
		}
	}
	return m, nil
}

func idOfCode(code string) string {
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}

// ExportMove freezes an account and writes it to w with its unfinished work. After an error, the account is frozen
// only if resuming it failed too.
func ExportMove(ctx context.Context, d *db.DB, accountID string, w io.Writer, o Options) (*Result, error) {
	began := time.Now()
	moveID, err := freeze(ctx, d, accountID)
	if err != nil {
		return nil, err
	}
	result, err := exportFrozen(ctx, d, accountID, moveID, w, o, began)
	if err == nil {
		err = recordExport(ctx, d, accountID, moveID, result.digest)
	}
	if err != nil {
		resuming, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		return nil, errors.Join(err, Cancel(resuming, d, accountID))
	}
	return result, nil
}

// freeze makes an account refuse writes. Each call begins another move, so that an earlier file cannot be started.
func freeze(ctx context.Context, d *db.DB, accountID string) (moveID string, err error) {
	code, _ := secret.NewToken("mv_")
	moveID = idOfCode(code.Reveal())
	return moveID, inPatientTx(ctx, d, sql.LevelDefault, func(tx *sql.Tx) error {
		m, err := lockMove(ctx, tx, accountID)
		switch {
		case err != nil:
			return err
		case m.system:
			return fault.NoSuch("account", accountID)
		case m.state == Moved:
			return fault.Conflictf(fault.CodeConflict, "The account has moved to %s", m.movedTo)
		case m.state == Waiting:
			return fault.Conflictf(fault.CodeConflict, "The account is a copy that its move code has not started yet")
		}
		_, err = db.Exec(ctx, tx, `UPDATE accounts SET frozen_at = coalesce(frozen_at, now()), move_id = $2, move_code = $3, move_digest = NULL WHERE id = $1`,
			accountID, moveID, code.Reveal())
		return err
	})
}

// errBusy is the error of an export that has found work in progress, before it has written anything.
type errBusy struct{ work []string }

func (e errBusy) Error() string {
	return "work in progress did not end in time: " + strings.Join(e.work, ", ")
}

// exportFrozen waits until no work is in progress and exports the account in a snapshot in which this is certain.
func exportFrozen(ctx context.Context, d *db.DB, accountID, moveID string, w io.Writer, o Options,
	began time.Time) (*Result, error) {
	patience, caches := cmp.Or(o.Patience, DefaultPatience), cmp.Or(o.caches, cachesEnd)
	for {
		busy := errBusy{[]string{"requests"}}
		err := inPatientTx(ctx, d, sql.LevelDefault, func(tx *sql.Tx) error { return parkWork(ctx, tx, accountID) })
		if err == nil && time.Since(began) >= caches {
			var result *Result
			if result, err = writeAccount(ctx, d, accountID, moveID, w, o); err == nil {
				return result, nil
			}
			if !errors.As(err, &busy) {
				return nil, err
			}
		} else if err != nil {
			return nil, err
		}
		if time.Since(began) > patience {
			return nil, busy
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(freezePoll):
		}
	}
}

// recordExport stores that the file of a move is complete.
func recordExport(ctx context.Context, d *db.DB, accountID, moveID, digest string) error {
	n, err := db.Exec(ctx, d.SQL, `UPDATE accounts SET move_digest = $3 WHERE id = $1 AND move_id = $2 AND moved_to IS NULL AND frozen_at IS NOT NULL`,
		accountID, moveID, digest)
	if err == nil && n == 0 {
		err = fault.Conflictf(fault.CodeConflict, "The move was canceled, or begun again, during the export")
	}
	return err
}

// Finish ends the work of an account that a target has imported, and makes this installation refer to the target. It
// returns the move code, which starts the copy at the target. Repeating it returns the code again and can correct the
// URL. Errors: Invalid; NotFound; Conflict if the account is not frozen or has changed since the export.
func Finish(ctx context.Context, d *db.DB, accountID, baseURL string) (code string, err error) {
	baseURL, err = CheckBaseURL(baseURL)
	if err != nil {
		return "", err
	}
	return code, inPatientTx(ctx, d, sql.LevelDefault, func(tx *sql.Tx) error {
		m, err := lockMove(ctx, tx, accountID)
		if err != nil {
			return err
		}
		code = m.code
		switch {
		case m.state == Moved:
		case m.state != Leaving, m.digest == nil:
			return fault.Conflictf(fault.CodeConflict, "The account has no complete export with --move")
		default:
			if err := endExported(ctx, tx, accountID, *m.digest); err != nil {
				return err
			}
		}
		_, err = db.Exec(ctx, tx, `UPDATE accounts SET moved_to = $2 WHERE id = $1`, accountID, baseURL)
		return err
	})
}

// endExported ends the parked work of an account if it is exactly what was exported.
func endExported(ctx context.Context, tx *sql.Tx, accountID, digest string) error {
	for _, w := range works {
		if _, err := db.One(ctx, tx, db.Value[int64], w.lockSQL(w.isParked()), accountID); err != nil {
			return fmt.Errorf("lock %s: %w", w.name, err)
		}
	}
	now, err := digestWork(ctx, tx, accountID)
	if err != nil {
		return err
	}
	if now != digest {
		return fault.Conflictf(fault.CodeConflict,
			"Work of the account has changed since the export: cancel the move, or export the account again")
	}
	if err := finishWork(ctx, tx, accountID); err != nil {
		return err
	}
	// The DNS records of its domains will name the target.
	_, err = db.Exec(ctx, tx, `UPDATE domains SET due_at = NULL WHERE account_id = $1`, accountID)
	return err
}

// Cancel ends the move of an account at the source, which resumes its work. It does nothing if the account is not
// frozen. Errors: NotFound; Conflict if the account has moved or is a copy.
func Cancel(ctx context.Context, d *db.DB, accountID string) error {
	return inPatientTx(ctx, d, sql.LevelDefault, func(tx *sql.Tx) error {
		m, err := lockMove(ctx, tx, accountID)
		switch {
		case err != nil || m.state == Settled:
			return err
		case m.state == Moved:
			return fault.Conflictf(fault.CodeConflict, "The account has moved to %s: its copy there may have started", m.movedTo)
		case m.state == Waiting:
			return fault.Conflictf(fault.CodeConflict, "The account is a copy: its move code starts it")
		}
		return thaw(ctx, tx, accountID)
	})
}

// Start starts the copy of an account that the source has finished moving. Repeating it changes nothing. Errors:
// NotFound; Forbidden for a wrong code; Conflict if the account is not a copy.
func Start(ctx context.Context, d *db.DB, accountID, code string) error {
	return inPatientTx(ctx, d, sql.LevelDefault, func(tx *sql.Tx) error {
		m, err := lockMove(ctx, tx, accountID)
		switch {
		case err != nil:
			return err
		case m.state != Waiting && m.state != Settled || m.id == "":
			return fault.Conflictf(fault.CodeConflict, "The account is not a copy that a move code starts")
		case m.id != idOfCode(code):
			return fault.Forbiddenf(fault.CodeConflict, "This is not the code of the move that created the copy")
		case m.state == Settled:
			return nil
		}
		return thaw(ctx, tx, accountID)
	})
}

// thaw resumes the work of an account. The id of the move stays, so that Start can be repeated.
func thaw(ctx context.Context, tx *sql.Tx, accountID string) error {
	if err := unparkWork(ctx, tx, accountID); err != nil {
		return err
	}
	_, err := db.Exec(ctx, tx, `UPDATE accounts SET frozen_at = NULL, move_code = NULL, move_digest = NULL, move_id = CASE WHEN move_code IS NULL THEN move_id END WHERE id = $1`,
		accountID)
	return err
}

// CheckBaseURL returns the base URL of another installation without a slash at the end. It must use https, except on
// a loopback address.
func CheckBaseURL(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.User != nil, u.RawQuery != "", u.Fragment != "", strings.Trim(u.Path, "/") != "":
		return "", fault.InvalidField("url", "must be a base URL without a path, such as https://mail.example.com")
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return u.Scheme + "://" + u.Host, nil
	}
	return "", fault.InvalidField("url", "must use https")
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
