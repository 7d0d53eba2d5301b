package store

import (
	"context"
	"log/slog"

	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/setting"
	"github.com/postrider/postrider/runtime/telemetry"
)

const roomSQL = `
SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
	(SELECT count(*) FROM nodes WHERE seen_at > now() - interval '6 seconds')`

// warnOfRoom says so when the processes that live, and this one, may ask for more connections than the
// server allows. It takes it that they are set alike.
func warnOfRoom(ctx context.Context, cfg setting.Values, d *db.DB, log *slog.Logger) {
	type found struct{ room, others int }
	seen, err := db.One(ctx, d.SQL, func(f *found) []any { return []any{&f.room, &f.others} }, roomSQL)
	each := db.PerProcess(config.Connections.Of(cfg))
	switch need := (seen.others + 1) * each; {
	case err != nil:
		log.WarnContext(ctx, "database: it was not seen whether there is room for all connections", telemetry.KeyError, err)
	case need > seen.room:
		log.WarnContext(ctx, "database: under load processes will be refused connections; raise max_connections of the server, or lower POSTRIDER_DATABASE_CONNECTIONS",
			"processes", seen.others+1, "connections_each", each, "room", seen.room)
	}
}
