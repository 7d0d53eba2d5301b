package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/node"
)

// checkProcesses checks for silent processes, and the clocks of the others.
func checkProcesses(ctx context.Context, d *db.DB, cell int) []Finding {
	silent, clocks := subject{"nodes.silent", "every started process sends a heartbeat every two seconds"},
		subject{"nodes.clock", "the clocks of all processes agree with that of the database"}
	list, err := node.Processes(ctx, d)
	if err != nil {
		return []Finding{silent.finding(Skipped, err.Error(),
			"Check the database first; postrider migrate updates it to this version.")}
	}
	alive := func(name string) bool {
		return slices.ContainsFunc(list, func(p node.Process) bool { return p.Alive && p.Name == name })
	}
	all, wrong := []Finding(nil), []string(nil)
	told := map[string]bool{}
	for _, p := range slices.Backward(list) { // the latest process of each name
		if p.ClockAhead != nil && p.Alive {
			wrong = append(wrong, fmt.Sprintf("%s is %s ahead", p.Name, time.Duration(*p.ClockAhead)*time.Millisecond))
		}
		if p.Alive || told[p.Name] || alive(p.Name) {
			continue
		}
		told[p.Name] = true
		all = append(all, silent.finding(Warning,
			fmt.Sprintf("%s (%s, %s) for %s", p.Name, p.Version, strings.Join(p.Roles, ", "),
				p.Silent.Round(time.Second)),
			"Restart it, or check its machine and its log. Other processes have taken over its work; mail from dedicated addresses that only it has is waiting."))
	}
	if len(all) == 0 {
		all = append(all, silent.ok("all processes started within the last hour are alive or stopped normally"))
	}
	all = append(all, checkCells(list, cell))
	if len(wrong) > 0 {
		return append(all, clocks.finding(Warning, strings.Join(wrong, ", "),
			"Run NTP on these machines and on that of the database. Mail, leases and limits use the database clock; signatures, certificates and sessions use the machines' clocks."))
	}
	return append(all, clocks.ok("by less than 2 seconds"))
}

// checkCells checks whether the live processes have the cell of these settings.
func checkCells(list []node.Process, cell int) Finding {
	s := subject{"nodes.cell", fmt.Sprintf("all processes belong to cell %d, as in these settings", cell)}
	var others []string
	for _, p := range list {
		if p.Alive && p.Cell != nil && *p.Cell != cell {
			others = append(others, fmt.Sprintf("%s belongs to cell %d", p.Name, *p.Cell))
		}
	}
	if len(others) > 0 {
		return s.finding(Warning, strings.Join(others, ", "),
			"Set POSTRIDER_CELL to the same number for all processes and restart them. New ids and keys name the cell of the process that creates them, and a proxy may route requests by it.")
	}
	return s.ok("they do")
}
