package doctor

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/replica"
)

// Replica returns the check of a database replica, which uses its own connections.
func Replica(d *db.DB, c replica.Config) Check {
	return func(ctx context.Context) []Finding {
		s := subject{"database.replica", "it is behind the primary by less than " + replica.Tolerated.String()}
		standing, err := lookAtReplica(ctx, d, c)
		switch {
		case err != nil:
			return []Finding{s.finding(Error, err.Error(), "Check POSTRIDER_DATABASE_REPLICA_URL.")}
		case standing.PassedOver != "":
			return []Finding{s.finding(Warning, standing.PassedOver,
				"Check the standby, and pg_stat_replication on the primary. The primary serves lists, search and statistics until then.")}
		}
		return []Finding{s.ok("it does")}
	}
}

func lookAtReplica(ctx context.Context, d *db.DB, c replica.Config) (_ replica.Status, err error) {
	r, err := replica.Open(d, c, slog.New(slog.DiscardHandler))
	if err != nil {
		return replica.Status{}, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
	defer cancel()
	return r.CheckNow(ctx), nil
}
