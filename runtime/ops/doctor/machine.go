package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/postrider/postrider/runtime/ops/diskroom"
)

const (
	lowShare  = 0.20
	fullShare = 0.05
	// A disk with this much free space is never low, however large it is.
	enough = 50 << 30
	// A disk with less free space is full, whatever its size, because the database and the spool need that
	// space.
	least = 512 << 20
)

// disks checks the free space of the folders.
func (d *Doctor) disks(context.Context) []Finding {
	var all []Finding
	for _, f := range d.Config.Folders {
		s := subject{"disk." + f.Setting, "more than 20 % free, and more than 512 MiB"}
		room, err := diskroom.Stat(existingParent(f.Dir))
		if err != nil {
			all = append(all, s.finding(Skipped, err.Error(), "Check the disk manually."))
			continue
		}
		all = append(all, judgeRoom(s, f.Dir, room.Free, room.Total))
	}
	return all
}

func judgeRoom(s subject, dir string, free, total uint64) Finding {
	share := float64(free) / float64(max(total, 1))
	found := fmt.Sprintf("%s: %.1f GiB free of %.1f (%.0f %%)", dir, float64(free)/(1<<30), float64(total)/(1<<30),
		100*share)
	switch {
	case free < least || share < fullShare && free < enough:
		return s.finding(Error, found,
			"Free some space now, or move the folder to a larger disk: with a full disk nothing is accepted.")
	case share < lowShare && free < enough:
		return s.finding(Warning, found, "Free some space, or move the folder to a larger disk.")
	}
	return s.ok(found)
}

// existingParent returns the folder, or its closest existing parent.
func existingParent(dir string) string {
	if dir == "" {
		dir = os.TempDir()
	}
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
