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
				"Start the service: it ends the PostgreSQL of one that was killed. If a service runs and somebody deleted postgres.lock, stop that service first; two would work on the same files.")}
		case holder == 0:
			return []Finding{s.finding(Skipped, "no service is running here",
				"Start the service to check its database.")}
		}
		return []Finding{s.ok(fmt.Sprintf("process %d", holder))}
	}
}
