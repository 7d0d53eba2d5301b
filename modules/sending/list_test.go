package sending

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/page"
	"github.com/postrider/postrider/runtime/search"
)

func (f *fixture) found(t *testing.T, filter Filter) []string {
	t.Helper()
	var all []string
	q := ListQuery{Page: page.Request{Limit: 2}, Filter: filter} // small, so that pages are crossed
	for {
		p, err := f.List(t.Context(), testAccount, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Items {
			all = append(all, e.Subject)
		}
		if !p.HasMore {
			slices.Sort(all)
			return all
		}
		q.Page.Cursor = p.NextCursor
	}
}

// message makes an email whose subject names it in the answers.
func (f *fixture) message(t *testing.T, subject string, change func(*Message)) {
	t.Helper()
	m := simple("bob@example.net")
	m.Subject = subject
	if change != nil {
		change(&m)
	}
	f.send(t, m)
}

func TestFiltersFindWhatTheyName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.message(t, "plain", nil)
	f.message(t, "Your Receipt no. 1042", func(m *Message) {
		m.To = []Mailbox{{Text: "Bärbel Müller <B.Mueller@Bücher.example>"}}
		m.Tags = []shape.Tag{{Name: "kind", Value: "receipt"}}
	})
	f.message(t, "copies", func(m *Message) {
		m.CC, m.BCC = []Mailbox{{Text: "carol@example.org"}}, []Mailbox{{Text: "dan@example.org"}}
		m.Tags = []shape.Tag{{Name: "kind", Value: "receipts"}, {Name: "team", Value: "a"}}
	})
	f.message(t, `quotes ' and \ and &|!`, func(m *Message) { m.From = Mailbox{Text: "Other <other@mail.example.com>"} })
	before := time.Now().Add(-time.Hour)
	later := time.Now().Add(time.Hour)

	for name, c := range map[string]struct {
		filter Filter
		want   []string
	}{
		"to":                     {Filter{To: "bob@example.net"}, []string{"plain", "copies", `quotes ' and \ and &|!`}},
		"to in another case":     {Filter{To: "b.mueller@bücher.example"}, []string{"Your Receipt no. 1042"}},
		"to in A-labels":         {Filter{To: "b.mueller@xn--bcher-kva.example"}, []string{"Your Receipt no. 1042"}},
		"to finds copies":        {Filter{To: "carol@example.org"}, []string{"copies"}},
		"to finds blind copies":  {Filter{To: "dan@example.org"}, []string{"copies"}},
		"to finds no beginnings": {Filter{To: "bob@example.ne"}, nil},
		"from":                   {Filter{From: "other@mail.example.com"}, []string{`quotes ' and \ and &|!`}},
		"domain":                 {Filter{Domain: "MAIL.example.com."}, []string{`quotes ' and \ and &|!`}},
		"domain is not its parent": {Filter{Domain: "example.com"},
			[]string{"plain", "Your Receipt no. 1042", "copies"}},
		"domain by id":     {Filter{Domain: "dom_01kf0m4w7he6x8q2v5b3n9c1ta", Tag: "team:a"}, []string{"copies"}},
		"another domain":   {Filter{Domain: "dom_01kf0m4w7he6x8q2v5b3n9c1tb"}, nil},
		"tag":              {Filter{Tag: "kind:receipt"}, []string{"Your Receipt no. 1042"}},
		"tag, unknown":     {Filter{Tag: "kind:Receipt"}, nil},
		"status":           {Filter{Status: "sent", Tag: "kind:receipt"}, []string{"Your Receipt no. 1042"}},
		"status, none":     {Filter{Status: "bounced"}, nil},
		"since":            {Filter{Since: &before, Tag: "team:a"}, []string{"copies"}},
		"since, later":     {Filter{Since: &later}, nil},
		"until":            {Filter{Until: &before}, nil},
		"words":            {Filter{Q: "your receipt"}, []string{"Your Receipt no. 1042"}},
		"beginnings":       {Filter{Q: "REC 10"}, []string{"Your Receipt no. 1042"}},
		"a name":           {Filter{Q: "müll"}, []string{"Your Receipt no. 1042"}},
		"part of address":  {Filter{Q: "mueller"}, []string{"Your Receipt no. 1042"}},
		"an address":       {Filter{Q: "carol@example.org"}, []string{"copies"}},
		"a tag's value":    {Filter{Q: "team"}, []string{"copies"}},
		"no such word":     {Filter{Q: "receipt nowhere"}, nil},
		"quotes":           {Filter{Q: `quotes ' \ &`}, []string{`quotes ' and \ and &|!`}},
		"no marks by word": {Filter{Q: "g=kind:receipt"}, nil},
		"all at once": {Filter{Status: "sent", To: "dan@example.org", From: "ada@example.com", Tag: "team:a", Domain: "example.com",
			Since: &before, Until: &later, Q: "copies"}, []string{"copies"}},
	} {
		slices.Sort(c.want)
		if diff := cmp.Diff(c.want, f.found(t, c.filter)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFiltersSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	long := make([]byte, 201)
	for i := range long {
		long[i] = 'x'
	}
	now := time.Now()
	for _, c := range []struct {
		filter Filter
		field  string
	}{
		{Filter{Status: "opened"}, "status"}, {Filter{To: "bob"}, "to"}, {Filter{From: "@"}, "from"}, {Filter{Tag: "kind"}, "tag"},
		{Filter{Tag: "ki nd:x"}, "tag"}, {Filter{Domain: "-"}, "domain"}, {Filter{Q: string(long)}, "q"}, {Filter{Q: "a b c d e f g h i j k"}, "q"},
		{Filter{Q: "a\x00b"}, "q"}, {Filter{Q: "\xff"}, "q"}, {Filter{Q: "--"}, "q"}, {Filter{Since: &now, Until: &now}, "until"},
	} {
		if wrong := c.filter.Validate(); len(wrong) != 1 || wrong[c.field] == "" {
			t.Errorf("%+v: %v, want only %s", c.filter, wrong, c.field)
		}
	}
}

// Past the window the index has to find the rest, each once and in order.
func TestSearchGoesOnBeyondTheWindow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.message(t, "needle first", func(m *Message) { m.Tags = []shape.Tag{{Name: "kind", Value: "needle"}} })
	f.message(t, "needle second", func(m *Message) { m.Tags = []shape.Tag{{Name: "kind", Value: "needle"}} })
	f.bulk(t, testAccount, search.Window+10)
	f.bulk(t, "acc_01kf0m4w7he6x8q2v5b3n9c1tb", 10) // another account's, with the same words
	f.message(t, "needle third", func(m *Message) { m.Tags = []shape.Tag{{Name: "kind", Value: "needle"}} })
	if _, err := f.db.SQL.ExecContext(t.Context(), `UPDATE emails SET status = 'bounced', uncommon = 'bounced' WHERE subject = 'needle first'`); err != nil {
		t.Fatal(err)
	}

	needles := []string{"needle first", "needle second", "needle third"}
	for name, c := range map[string]struct {
		filter Filter
		want   []string
	}{
		"mark":                {Filter{Tag: "kind:needle"}, needles},
		"word":                {Filter{Q: "needl"}, needles},
		"rare status":         {Filter{Status: "bounced"}, needles[:1]},
		"rare status, a word": {Filter{Status: "bounced", Q: "needle"}, needles[:1]},
		"open ones":           {Filter{Status: "sent", Q: "needle"}, needles[1:]},
		"nothing":             {Filter{Tag: "kind:nail"}, nil},
		"no status like it":   {Filter{Status: "failed"}, nil},
	} {
		if diff := cmp.Diff(c.want, f.found(t, c.filter)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := f.found(t, Filter{Status: "sent"}); len(got) != 2 {
		t.Errorf("%d emails are on their way, want the 2 that have open recipients", len(got))
	}
	if got := f.found(t, Filter{Q: "bulk"}); len(got) != search.Window+10 {
		t.Errorf("%d emails with a common word, want %d", len(got), search.Window+10)
	}
}

// bulk stores delivered emails without the way through Send.
func (f *fixture) bulk(t *testing.T, accountID string, n int) {
	t.Helper()
	_, err := f.db.SQL.ExecContext(t.Context(), `
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
	_, err := f.List(t.Context(), testAccount, ListQuery{Page: page.Request{Limit: 1}, Filter: Filter{Status: "x"}})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("%v", err)
	}
}
