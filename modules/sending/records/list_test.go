package records_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/storage/search"
)

// findSubjects returns the subjects of the emails that match a filter, sorted. It pages forwards and backwards,
// which must return the same, and counts them.
func (f *fixture) findSubjects(t *testing.T, filter records.Filter) []string {
	t.Helper()
	all := f.readPages(t, filter, false)
	back := f.readPages(t, filter, true)
	slices.Reverse(back)
	if diff := cmp.Diff(all, back); diff != "" {
		t.Errorf("%+v: paging backwards differs (-forwards +back):\n%s", filter, diff)
	}
	for _, most := range []int{1, len(all) + 1} {
		if n, err := f.Service.Count(t.Context(), sendingtest.Account, filter, most); err != nil ||
			n != min(most, len(all)) {
			t.Errorf("%+v: counted up to %d: %d, %v; there are %d", filter, most, n, err, len(all))
		}
	}
	slices.Sort(all)
	return all
}

func (f *fixture) readPages(t *testing.T, filter records.Filter, back bool) (subjects []string) {
	t.Helper()
	q := records.ListQuery{Page: page.Request{Limit: 2, Back: back}, Filter: filter} // small, to cross pages
	if filter.Q == "bulk" {
		q.Page.Limit = page.MaxLimit
	}
	for {
		p, err := f.List(t.Context(), sendingtest.Account, q)
		if err != nil {
			t.Fatal(err)
		}
		if back {
			slices.Reverse(p.Items)
			slices.Reverse(p.Cursors)
		}
		for _, e := range p.Items {
			subjects = append(subjects, e.Subject)
		}
		if back && !p.HasPrevious || !back && !p.HasMore {
			return subjects
		}
		q.Page.Cursor = p.Cursors[len(p.Cursors)-1]
	}
}

// sendMessage creates an email named by its subject.
func (f *fixture) sendMessage(t *testing.T, subject string, change func(*sending.Message)) {
	t.Helper()
	m := rooms.SimpleMessage("bob@example.net")
	m.Subject = subject
	if change != nil {
		change(&m)
	}
	f.Send(t, m)
}

