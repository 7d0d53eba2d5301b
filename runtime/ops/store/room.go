package store

import (
	"context"
	"log/slog"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/db"
)

const aliveSQL = `SELECT count(*) FROM nodes WHERE seen_at > now() - interval '6 seconds'`

// shareRoom divides the connections of the server among the live processes, until this one is a node, and
// warns if each can open fewer than configured.
func shareRoom(ctx context.Context, cfg setting.Values, d *db.DB, log *slog.Logger) {
	others, err := db.One(ctx, d.SQL, db.Value[int], aliveSQL)
	if err != nil {
		log.WarnContext(ctx, "database: cannot count the processes that share its connections", telemetry.KeyError, err)
		return
	}
	d.ShareWith(others + 1)
	room, processes, each := d.ConnectionRoom()
	if wanted := config.Connections.Get(cfg); each < wanted {
		log.WarnContext(ctx,
			"database: processes open fewer connections than POSTRIDER_DATABASE_CONNECTIONS, because they share those of the server; raise max_connections (or the limit of the role or the database) if requests wait",
			"processes", processes, "connections_each", each, "wanted_each", wanted, "room", room)
	}
}
