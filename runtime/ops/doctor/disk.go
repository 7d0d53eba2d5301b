package doctor

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/ops/diskroom"
)

// DatabaseDisk returns the check of the database's free space, unless the database is the embedded one.
func DatabaseDisk(p diskroom.Params) Check {
	return func(ctx context.Context) []Finding {
		s := subject{"database.disk", "enough free space"}
		room, known, err := diskroom.Measure(ctx, p)
		switch {
		case err != nil:
			return []Finding{s.finding(Skipped, err.Error(), "Check the disk of the database manually.")}
		case !known:
			return []Finding{s.finding(Skipped, "the disk of the database is on another machine",
				"Set POSTRIDER_DATABASE_BYTES to the space that the database may use: then writes stop in stages before the disk is full.")}
		}
		found := fmt.Sprintf("%.1f GiB free of %.1f", float64(room.Free)/(1<<30), float64(room.Total)/(1<<30))
		switch diskroom.LevelOf(room, diskroom.Enough) {
		case diskroom.Enough:
			return []Finding{s.ok(found)}
		case diskroom.PaidOnly:
			return []Finding{s.finding(Warning, found,
				"Free some space or enlarge the disk: writes of free accounts are rejected.")}
		case diskroom.MailOnly:
			return []Finding{s.finding(Error, found, "Free some space now or enlarge the disk: only mail is stored.")}
		default:
			return []Finding{s.finding(Error, found,
				"Free some space now or enlarge the disk: nothing is accepted. Accepted mail is still delivered.")}
		}
	}
}
