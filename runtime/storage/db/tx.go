package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postrider/postrider/ent"
)

// transaction is the part of a transaction that InTx and InHotTx need.
type transaction interface {
	Commit() error
	Rollback() error
}

// InTx runs fn in a transaction of the ordinary pool and commits unless fn returns an error or panics.
// Nothing is retried. fn must not use the network; send signals after InTx has returned.
func (d *DB) InTx(ctx context.Context, fn func(tx *ent.Tx) error) error {
	tx, err := d.Ent.Tx(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return runInTx(tx, fn)
}

// InHotTx is InTx over the hot pool.
func (d *DB) InHotTx(ctx context.Context, fn func(tx *sql.Tx) error) error {
	tx, err := d.Hot.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return runInTx(tx, fn)
}

func runInTx[T transaction](tx T, fn func(T) error) (err error) {
	done := false
	defer func() {
		if done {
			return
		}
		// Also reached by a panic and by runtime.Goexit. database/sql discards a connection on which even
		// this fails.
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) && err == nil {
			err = fmt.Errorf("roll back: %w", undo)
		}
	}()
	if err = fn(tx); err != nil {
		return err
	}
	done = true
	if err = tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
