package search

import (
	"context"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
)

// Terms are what the rows of a page have in common.
type Terms struct {
	Marks        []string  // all of them
	Words        []string  // beginnings of words, all of them
	Since, Until time.Time // zero for none
}

// ReadTime takes over the fields since and until.
func (t *Terms) ReadTime(wrong fault.Fields, since, until *time.Time) {
	if since != nil {
		t.Since = *since
	}
	if until != nil {
		t.Until = *until
	}
	if since != nil && until != nil && !since.Before(*until) {
		wrong.Add("until", "must be later than since")
	}
}

// IsEmpty tells whether every row has them.
func (t *Terms) IsEmpty() bool { return !t.Search() && t.Since.IsZero() && t.Until.IsZero() }

// Search tells whether documents have to be looked at.
func (t *Terms) Search() bool { return len(t.Marks)+len(t.Words) > 0 }

// query is the part that the index answers: exact marks need no dictionary, words go
// through the simple one.
func (t *Terms) query(q *db.Query, accountID string) string {
	query := q.Arg(AllMarks(accountID, t.Marks)) + `::tsquery`
	if len(t.Words) == 0 {
		return query
	}
	var beginnings []string
	for _, w := range t.Words {
		beginnings = append(beginnings, Lexeme(w)+":*")
	}
	return `(` + query + ` && to_tsquery('simple', ` + q.Arg(strings.Join(beginnings, " & ")) + `))`
}

// Table is a list whose rows have an id that tells their age, an account and a document
// in the column search. Its fields are SQL.
type Table struct {
	Name    string // of the table
	Prefix  id.Prefix
	Time    string // the column with the time of the row
	Columns string // that conditions name, beside id, time and search
}

// Page asks for the ids of a page.
type Page struct {
	AccountID string
	Before    string // an id; empty: from the newest on
	Limit     int
	Terms     Terms
	// Conditions are what else a row has to fulfil; nil: nothing.
	Conditions func(q *db.Query) []string
	// Index are conditions that are added when the index is asked, which follow from the
	// others and let it find few; nil: none.
	Index func(q *db.Query) []string
}

// Window is how many of the newest rows are looked at one by one.
const Window = 4000

// clockSkew is how far a row's time and the time within its id may be apart: they are
// read one after the other.
const clockSkew = time.Second

// Find gives the ids of the page, newest first.
func (t Table) Find(ctx context.Context, on db.Execer, p Page) ([]string, error) {
	before, from := p.Before, ""
	if before == "" {
		before = "~" // after every id
	}
	if !p.Terms.Since.IsZero() {
		from = id.Since(t.Prefix, p.Terms.Since.Add(-clockSkew))
	}
	if !p.Terms.Until.IsZero() {
		before = min(before, id.Since(t.Prefix, p.Terms.Until.Add(clockSkew)))
	}
	found, err := selectIDs(ctx, on, t.window(p, from, before))
	if err != nil || len(found) == p.Limit {
		return found, err
	}
	edgeSQL := `SELECT id FROM ` + t.Name + ` WHERE account_id = $1 AND id >= $2 AND id < $3 ORDER BY id DESC OFFSET $4 LIMIT 1`
	edge, err := selectIDs(ctx, on, db.Query{Text: edgeSQL, Args: []any{p.AccountID, from, before, Window - 1}})
	if err != nil || len(edge) == 0 {
		return found, err // the window has seen all there is
	}
	p.Limit -= len(found)
	more, err := selectIDs(ctx, on, t.index(p, from, edge[0]))
	return append(found, more...), err
}

// window looks at the newest rows of the range one by one.
func (t Table) window(p Page, from, before string) db.Query {
	var q db.Query
	newest := `SELECT id, ` + t.Time + `, search, ` + t.Columns + ` FROM ` + t.Name + ` WHERE account_id = ` + q.Arg(p.AccountID) +
		` AND id >= ` + q.Arg(from) + ` AND id < ` + q.Arg(before) + ` ORDER BY id DESC LIMIT ` + q.Arg(Window)
	conditions := t.conditions(&q, p)
	if p.Terms.Search() {
		conditions = append(conditions, `search @@ `+p.Terms.query(&q, p.AccountID))
	}
	q.Text = `SELECT id FROM (` + newest + `) e WHERE ` + strings.Join(conditions, " AND ") + ` ORDER BY id DESC LIMIT ` + q.Arg(p.Limit)
	return q
}

// index asks the index that finds few.
func (t Table) index(p Page, from, before string) db.Query {
	var q db.Query
	source := t.Name
	if p.Terms.Search() {
		// Apart, so that the planner cannot walk the account's rows instead.
		source = `(SELECT id, account_id, ` + t.Time + `, ` + t.Columns + ` FROM ` + t.Name + ` WHERE search @@ ` + p.Terms.query(&q, p.AccountID) + ` OFFSET 0)`
	}
	conditions := append(t.conditions(&q, p), `account_id = `+q.Arg(p.AccountID), `id >= `+q.Arg(from), `id < `+q.Arg(before))
	if p.Index != nil {
		conditions = append(conditions, p.Index(&q)...)
	}
	q.Text = `SELECT id FROM ` + source + ` e WHERE ` + strings.Join(conditions, " AND ") + ` ORDER BY id DESC LIMIT ` + q.Arg(p.Limit)
	return q
}

func (t Table) conditions(q *db.Query, p Page) []string {
	all := []string{"true"}
	if p.Conditions != nil {
		all = append(all, p.Conditions(q)...)
	}
	for _, bound := range []struct {
		at       time.Time
		operator string
	}{{p.Terms.Since, " >= "}, {p.Terms.Until, " < "}} {
		if !bound.at.IsZero() {
			all = append(all, t.Time+bound.operator+q.Arg(bound.at.UTC().Format(time.RFC3339Nano))+`::timestamptz`)
		}
	}
	return all
}

func selectIDs(ctx context.Context, on db.Execer, q db.Query) ([]string, error) {
	return db.All(ctx, on, db.Value[string], q.Text, q.Args...)
}
