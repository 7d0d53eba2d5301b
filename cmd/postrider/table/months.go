package table

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db/months"
)

// Months formats the tables that grow with mail, and the months of those that are split, one per line.
func Months(tables []months.TableState) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "TABLE\tFROM\tBEFORE\tMIB\t")
	for _, t := range tables {
		if !t.Split {
			fmt.Fprintf(w, "%s\tplain\t\t%d\t\n", t.Table.Name, t.Bytes>>20)
		}
		for _, m := range t.Months {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t\n", m.Name, formatDay(m.From), formatDay(m.Below), m.Bytes>>20)
		}
	}
	_ = w.Flush() // writes to memory
	return out.String()
}

// formatDay formats the day on which ids reach a bound.
func formatDay(bound string) string {
	if bound == "" {
		return "-"
	}
	return id.Time(bound).UTC().Format(time.DateOnly)
}