func TestFilters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.sendMessage(t, "plain", nil)
	f.sendMessage(t, "Your Receipt no. 1042", func(m *sending.Message) {
		m.To = []sending.Mailbox{{Text: "Bärbel Müller <B.Mueller@Bücher.example>"}}
		m.Tags = []shape.Tag{{Name: "kind", Value: "receipt"}}
	})
	f.sendMessage(t, "copies", func(m *sending.Message) {
		m.CC, m.BCC = []sending.Mailbox{{Text: "carol@example.org"}}, []sending.Mailbox{{Text: "dan@example.org"}}
		m.Tags = []shape.Tag{{Name: "kind", Value: "receipts"}, {Name: "team", Value: "a"}}
	})
	f.sendMessage(t, `quotes ' and \ and &|!`,
		func(m *sending.Message) { m.From = sending.Mailbox{Text: "Other <other@mail.example.com>"} })
	before := time.Now().Add(-time.Hour)
	later := time.Now().Add(time.Hour)
	for subject, machine := range map[string]string{"copies": "", "plain": "scanner"} {
		if _, err := f.DB.SQL.ExecContext(t.Context(),
			`INSERT INTO engagements (account_id, email_id, kind, machine, created_at) SELECT account_id, id, 'open', $2, now() FROM emails WHERE subject = $1`, subject, machine); err != nil {
			t.Fatal(err)
		}
	}

	for name, c := range map[string]struct {
		filter records.Filter
		want   []string
	}{
		"to":                     {records.Filter{To: "bob@example.net"}, []string{"plain", "copies", `quotes ' and \ and &|!`}},
		"to in another case":     {records.Filter{To: "b.mueller@bücher.example"}, []string{"Your Receipt no. 1042"}},
		"to in A-labels":         {records.Filter{To: "b.mueller@xn--bcher-kva.example"}, []string{"Your Receipt no. 1042"}},
		"to finds copies":        {records.Filter{To: "carol@example.org"}, []string{"copies"}},
		"to finds blind copies":  {records.Filter{To: "dan@example.org"}, []string{"copies"}},
		"to finds no beginnings": {records.Filter{To: "bob@example.ne"}, nil},
		"from":                   {records.Filter{From: "other@mail.example.com"}, []string{`quotes ' and \ and &|!`}},
		"domain":                 {records.Filter{Domain: "MAIL.example.com."}, []string{`quotes ' and \ and &|!`}},
		"domain is not its parent": {records.Filter{Domain: "example.com"},
			[]string{"plain", "Your Receipt no. 1042", "copies"}},
		"domain by id":      {records.Filter{Domain: "dom_01kf0m4w7he6x8q2v5b3n9c1ta", Tag: "team:a"}, []string{"copies"}},
		"another domain":    {records.Filter{Domain: "dom_01kf0m4w7he6x8q2v5b3n9c1tb"}, nil},
		"tag":               {records.Filter{Tag: "kind:receipt"}, []string{"Your Receipt no. 1042"}},
		"tag, unknown":      {records.Filter{Tag: "kind:Receipt"}, nil},
		"status":            {records.Filter{Status: "sent", Tag: "kind:receipt"}, []string{"Your Receipt no. 1042"}},
		"status, none":      {records.Filter{Status: "bounced"}, nil},
		"since":             {records.Filter{Since: &before, Tag: "team:a"}, []string{"copies"}},
		"since, later":      {records.Filter{Since: &later}, nil},
		"until":             {records.Filter{Until: &before}, nil},
		"words":             {records.Filter{Q: "your receipt"}, []string{"Your Receipt no. 1042"}},
		"beginnings":        {records.Filter{Q: "REC 10"}, []string{"Your Receipt no. 1042"}},
		"a name":            {records.Filter{Q: "müll"}, []string{"Your Receipt no. 1042"}},
		"part of address":   {records.Filter{Q: "mueller"}, []string{"Your Receipt no. 1042"}},
		"an address":        {records.Filter{Q: "carol@example.org"}, []string{"copies"}},
		"a tag's value":     {records.Filter{Q: "team"}, []string{"copies"}},
		"no such word":      {records.Filter{Q: "receipt nowhere"}, nil},
		"quotes":            {records.Filter{Q: `quotes ' \ &`}, []string{`quotes ' and \ and &|!`}},
		"no marks by word":  {records.Filter{Q: "g=kind:receipt"}, nil},
		"fields in a text":  {records.Filter{Q: `Copies to:dan@example.org from:ada@example.com tag:team=a is:sent domain:example.com after:2020-01-31 before:2999-01-01T00:00:00Z`}, []string{"copies"}},
		"quotes in a text":  {records.Filter{Q: `to:"carol@example.org"`}, []string{"copies"}},
		"in the subject":    {records.Filter{Q: `subject:"rec YOUR" to:mueller@example.net`}, nil},
		"a domain":          {records.Filter{Q: "@bücher.example"}, []string{"Your Receipt no. 1042"}},
		"end of a word":     {records.Filter{Q: "ceipt 042"}, []string{"Your Receipt no. 1042"}},
		"end of an address": {records.Filter{Q: "rol@example.org"}, []string{"copies"}},
		"to a part":         {records.Filter{Q: "to:carol@"}, []string{"copies"}},
		"to a domain":       {records.Filter{Q: "to:example.org"}, []string{"copies"}},
		"to the sender":     {records.Filter{Q: "to:other@"}, nil},
		"from a part":       {records.Filter{Q: "from:other"}, []string{`quotes ' and \ and &|!`}},
		"no wildcards":      {records.Filter{Q: "r%t"}, nil},
		"no names of JSON":  {records.Filter{Q: "alue"}, nil},
		"subject's words":   {records.Filter{Q: `subject:"rec YOUR" subject:1042`}, []string{"Your Receipt no. 1042"}},
		"only elsewhere":    {records.Filter{Q: "subject:mueller"}, nil},
		"template":          {records.Filter{Q: "template:tpl_none"}, nil},
		"automation":        {records.Filter{AutomationID: "aut_none"}, nil},
		"latest event":      {records.Filter{LastEvent: "email.sent", Tag: "team:a"}, []string{"copies"}},
		"another event":     {records.Filter{LastEvent: "email.opened"}, nil},
		"key":               {records.Filter{APIKeyID: "key_none"}, nil},
		"not opened":        {records.Filter{Opened: new(false)}, []string{"plain", "Your Receipt no. 1042", `quotes ' and \ and &|!`}},
		"class":             {records.Filter{BounceClass: "bad_address"}, nil},
		"opened":            {records.Filter{Q: "is:opened"}, []string{"copies"}},
		"clicked":           {records.Filter{Q: "is:clicked"}, nil},
		"all at once": {records.Filter{Status: "sent", To: "dan@example.org", From: "ada@example.com", Tag: "team:a", Domain: "example.com",
			Since: &before, Until: &later, Q: "copies"}, []string{"copies"}},
	} {
		slices.Sort(c.want)
		if diff := cmp.Diff(c.want, f.findSubjects(t, c.filter)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestInvalidFilters(t *testing.T) {
	t.Parallel()
	long := make([]byte, 201)
	for i := range long {
		long[i] = 'x'
	}
	now := time.Now()
	for _, c := range []struct {
		filter records.Filter
		field  string
	}{
		{records.Filter{Status: "opened"}, "status"}, {records.Filter{To: "bob"}, "to"},
		{records.Filter{From: "@"}, "from"}, {records.Filter{Tag: "kind"}, "tag"},
		{records.Filter{Tag: "ki nd:x"}, "tag"}, {records.Filter{Domain: "-"}, "domain"},
		{records.Filter{Q: string(long)}, "q"}, {records.Filter{Q: "a b c d e f g h i j k"}, "q"},
		{records.Filter{Q: "a\x00b"}, "q"}, {records.Filter{Q: "\xff"}, "q"}, {records.Filter{Q: "--"}, "q"},
		{records.Filter{Since: &now, Until: &now}, "until"},
		{records.Filter{Q: `to:"bob`}, "q"}, {records.Filter{Q: "stauts:sent"}, "q"},
		{records.Filter{Q: `subject:"--"`}, "q"}, {records.Filter{Q: "is:read"}, "q"},
		{records.Filter{Q: "after:yesterday"}, "q"}, {records.Filter{Q: "to:a@b.example to:c@d.example"}, "q"},
		{records.Filter{LastEvent: "email.eaten"}, "last_event"}, {records.Filter{APIKeyID: "dom_1"}, "api_key_id"},
		{records.Filter{TemplateID: "tpl_\x00"}, "template_id"},
		{records.Filter{AutomationID: "welcome"}, "automation_id"},
		{records.Filter{Version: new(1)}, "template_version"},
		{records.Filter{TemplateID: "tpl_1", Version: new(1 << 31)}, "template_version"}, {records.Filter{BounceClass: "bad address"}, "bounce_class"},
		{records.Filter{Q: "is:sent", Status: "failed"}, "q"}, {records.Filter{Q: "to:@"}, "q"}, {records.Filter{Q: "to:bob@-.example"}, "to"},
	} {
		if wrong := c.filter.Validate(); len(wrong) != 1 || wrong[c.field] == "" {
			t.Errorf("%+v: %v, want only %s", c.filter, wrong, c.field)
		}
	}
}

// Beyond the window, the index must find the rest, each once and in order.
func TestSearchContinuesBeyondTheWindow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.sendMessage(t, "needle first", func(m *sending.Message) { m.Tags = []shape.Tag{{Name: "kind", Value: "needle"}} })
	f.sendMessage(t, "needle second",
		func(m *sending.Message) { m.Tags = []shape.Tag{{Name: "kind", Value: "needle"}} })
	f.storeBulk(t, sendingtest.Account, search.Window+10)
	f.storeBulk(t, "acc_01kf0m4w7he6x8q2v5b3n9c1tb", 10) // emails of another account with the same words
	f.sendMessage(t, "needle third", func(m *sending.Message) { m.Tags = []shape.Tag{{Name: "kind", Value: "needle"}} })
	if _, err := f.DB.SQL.ExecContext(t.Context(), `UPDATE emails SET status = 'bounced', uncommon = 'bounced' WHERE subject = 'needle first'`); err != nil {
		t.Fatal(err)
	}

	needles := []string{"needle first", "needle second", "needle third"}
	for name, c := range map[string]struct {
		filter records.Filter
		want   []string
	}{
		"mark":                {records.Filter{Tag: "kind:needle"}, needles},
		"word":                {records.Filter{Q: "needl"}, needles},
		"in the subject":      {records.Filter{Q: "subject:need subject:th"}, needles[2:]},
		"rare status":         {records.Filter{Status: "bounced"}, needles[:1]},
		"rare status, a word": {records.Filter{Status: "bounced", Q: "needle"}, needles[:1]},
		"open ones":           {records.Filter{Status: "sent", Q: "needle"}, needles[1:]},
		"nothing":             {records.Filter{Tag: "kind:nail"}, nil},
		"no status like it":   {records.Filter{Status: "failed"}, nil},
		"opened ones":         {records.Filter{Q: "is:opened needle"}, nil},
		"of a template":       {records.Filter{TemplateID: "tpl_none"}, nil},
	} {
		if diff := cmp.Diff(c.want, f.findSubjects(t, c.filter)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := f.findSubjects(t, records.Filter{Status: "sent"}); len(got) != 2 {
		t.Errorf("%d emails have status sent, want the 2 that have open recipients", len(got))
	}
	if got := f.findSubjects(t, records.Filter{Q: "bulk"}); len(got) != search.Window+10 {
		t.Errorf("%d emails with a common word, want %d", len(got), search.Window+10)
	}
}

// People paste what they see: a part of an address, the domain of a recipient, an id, or the number of an order. Emails
// beyond the window, which only the index finds, match by all but the middle of a word.
func TestSearchFindsWhatPeoplePaste(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, subject := range []string{"Invoice INV-990022", "Order ORD990022x", "Plain"} {
		f.sendMessage(t, subject, func(m *sending.Message) {
			m.To = []sending.Mailbox{{Text: "Ada Byron <ada.lovelace+news@mail.wonder.example>"}}
		})
	}
	emailID := f.selectText(t, "id")
	messageID := f.selectText(t, "message_id")
	all := []string{"Invoice INV-990022", "Order ORD990022x", "Plain"}
	forms := map[string][]string{
		"ada.lovelace": all, "lovelace": all, "lovelace+news@mail.wonder.example": all, "@mail.wonder.example": all, "wonder.example": all,
		"<ada.lovelace+news@mail.wonder.example>,": all, "to:@mail.wonder.example": all, "to:wonder.example": all,
		"to:ada.lovelace@": nil, "to:ada.lovelace": all, "wonder.example plain": {"Plain"}, emailID: {"Plain"},
		"ada.lovelace+news@mail.won": all, "wonder.exam": all,
		"<" + messageID + ">": {"Plain"}, messageID: {"Plain"}, "INV-990022": all[:1], "inv 990022": all[:1],
		"nowhere.example": nil, "wonder.mail": nil,
	}
	expectForms := func(where string) {
		t.Helper()
		for q, want := range forms {
			if diff := cmp.Diff(want, f.findSubjects(t, records.Filter{Q: q})); diff != "" {
				t.Errorf("%s, searching for %q (-want +got):\n%s", where, q, diff)
			}
		}
	}
	forms["990022"], forms["#990022"], forms["lace+news"], forms["onder.exam"] = all[:2], all[:2], all, all
	expectForms("in the window")
	f.storeBulk(t, sendingtest.Account, search.PartsWindow+10)
	forms["990022"], forms["#990022"], forms["lace+news"], forms["onder.exam"] = all[:1], all[:1], nil, nil
	expectForms("beyond the window")
}

// Sparse matches are searched in a second window sized by their density, and then by the index.
func TestSearchWidensForSparseMatches(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var want []string
	for i, behind := range []int{4 * search.Window, 100, search.Window + 50, 0} { // a page has two
		want = append(want, fmt.Sprintf("pin %d", i))
		f.sendMessage(t, want[i], func(m *sending.Message) { m.Tags = []shape.Tag{{Name: "kind", Value: "pin"}} })
		f.storeBulk(t, sendingtest.Account, behind)
	}
	if diff := cmp.Diff(want, f.findSubjects(t, records.Filter{Tag: "kind:pin"})); diff != "" {
		t.Error(diff)
	}
}

// storeBulk stores delivered emails without using Send.
func (f *fixture) storeBulk(t *testing.T, accountID string, n int) {
	t.Helper()
	_, err := f.DB.SQL.ExecContext(t.Context(), `
		INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", subject, message_id, status, last_event, created_at, sent_at, search)
		SELECT $3::text || lpad(i::text, 6, '0'), $1::text, 'dom_x', 'ada@example.com', 'ada@example.com', '[]', 'bulk ' || i, 'x', 'delivered', 'email.delivered', now(), now(),
			to_tsvector('simple', 'bulk ' || i) || array_to_tsvector(ARRAY['a=' || $1::text, 'f=ada@example.com'])
		FROM generate_series(1, $2::int) i`, accountID, n, id.New(id.Email)[:20])
	if err != nil {
		t.Fatal(err)
	}
}

func TestListRefusesABadFilter(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.List(t.Context(), sendingtest.Account,
		records.ListQuery{Page: page.Request{Limit: 1}, Filter: records.Filter{Status: "x"}})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("List with a wrong status returned %v, want kind Invalid", err)
	}
}

// selectText returns a column of the email with the subject Plain.
func (f *fixture) selectText(t *testing.T, column string) (value string) {
	t.Helper()
	err := f.DB.SQL.QueryRowContext(t.Context(), `SELECT `+column+` FROM emails WHERE subject = 'Plain'`).Scan(&value)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
