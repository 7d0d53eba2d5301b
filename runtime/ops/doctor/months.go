package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/months"
)

// tablesByMonth checks the tables that are split into months.
func tablesByMonth(ctx context.Context, d *db.DB) []Finding {
	s := subject{"database.months", "tables that are split have months ahead"}
	split := 0
	var late []string
	for _, t := range months.Tables() {
		state, err := months.Look(ctx, d.SQL, t)
		if err == nil && state.Split {
			split++
			var full bool
			if full, err = state.Late(ctx, d.SQL); full {
				late = append(late, t.Name)
			}
		}
		if err != nil {
			return []Finding{s.finding(Warning, err.Error(), "Look at the table.")}
		}
	}
	switch {
	case split == 0:
		return nil
	case len(late) > 0:
		return []Finding{s.finding(Warning, "new rows of "+strings.Join(late, ", ")+" have no month", "Run postrider partition: nothing is lost, but the table grows as one that is not split. Processes that run make months ahead, if they own the tables.")}
	default:
		return []Finding{s.ok(fmt.Sprintf("%d tables have", split))}
	}
}
