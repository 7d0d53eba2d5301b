package table

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/postrider/postrider/runtime/ops/doctor"
)

// Report formats the doctor's report as text.
func Report(r doctor.Report) string {
	var out strings.Builder
	if len(r.Records) > 0 {
		fmt.Fprintln(&out, "Required DNS records of this installation:")
		fmt.Fprintln(&out)
		table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		for _, record := range r.Records {
			value := record.Value
			if record.Type == "TXT" {
				value = fmt.Sprintf("%q", value)
			}
			fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", record.Name, record.Type, value, record.For)
		}
		_ = table.Flush() // writes to memory
		fmt.Fprintln(&out)
	}
	for _, f := range r.Findings {
		mark := f.Level.String()
		if f.Level >= doctor.Warning {
			mark = strings.ToUpper(mark)
		}
		fmt.Fprintf(&out, "%-8s %s: %s\n", mark, f.Check, f.Found)
		if f.Level != doctor.OK {
			fmt.Fprintf(&out, "           expected: %s\n           do: %s\n", f.Expected, f.Do)
		}
	}
	fmt.Fprintf(&out, "\n%d errors, %d warnings, %d skipped, %d ok.\n", r.Count(doctor.Error), r.Count(doctor.Warning),
		r.Count(doctor.Skipped), r.Count(doctor.OK))
	return out.String()
}
