package checks

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/ops/doctor"
)

// checkStatistics checks how far the statistics are behind the events.
func checkStatistics(p Params) doctor.Check {
	return func(ctx context.Context) []doctor.Finding {
		f := doctor.Finding{Check: "statistics.behind",
			Expected: fmt.Sprintf("no event waits longer than %s to be counted", statistics.BehindLimit)}
		is, err := statistics.ReadState(ctx, p.DB.SQL)
		if err != nil {
			f.Level, f.Found, f.Do = doctor.Skipped, err.Error(), "Check the database first."
			return []doctor.Finding{f}
		}
		f.Found = fmt.Sprintf("the oldest event has waited for %s", is.Behind.Round(time.Second))
		if is.Skipped > 0 {
			f.Found += fmt.Sprintf("; %d were skipped", is.Skipped)
		}
		if is.Error != "" {
			f.Found += ": " + is.Error
		}
		switch {
		case is.Behind > statistics.BehindLimit:
			f.Level, f.Do = doctor.Warning,
				"Check that a process runs and that the database is fast enough. Statistics are incomplete until then; mail is not affected."
		case is.Skipped > 0:
			f.Level, f.Do = doctor.Warning,
				"The log names the skipped events. Run postrider admin statistics rebuild after an update that fixes the cause."
		}
		return []doctor.Finding{f}
	}
}
