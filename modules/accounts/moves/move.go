package moves

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"io"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/node"
)

const (
	// cachesEnd is how long after the freeze every process knows about it, and has ended the requests that it had
	// admitted before. It is also promised for revoked keys.
	cachesEnd = 5 * time.Second
	// admittedEnd is how long such requests get once all processes have confirmed that they know.
	admittedEnd = time.Second
	// DefaultPatience is how long a freeze waits by default for attempts in progress.
	DefaultPatience = 2 * time.Minute

	freezePoll = 250 * time.Millisecond
)

func idOfCode(code string) string {
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}

// Options of ExportMove.
type Options struct {
	transfer.Options

	// BaseURL is where the target reaches this installation, which it asks about links and bounces of earlier emails.
	BaseURL  string
	Patience time.Duration // how long to wait for attempts in progress; 0: DefaultPatience
	// Forward makes Move forward requests with API keys to the target, as Finish does.
	Forward bool
	// Count counts the statistics of events up to now. It is called repeatedly.
	Count func(context.Context) error

	caches   time.Duration  // how long a process may use what it has cached; 0: cachesEnd
	admitted time.Duration  // 0: admittedEnd
	base     *transfer.Base // what the target has; nil: nothing
}

// ExportMove freezes an account and writes it to w with its unfinished work. After an error, the account is frozen
// only if resuming it failed too.
func ExportMove(ctx context.Context, d *db.DB, accountID string, w io.Writer, o Options) (*transfer.Result, error) {
	began := time.Now()
	moveID, transaction, err := freeze(ctx, d, accountID, o)
	if err != nil {
		return nil, err
	}
	wait := freezeWait{db: d, transaction: transaction, began: began, caches: cmp.Or(o.caches, cachesEnd),
		admitted: cmp.Or(o.admitted, admittedEnd)}
	result, err := exportFrozen(ctx, d, accountID, moveID, w, o, &wait)
	if err == nil {
		err = recordExport(ctx, d, accountID, moveID, result.Digest)
	}
	if err != nil {
		resuming, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		return nil, errors.Join(err, Cancel(resuming, d, accountID))
	}
	return result, nil
}

// freeze makes an account refuse writes, in a transaction whose number it returns. Each call begins another move, so
// that an earlier file cannot be started.
func freeze(ctx context.Context, d *db.DB, accountID string, o Options) (moveID, transaction string, err error) {
	code, _ := secret.NewToken("mv_")
	moveID = idOfCode(code.Reveal())
	err = transfer.InPatientTx(ctx, d, sql.LevelDefault, func(tx *sql.Tx) error {
		m, err := transfer.LockMove(ctx, tx, accountID)
		switch {
		case err != nil:
			return err
		case m.System:
			return fault.NoSuch("account", accountID)
		case m.State == transfer.Moved:
			return fault.Conflictf(fault.CodeConflict, "The account has moved to %s", m.MovedTo)
		case m.State == transfer.Waiting:
			return fault.Conflictf(fault.CodeConflict, "The account is a copy that its move code has not started yet")
		}
		list, err := db.One(ctx, tx, db.Value[[]byte], `SELECT origins FROM accounts WHERE id = $1`, accountID)
		if err == nil {
			list, err = origins.Add(o.Box, accountID, list, o.BaseURL)
		}
		if err != nil {
			return err
		}
		transaction, err = db.One(ctx, tx, db.Value[string], `UPDATE accounts SET frozen_at = coalesce(frozen_at, now()), move_id = $2, move_code = $3, move_digest = NULL, origins = $4 WHERE id = $1
RETURNING pg_current_xact_id()::text`, accountID, moveID, code.Reveal(), list)
		if err != nil {
			return err
		}
		return db.Notify(ctx, tx, stepChannel)
	})
	return moveID, transaction, err
}

// freezeWait is the wait until every process knows about a freeze.
type freezeWait struct {
	db          *db.DB
	transaction string // of the freeze
	began       time.Time
	noticed     time.Time // when all processes had confirmed; zero before

	caches, admitted time.Duration
}

// isOver reports whether the wait is over.
func (f *freezeWait) isOver(ctx context.Context) (bool, error) {
	if time.Since(f.began) >= f.caches {
		return true, nil
	}
	if f.noticed.IsZero() {
		noticed, err := node.HaveSeenAccounts(ctx, f.db, f.transaction)
		if err != nil || !noticed {
			return false, err
		}
		f.noticed = time.Now()
	}
	return time.Since(f.noticed) >= f.admitted, nil
}

