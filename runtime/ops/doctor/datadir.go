package doctor

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/storage/postgres"
)

// DataDir returns the check of a data directory with an embedded database.
func DataDir(dir string) Check {
	return func(context.Context) []Finding {
		s := subject{"data_dir", "one service holds " + dir}
		holder, running, err := postgres.Holder(dir)
		switch {
		case err != nil:
			return []Finding{s.finding(Error, err.Error(), "Run this as the user of the service.")}
		case holder == 0 && running != 0:
			return []Finding{s.finding(Warning,
				fmt.Sprintf("no service holds it, and its PostgreSQL runs (process %d)", running),
				"Start the service: it stops the PostgreSQL of a service that was killed. If a service is running and postgres.lock was deleted, stop that service first; otherwise two would use the same files.")}
		case holder == 0:
			return []Finding{s.finding(Skipped, "no service is running here",
				"Start the service to check its database.")}
		}
		return []Finding{s.ok(fmt.Sprintf("process %d", holder))}
	}
}
