package checks

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/runtime/ops/doctor"
	"github.com/postrider/postrider/runtime/storage/db"
)

// manyUnknown is the number of unknown results in a day that is reported as a warning. A few are
// normal: receiving servers close connections after the final dot.
const manyUnknown = 10

// unknownResults reports how many recipients may have received an email twice.
func unknownResults(d *db.DB) doctor.Check {
	return func(ctx context.Context) []doctor.Finding {
		f := doctor.Finding{Check: "delivery.unknown",
			Expected: fmt.Sprintf("at most %d attempts a day end without a known result", manyUnknown)}
		n, err := queue.CountUnknown(ctx, d)
		switch {
		case err != nil:
			f.Level, f.Found, f.Do = doctor.Skipped, err.Error(), "Check the database first."
		case n > manyUnknown:
			f.Level, f.Do = doctor.Warning,
				"Check the log for processes that were killed or frozen, and for interrupted connections. No action is needed for these emails: both copies have the same Message-ID."
			fallthrough
		default:
			f.Found = fmt.Sprintf("%d recipients may have received an email twice within 24 hours", n)
		}
		return []doctor.Finding{f}
	}
}