// exportFrozen waits until no work is in progress and exports the account in a snapshot in which this is certain.
func exportFrozen(ctx context.Context, d *db.DB, accountID, moveID string, w io.Writer, o Options,
	wait *freezeWait) (*transfer.Result, error) {
	patience := cmp.Or(o.Patience, DefaultPatience)
	for {
		busy := transfer.BusyError{Work: []string{"requests"}}
		err := transfer.InPatientTx(ctx, d, sql.LevelDefault, func(tx *sql.Tx) error {
			return transfer.ParkWork(ctx, tx, accountID)
		})
		if err == nil {
			err = o.Count(ctx)
		}
		var over bool
		if err == nil {
			over, err = wait.isOver(ctx)
		}
		if over {
			var result *transfer.Result
			if result, err = transfer.ExportParked(ctx, d, accountID, moveID, w, o.base, o.Options); err == nil {
				return result, nil
			}
		}
		if err != nil && !errors.As(err, &busy) {
			return nil, err
		}
		if time.Since(wait.began) > patience {
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
// URL. With forward, this installation forwards requests with API keys to the target, instead of redirecting them.
// Errors: Invalid; NotFound; Conflict if the account is not frozen or has changed since the export.
func Finish(ctx context.Context, d *db.DB, accountID, baseURL string, forward bool) (code string, err error) {
	baseURL, err = CheckBaseURL(baseURL)
	if err != nil {
		return "", err
	}
	return code, transfer.InPatientTx(ctx, d, sql.LevelDefault, func(tx *sql.Tx) error {
		m, err := transfer.LockMove(ctx, tx, accountID)
		if err != nil {
			return err
		}
		code = m.Code
		switch {
		case m.State == transfer.Moved:
		case m.State != transfer.Leaving, m.Digest == nil:
			return fault.Conflictf(fault.CodeConflict, "The account has no complete export with --move")
		default:
			if err := transfer.FinishWork(ctx, tx, accountID, *m.Digest); err != nil {
				return err
			}
		}
		_, err = db.Exec(ctx, tx, `UPDATE accounts SET moved_to = $2, forward_requests = $3 WHERE id = $1`, accountID, baseURL,
			forward)
		if err != nil {
			return err
		}
		return db.Notify(ctx, tx, stepChannel)
	})
}

// Cancel ends the move of an account at the source, which resumes its work. It does nothing if the account is not
// frozen. Errors: NotFound; Conflict if the account has moved or is a copy.
func Cancel(ctx context.Context, d *db.DB, accountID string) error {
	return transfer.InPatientTx(ctx, d, sql.LevelDefault, func(tx *sql.Tx) error {
		m, err := transfer.LockMove(ctx, tx, accountID)
		switch {
		case err != nil || m.State == transfer.Settled:
			return err
		case m.State == transfer.Moved:
			return fault.Conflictf(fault.CodeConflict, "The account has moved to %s: its copy there may have started", m.MovedTo)
		case m.State == transfer.Waiting:
			return fault.Conflictf(fault.CodeConflict, "The account is a copy: its move code starts it")
		}
		return thaw(ctx, tx, accountID)
	})
}

// Start starts the copy of an account that the source has finished moving. Repeating it changes nothing. Errors:
// NotFound; Forbidden for a wrong code; Conflict if the account is not a copy.
func Start(ctx context.Context, d *db.DB, accountID, code string) error {
	return transfer.InPatientTx(ctx, d, sql.LevelDefault, func(tx *sql.Tx) error {
		m, err := transfer.LockMove(ctx, tx, accountID)
		switch {
		case err != nil:
			return err
		case m.State != transfer.Waiting && m.State != transfer.Settled || m.ID == "":
			return fault.Conflictf(fault.CodeConflict, "The account is not a copy that a move code starts")
		case m.ID != idOfCode(code):
			return fault.Forbiddenf(fault.CodeConflict, "This is not the code of the move that created the copy")
		case m.State == transfer.Settled:
			return nil
		}
		return thaw(ctx, tx, accountID)
	})
}

// thaw resumes the work of an account. The id of the move stays, so that Start can be repeated.
func thaw(ctx context.Context, tx *sql.Tx, accountID string) error {
	if err := transfer.UnparkWork(ctx, tx, accountID); err != nil {
		return err
	}
	if _, err := db.Exec(ctx, tx, `UPDATE accounts SET frozen_at = NULL, move_code = NULL, move_digest = NULL, move_id = CASE WHEN move_code IS NULL THEN move_id END WHERE id = $1`,
		accountID); err != nil {
		return err
	}
	return db.Notify(ctx, tx, stepChannel)
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
