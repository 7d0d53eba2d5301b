package transfer

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
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

// keepDomains makes room for domains: an account that returns may have deleted one, and added its name again.
func (i *importer) keepDomains(ctx context.Context, rows string) error {
	if _, err := db.Exec(ctx, i.tx, `DELETE FROM domains d USING `+rowsOf("domains", 2)+` WHERE d.account_id = $1 AND d.name = r.name AND d.id <> r.id`,
		i.manifest.AccountID, rows); err != nil {
		return fmt.Errorf("delete replaced domains: %w", err)
	}
	if i.manifest.isBase() {
		return nil
	}
	_, err := db.Exec(ctx, i.tx, `INSERT INTO transfer_kept SELECT r.id FROM `+rowsOf("domains", 1), rows)
	return err
}

// onConflict is what becomes of a row that the target has.
func (i *importer) onConflict(t table, columns []string) string {
	switch {
	case !t.kept || i.manifest.Base == "":
		return ""
	case i.manifest.isBase():
		return ` ON CONFLICT (id) DO NOTHING`
	}
	list := strings.Join(columns, ", ")
	return ` ON CONFLICT (id) DO UPDATE SET (` + list + `) = ROW(EXCLUDED.` + strings.Join(columns, ", EXCLUDED.") + `) WHERE ` +
		t.name + `.account_id = EXCLUDED.account_id`
}
