package doctor

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/ops/diskroom"
)

// DatabaseDisk returns the check of the database's free space, if it is not the embedded one.
func DatabaseDisk(p diskroom.Params) Check {
	return func(ctx context.Context) []Finding {
		s := subject{"database.disk", "room for more"}
		room, known, err := diskroom.Measure(ctx, p)
		switch {
		case err != nil:
			return []Finding{s.finding(Skipped, err.Error(), "Look at the disk of the database by hand.")}
		case !known:
			return []Finding{s.finding(Skipped, "the disk of the database is on another machine",
				"Set POSTRIDER_DATABASE_BYTES to the room that it has there: then writes stop in order before the disk is full.")}
		}
		found := fmt.Sprintf("%.1f GiB free of %.1f", float64(room.Free)/(1<<30), float64(room.Total)/(1<<30))
		switch diskroom.LevelOf(room, diskroom.Enough) {
		case diskroom.Enough:
			return []Finding{s.ok(found)}
		case diskroom.PaidOnly:
			return []Finding{s.finding(Warning, found, "Make room, or enlarge the disk: free accounts are refused what they would store.")}
		case diskroom.MailOnly:
			return []Finding{s.finding(Error, found, "Make room now, or enlarge the disk: nothing but mail is stored.")}
		default:
			return []Finding{s.finding(Error, found, "Make room now, or enlarge the disk: nothing is accepted. What was accepted is still delivered.")}
		}
	}
}
