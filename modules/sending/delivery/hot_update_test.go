package delivery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Settling a delivery writes the new version of the wide row of emails into the same page, so that none of its indexes
// changes (a HOT update).
func TestSettledEmailsStayOnTheirPage(t *testing.T) {
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
	before := f.pagesOfEmails(t)
	f.settleWith(t, f.claimAll(t), smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"})
	moved := 0
	after := f.pagesOfEmails(t)
	for id, page := range before {
		if after[id] != page {
			moved++
		}
	}
	if len(before) != 60 || moved > 6 {
		t.Errorf("%d of %d emails moved to another page, want at most a tenth", moved, len(before))
	}
}

// pagesOfEmails returns the page of each email.
func (f *fixture) pagesOfEmails(t *testing.T) map[string]string {
	t.Helper()
	type place struct{ id, page string }
	list, err := db.All(t.Context(), f.DB.SQL, func(p *place) []any { return []any{&p.id, &p.page} },
		`SELECT id, tableoid || ' ' || (ctid::text::point)[0] FROM emails`)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, p := range list {
		pages[p.id] = p.page
	}
	return pages
}
