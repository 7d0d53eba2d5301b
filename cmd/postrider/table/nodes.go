package table

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/postrider/postrider/runtime/work/node"
	"github.com/postrider/postrider/runtime/work/node/machine"
)

// mostShown is the number of addresses listed in a line.
const mostShown = 4

// Nodes formats processes, one per line, without addresses that every machine has.
func Nodes(list []node.Process) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tVERSION\tCELL\tROLES\tADDRESSES\tSTARTED\tLAST BEAT")
	for _, n := range list {
		cell := "-"
		if n.Cell != nil {
			cell = strconv.Itoa(*n.Cell)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s ago\n", n.Name, n.State(), n.Version, cell,
			cmp.Or(strings.Join(n.Roles, ","), "-"), formatAddresses(n.Addresses),
			n.StartedAt.UTC().Format(time.RFC3339), n.Silent.Round(100*time.Millisecond))
	}
	_ = w.Flush() // writes to memory
	for _, n := range list {
		if n.ClockAhead != nil {
			fmt.Fprintf(&out, "%s: its clock is %s ahead of the database's.\n", n.Name,
				time.Duration(*n.ClockAhead)*time.Millisecond)
		}
	}
	return out.String()
}

func formatAddresses(all machine.Networks) string {
	list := slices.DeleteFunc(slices.Clone(all), func(p netip.Prefix) bool { return p.Addr().IsLoopback() }).Texts()
	if more := len(list) - mostShown; more > 0 {
		list = append(list[:mostShown], fmt.Sprintf("%d more", more))
	}
	return cmp.Or(strings.Join(list, ","), "-")
}
