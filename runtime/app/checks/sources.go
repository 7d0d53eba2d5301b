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

// checkSources looks whether a process that lives can deliver from each source
// address that is in use.
func checkSources(d *db.DB, sources []*ent.Source) doctor.Check {
	const expected = "a process that runs can deliver from every source address that is in use"
	return func(ctx context.Context) []doctor.Finding {
		list, err := node.Processes(ctx, d)
		if err != nil {
			return []doctor.Finding{{Check: "sources", Level: doctor.Skipped, Found: err.Error(), Expected: expected, Do: "Look at the database first."}}
		}
		list = slices.DeleteFunc(list, func(p node.Process) bool { return !p.Alive || !p.Is(node.Delivers) })
		if len(list) == 0 {
			return []doctor.Finding{{Check: "sources", Level: doctor.Skipped, Found: "no process that delivers runs", Expected: expected, Do: "Start one, and look again."}}
		}
		var all []doctor.Finding
		for _, s := range sources {
			addr, err := netip.ParseAddr(s.Address)
			name := ""
			if s.Node != nil {
				name = *s.Node
			}
			if err != nil || slices.ContainsFunc(list, func(p node.Process) bool { return p.DeliversFrom(addr, name) }) {
				continue
			}
			f := doctor.Finding{Check: "sources", Level: doctor.Warning, Expected: expected, Found: fmt.Sprintf("%s (%s): no process that runs has it", s.Address, s.Pool),
				Do: "Start the process whose machine has the address, or give the address to another machine (then postrider source move, if it names a process); postrider source pause takes it out of use."}
			if name != "" {
				f.Found = fmt.Sprintf("%s (%s): the process %s does not run, or does not have it", s.Address, s.Pool, name)
			}
			if s.Pool == source.PoolDedicated {
				f.Level, f.Found = doctor.Error, f.Found+"; the mail of its account waits"
			}
			all = append(all, f)
		}
		if len(all) == 0 {
			all = append(all, doctor.Finding{Check: "sources", Found: fmt.Sprintf("all %d", len(sources)), Expected: expected})
		}
		return all
	}
}
