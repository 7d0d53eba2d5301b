package store

import (
	"context"
	"log/slog"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/db"
)

// The time is that of aliveSQL. Older programs store no cell.
const otherCellSQL = `SELECT coalesce(min(name), '') FROM nodes WHERE seen_at > now() - interval '6 seconds' AND cell <> $1`

// warnOfCells warns if a live process of the database belongs to another cell than this one. New ids and keys
// of one of them would then lead to the wrong cell.
func warnOfCells(ctx context.Context, cfg setting.Values, d *db.DB, log *slog.Logger) {
	cell := config.Cell.Get(cfg)
	other, err := db.One(ctx, d.SQL, db.Value[string], otherCellSQL, cell)
	switch {
	case err != nil:
		log.WarnContext(ctx, "database: cannot read the cells of other processes", telemetry.KeyError, err)
	case other != "":
		log.WarnContext(ctx, "another process on this database has a different POSTRIDER_CELL; set the same number for "+
			"all processes and commands", "cell", cell, "other", other)
	}
}
