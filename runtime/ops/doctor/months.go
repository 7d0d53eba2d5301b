package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/months"
)

// tablesByMonth checks the tables that are partitioned by month.
func tablesByMonth(ctx context.Context, d *db.DB) []Finding {
	s := subject{"database.months", "partitioned tables have partitions for the next months"}
	split := 0
	var late []string
	for _, t := range months.Tables() {
		state, err := months.ReadTableState(ctx, d.SQL, t)
		if err == nil && state.Split {
			split++
			var full bool
			if full, err = state.IsLate(ctx, d.SQL); full {
				late = append(late, t.Name)
			}
		}
		if err != nil {
			return []Finding{s.finding(Warning, err.Error(), "Check the table.")}
		}
	}
	switch {
	case split == 0:
		return nil
	case len(late) > 0:
		return []Finding{s.finding(Warning, "new rows of "+strings.Join(late, ", ")+" have no partition",
			"Run postrider admin partition: no data is lost, but the default partition grows without bound. Running processes create partitions ahead if they own the tables.")}
	default:
		return []Finding{s.ok(fmt.Sprintf("%d tables have them", split))}
	}
}
