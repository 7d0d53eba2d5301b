package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/db"
)

// The time is that of aliveSQL. Older programs store no cell.
const otherCellSQL = `SELECT name, cell FROM nodes WHERE seen_at > now() - interval '6 seconds' AND cell <> $1 ORDER BY id LIMIT 1`

// compareCells looks for a live process of another cell on the database. New ids and keys of this process would then
// name a different cell than those of the other. A command takes over the cell of the service, because it may run
// without the settings of the service. A service warns.
func compareCells(ctx context.Context, cfg setting.Values, d *db.DB, log *slog.Logger) {
	own := config.Cell.Get(cfg)
	var other string
	var cell int
	err := d.SQL.QueryRowContext(ctx, otherCellSQL, own).Scan(&other, &cell)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		log.WarnContext(ctx, "database: cannot read the cells of other processes", telemetry.KeyError, err)
	case cfg.Mode == setting.Tool:
		id.SetCell(cell)
	default:
		log.WarnContext(ctx, "another process on this database has a different POSTRIDER_CELL: set the same number for "+
			"all processes", "cell", own, "other", other, "other_cell", cell)
	}
}
