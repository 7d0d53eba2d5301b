package moves

import (
	"context"
	"database/sql"
	"io"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/storage/db"
)

// MoveStatus is the move of an account at one installation.
type MoveStatus struct {
	State  transfer.State
	MoveID string // of the latest move; "" if there was no move
}

// Receiver receives accounts from other installations.
type Receiver struct {
	DB       *db.DB
	Accounts *accounts.Service
	Origins  *origins.Service
	Options  transfer.Options
}

// Receive imports the file of a move, whose secrets are sealed with a one-time key, as a copy that waits for its code.
// Error: Invalid if the file cannot be imported, in which case nothing has changed.
func (r *Receiver) Receive(ctx context.Context, c accounts.Caller, plan string, oneTime secret.Key,
	file io.Reader) (StatusBody, error) {
	o := r.Options
	o.Plan, o.Secret, o.MoveOnly = plan, oneTime, true
	result, err := transfer.Import(ctx, r.DB, file, o)
	if err != nil {
		if fault.KindOf(err) == fault.Internal { // whose text is for operators, like that of the command
			err = fault.Invalidf("The account cannot be imported: %s", err).WithCause(err)
		}
		return StatusBody{}, err
	}
	m := result.Manifest
	got := StatusBody{m.AccountID, transfer.Waiting, m.CopyID()}
	return got, r.record(ctx, c, m.AccountID, "operator.account_imported")
}

// Status returns the move of an account. Error: NotFound.
func (r *Receiver) Status(ctx context.Context, accountID string) (MoveStatus, error) {
	return statusOf(ctx, r.DB, accountID)
}

// Start starts the copy of an account. Errors: as Start.
func (r *Receiver) Start(ctx context.Context, c accounts.Caller, accountID, code string) error {
	if err := Start(ctx, r.DB, accountID, code); err != nil {
		return err
	}
	r.Accounts.Forget(accountID)
	r.Accounts.ForgetKeys()
	r.Origins.Forget()
	return r.record(ctx, c, accountID, "operator.account_started")
}

func (r *Receiver) record(ctx context.Context, c accounts.Caller, accountID, action string) error {
	return r.DB.InTx(ctx, func(tx *ent.Tx) error {
		return audit.Write(ctx, tx, audit.Entry{AccountID: accountID, Actor: audit.OperatorOf(c), Action: action,
			Target: accountID})
	})
}

func statusOf(ctx context.Context, d *db.DB, accountID string) (s MoveStatus, err error) {
	err = transfer.InPatientTx(ctx, d, sql.LevelDefault, func(tx *sql.Tx) error {
		m, err := transfer.LockMove(ctx, tx, accountID)
		s = MoveStatus{m.State, m.ID}
		return err
	})
	return s, err
}
