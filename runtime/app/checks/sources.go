package checks

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/source"
	"github.com/postrider/postrider/runtime/ops/doctor"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/node"
)

// checkSources checks that a running process can deliver from each source address in use.
func checkSources(d *db.DB, sources []*ent.Source) doctor.Check {
	const expected = "a running process can deliver from every source address in use"
	return func(ctx context.Context) []doctor.Finding {
		list, err := node.Processes(ctx, d)
		if err != nil {
			return []doctor.Finding{{Check: "sources", Level: doctor.Skipped, Found: err.Error(), Expected: expected,
				Do: "Check the database first."}}
		}
		list = slices.DeleteFunc(list, func(p node.Process) bool { return !p.Alive || !p.Is(node.Delivers) })
		if len(list) == 0 {
			return []doctor.Finding{{Check: "sources", Level: doctor.Skipped, Found: "no delivering process is running",
				Expected: expected, Do: "Start one, then run the check again."}}
		}
		var all []doctor.Finding
		for _, s := range sources {
			addr, err := netip.ParseAddr(s.Address)
			name := ""
			if s.Node != nil {
				name = *s.Node
			}
			if err != nil || slices.ContainsFunc(list,
				func(p node.Process) bool { return p.DeliversFrom(addr, name) }) {
				continue
			}
			f := doctor.Finding{Check: "sources", Level: doctor.Warning, Expected: expected,
				Found: fmt.Sprintf("%s (%s): no running process has it", s.Address, s.Pool),
				Do:    "Start the process whose machine has the address, or move the address to another machine (then run postrider admin source move if it names a process). postrider admin source pausestops its use."}
			if name != "" {
				f.Found = fmt.Sprintf("%s (%s): the process %s is not running, or does not have it", s.Address,
					s.Pool, name)
			}
			if s.Pool == source.PoolDedicated {
				f.Level, f.Found = doctor.Error, f.Found+"; mail of its account is waiting"
			}
			all = append(all, f)
		}
		if len(all) == 0 {
			all = append(all, doctor.Finding{Check: "sources", Found: fmt.Sprintf("all %d", len(sources)),
				Expected: expected})
		}
		return all
	}
}
