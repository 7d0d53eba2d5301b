package delivery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Settling a delivery writes the new versions of the rows of emails and attempts into the same pages, so that none of
// their indexes changes (a HOT update).
func TestSettledRowsStayOnTheirPage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var words strings.Builder
	for i := range 150 { // about 1 KB that does not compress well
		fmt.Fprintf(&words, "%x ", i*i*7919)
	}
	for i := range 60 {
		m := simpleMessage(fmt.Sprintf("r%d@example.net", i))
		m.Text = words.String()
		f.send(t, m)
	}
	jobs := f.claimAll(t)
	emails, attempts := f.findPages(t, "emails"), f.findPages(t, "attempts")
	f.settleWith(t, jobs, smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"})
	for table, before := range map[string]map[string]string{"emails": emails, "attempts": attempts} {
		moved, after := 0, f.findPages(t, table)
		for id, page := range before {
			if after[id] != page {
				moved++
			}
		}
		if len(before) != 60 || moved > 6 {
			t.Errorf("%d of %d rows of %s moved to another page, want at most a tenth", moved, len(before), table)
		}
	}
}

// findPages returns the page of each row of a table.
func (f *fixture) findPages(t *testing.T, table string) map[string]string {
	t.Helper()
	type place struct{ id, page string }
	list, err := db.All(t.Context(), f.DB.SQL, func(p *place) []any { return []any{&p.id, &p.page} },
		`SELECT id::text, tableoid || ' ' || (ctid::text::point)[0] FROM `+table)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, p := range list {
		pages[p.id] = p.page
	}
	return pages
}

// An index that contains one of these columns, or has it in its condition, changes with every delivery.
func TestNoIndexContainsColumnsOfOutcomes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for table, columns := range map[string][]string{
		"emails": {"status", "last_event", "delivered_at"},
		"attempts": {"finished_at", "outcome", "phase", "code", "enhanced_code", "reply", "remote_host", "remote_addr", "tls",
			"tls_policy", "local_addr", "class"},
	} {
		found, err := db.All(t.Context(), f.DB.SQL, db.Value[string], `
			SELECT d.objid::regclass || ' depends on ' || a.attname FROM pg_index i
			JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND d.refobjid = i.indrelid
			JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = d.refobjsubid
			WHERE i.indrelid = $1::regclass AND a.attname = ANY ($2) ORDER BY 1`, table, db.Array(columns))
		if err != nil {
			t.Fatal(err)
		}
		for _, index := range found {
			t.Errorf("%s: the index %s", table, index)
		}
	}
}
