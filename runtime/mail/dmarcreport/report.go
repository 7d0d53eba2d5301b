package dmarcreport

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// Report is one aggregate report.
type Report struct {
	Organization string
	ID           string
	Domain       string // of the published policy, in lower case
	Policy       string // p= that the receiver found: none, quarantine, reject
	Begin, End   time.Time
	Rows         []Row // distinct, sorted by source, then by their other fields
}

// Messages returns the number of messages in the report.
func (r Report) Messages() int64 {
	var sum int64
	for _, row := range r.Rows {
		sum += row.Messages
	}
	return sum
}

// Row counts the messages that share a source and results.
type Row struct {
	Key

	Messages int64
}

// Key is what the messages of a row have in common.
type Key struct {
	Source      netip.Addr
	Disposition string // none, quarantine, reject
	DKIM, SPF   bool   // passed and aligned with the domain in From
	// Signed and Permitted report whether any DKIM signature or SPF check passed, aligned or not.
	Signed, Permitted bool
}

// PassesDMARC reports whether the messages pass DMARC (RFC 7489 section 4.2).
func (k Key) PassesDMARC() bool { return k.DKIM || k.SPF }

func sortRows(rows []Row) {
	rank := func(flags ...bool) (sum int) {
		for _, flag := range flags {
			if sum *= 2; flag {
				sum++
			}
		}
		return sum
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(a.Source.Compare(b.Source), cmp.Compare(a.Disposition, b.Disposition),
			cmp.Compare(rank(a.DKIM, a.SPF, a.Signed, a.Permitted), rank(b.DKIM, b.SPF, b.Signed, b.Permitted)))
	})
}
