// Package table formats results as text tables.
package table

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/postrider/postrider/modules/domains/dnscheck"
)

// Domain formats the records of a domain, and reports whether all required records were found.
func Domain(seen []dnscheck.Inspected, notes []string) (string, bool, error) {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RECORD\tEXPECTED\tFOUND\tSTATE\tACTION")
	sound := true
	for _, r := range seen {
		state, what := string(r.Status), r.Error
		if r.Unanswered {
			state = "no answer"
		}
		if r.Required && r.Status != dnscheck.Verified {
			sound = false
		}
		fmt.Fprintf(w, "%s %s\t%s\t%s\t%s\t%s\n", r.Type, r.Name, shorten(r.Value), orNone(r.Found), state, what)
	}
	err := w.Flush()
	for _, note := range notes {
		fmt.Fprintln(&out, note)
	}
	return out.String(), sound, err
}

func orNone(found []string) string {
	var parts []string
	for _, value := range found {
		parts = append(parts, shorten(value))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, " | ")
}

// shorten shortens a key, which would make the table unreadable.
func shorten(value string) string {
	if r := []rune(value); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return value
}
