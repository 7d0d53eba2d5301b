package table

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/postrider/postrider/modules/sending/queue"
)

// faultWords describe the kinds of faults.
var faultWords = map[queue.FaultKind]string{queue.ProcessFault: "process killed or frozen",
	queue.ConnectionFault: "connections broke"}

// Faults formats the faults of a day, one per line; "" if there were none.
func Faults(list []queue.Fault) string {
	if len(list) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("\nFaults of the last 24 hours, and the recipients that may have received an email twice:\n")
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TIME\tNAME\tFAULT\tIN DOUBT")
	for _, f := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", f.At.UTC().Format(time.RFC3339), cmp.Or(f.Node, "-"),
			faultWords[f.Kind], f.InDoubt)
	}
	_ = w.Flush() // writes to memory
	return out.String()
}
