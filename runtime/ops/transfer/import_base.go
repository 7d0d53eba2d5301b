package transfer

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// baseTurn is how long a transaction of the import of a base reads the file. The bus delivers no events of the
// installation while a transaction inserts events, and nothing can use an incomplete base, so there are many.
const baseTurn = 2 * time.Second

// partialID is the move_id of a base whose import has not ended.
func partialID(baseID string) string {
	if baseID == "" {
		return ""
	}
	return baseID + "_partial"
}

// importBase imports a base in several transactions. Only the last one makes it the base that a difference completes.
func (i *importer) importBase(ctx context.Context, d *db.DB) (end End, err error) {
	handle, err := d.OpenPatient()
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, handle.Close()) }()
	conn, err := handle.Conn(ctx)
	if err != nil {
		return end, fmt.Errorf("connect: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	turn := func(begin func(context.Context, *sql.Tx) error) (done bool, err error) {
		err = inTx(ctx, conn, sql.LevelDefault, func(tx *sql.Tx) (err error) {
			if err := begin(ctx, tx); err != nil {
				return err
			}
			if end, done, err = i.read(ctx, time.Now().Add(cmp.Or(i.options.turn, baseTurn))); err != nil || !done {
				return err
			}
			_, err = db.Exec(ctx, tx, `UPDATE accounts SET move_id = $2 WHERE id = $1`, i.manifest.AccountID, i.manifest.Base)
			return err
		})
		return done, err
	}
	done, err := turn(i.begin)
	for err == nil && !done {
		done, err = turn(i.resume)
	}
	return end, err
}

// resume continues an import, unless another import has replaced the copy.
func (i *importer) resume(ctx context.Context, tx *sql.Tx) error {
	i.tx = tx
	m, err := LockMove(ctx, tx, i.manifest.AccountID)
	if fault.KindOf(err) == fault.NotFound || err == nil && m.ID != partialID(i.manifest.Base) {
		err = errors.New("another import has replaced the account")
	}
	return err
}
