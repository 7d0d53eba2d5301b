package search

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Terms are the conditions that all rows of a page must meet.
type Terms struct {
	ID           string     // of the only row; empty if unset
	Marks        []string   // all must match
	Words        []string   // prefixes of words or parts of addresses (PartsWindow), all must match
	Subject      []string   // likewise, in the subject
	Contains     []Contains // likewise, in other texts
	Since, Until time.Time  // zero if unset
}

// ReadTime sets the fields since and until.
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

// IsEmpty reports whether every row matches.
func (t *Terms) IsEmpty() bool {
	return t.ID == "" && !t.Search() && t.Since.IsZero() && t.Until.IsZero()
}

// Search reports whether documents must be searched.
func (t *Terms) Search() bool { return len(t.Marks) > 0 || t.hasParts() }

// Table is a list whose rows have a time-ordered id, an account, a subject and a document in the column search.
// Its fields are SQL.
type Table struct {
	Name    string // of the table
	Prefix  id.Prefix
	Time    string // the column with the time of the row
	Columns string // columns that conditions and Texts use, in addition to id, time, subject and search
	Texts   string // the texts of a row in which a part of a word may be; the subject if empty
	// Lookups returns conditions that an index answers, one of which is true for a row that a word identifies.
	// It is set for a table without subject and document.
	Lookups func(q *db.Query, word string) []Lookup
}

// Lookup is a condition on the rows of a table.
type Lookup struct {
	SQL     string
	Ordered bool // the index for the condition is sorted by id
}

// PageRequest is a request for the ids of a page.
type PageRequest struct {
	AccountID  string
	StartAfter string // the id after which the page begins; may be empty
	Back       bool   // newer rows, from that id or the oldest on, instead of older ones
	Limit      int
	Terms      Terms
	// Conditions returns additional conditions on the rows. Optional.
	Conditions func(q *db.Query) []string
	// Index returns conditions to add when the index is queried. They are implied by the others and narrow
	// the result. Optional.
	Index func(q *db.Query) []string

	insideWords bool // words also match inside other words
}

// Window is the number of the next rows that are scanned first. If part of the page was found among them, the
// scan continues, up to widest, over as many rows as should contain the missing ones at the same density: the
// index would fetch every row of the account that has the words and then sort by age.
const (
	Window = 4000
	widest = 8 * Window
	// manyRows is the number of rows of an account from which only commonWindow more rows are searched for words
	// that are all common but do not occur together in the next rows.
	manyRows     = 100_000
	commonWindow = 4 * Window
)

// rowsToScan returns how many more rows to scan after a window contained part of a page, or 0.
func rowsToScan(found, missing int) int {
	if found == 0 {
		return 0
	}
	if rows := Window * missing / found * 3 / 2; rows <= widest {
		return max(rows, Window+1)
	}
	return 0
}

// clockSkew is the maximum difference between a row's time and the time in its id: the clock is read for
// one after the other.
const clockSkew = time.Second

// idRange is the range of ids in which a page is searched: from the first up to but excluding the second.
type idRange struct {
	from, below string
	back        bool
}

// orderBy returns the SQL order outwards from where the page begins.
func (r idRange) orderBy() string {
	if r.back {
		return ` ORDER BY id `
	}
	return ` ORDER BY id DESC `
}

// beyondID returns the rest of the range after an id.
func (r idRange) beyondID(id string) idRange {
	if r.back {
		r.from = max(r.from, nextID(id))
	} else {
		r.below = min(r.below, id)
	}
	return r
}

// everything sorts after every id.
const everything = "~"

// nextID returns the smallest possible id after another: the ids of a table have equal length.
func nextID(id string) string { return id + "!" }

func (t Table) pageRange(p PageRequest) idRange {
	r := idRange{below: everything, back: p.Back} // all ids
	if !p.Terms.Since.IsZero() {
		r.from = id.Since(t.Prefix, p.Terms.Since.Add(-clockSkew))
	}
	if !p.Terms.Until.IsZero() {
		r.below = id.Since(t.Prefix, p.Terms.Until.Add(clockSkew))
	}
	if only := p.Terms.ID; only != "" {
		r.from, r.below = max(r.from, only), min(r.below, nextID(only))
	}
	if p.StartAfter != "" {
		r = r.beyondID(p.StartAfter)
	}
	return r
}

// Find returns the ids of the page, from where it begins: newest first, or with Back oldest first.
func (t Table) Find(ctx context.Context, on db.Execer, p PageRequest) ([]string, error) {
	r := t.pageRange(p)
	if !p.Terms.hasParts() || p.Terms.ID != "" {
		return t.findIn(ctx, on, p, r, Window)
	}
	bound, err := t.rowID(ctx, on, p, idRange{below: everything}, PartsWindow)
	if err != nil {
		return nil, err
	}
	newest, older := r, r
	newest.from, older.below = max(r.from, bound), min(r.below, bound)
	var found []string
	if r.back && older.from < older.below {
		if found, err = t.findIn(ctx, on, p, older, Window); err != nil || len(found) == p.Limit {
			return found, err
		}
	}
	limit := p.Limit
	p.Limit -= len(found)
	parts, err := t.scanParts(ctx, on, p, newest)
	found = append(found, parts...)
	if p.Limit = limit - len(found); err != nil || p.Limit == 0 || r.back || older.from >= older.below {
		return found, err
	}
	first := Window
	if len(found) == 0 {
		first = 0 // the terms are rare
	}
	more, err := t.findIn(ctx, on, p, older, first)
	return append(found, more...), err
}

// scanParts returns ids in a range of at most PartsWindow rows, where words also match inside other words.
func (t Table) scanParts(ctx context.Context, on db.Execer, p PageRequest, r idRange) (found []string, err error) {
	limit := p.Limit
	p.insideWords = true
	for _, rows := range []int{Window, PartsWindow - Window} {
		p.Limit = limit - len(found)
		more, err := selectIDs(ctx, on, t.windowQuery(p, r, rows))
		if found = append(found, more...); err != nil || len(found) == limit || rows < Window {
			return found, err
		}
		edge, err := t.rowID(ctx, on, p, r, rows)
		if err != nil || edge == "" {
			return found, err
		}
		r = r.beyondID(edge)
	}
	return found, nil
}

// findIn returns ids in a range: those among the next rows, and those that the index finds.
func (t Table) findIn(ctx context.Context, on db.Execer, p PageRequest, r idRange, rows int) (found []string, err error) {
	if t.Lookups != nil {
		return t.lookUp(ctx, on, p, r)
	}
	missing, near := p.Limit, r
	if !r.back {
		near.from = max(r.from, t.RecentBound(ctx, on, strings.TrimSuffix(r.below, everything)))
	}
	start := near
	for rows > 0 {
		p.Limit = missing
		nearest, err := selectIDs(ctx, on, t.windowQuery(p, near, rows))
		if found = append(found, nearest...); err != nil || len(nearest) == missing {
			return found, err
		}
		edge, err := t.rowID(ctx, on, p, near, rows)
		if err != nil || edge == "" && near == r {
			return found, err // the window covered all rows
		}
		missing -= len(nearest)
		if edge == "" { // no further recent rows
			r.below = min(r.below, near.from)
			near = r
			continue
		}
		r = r.beyondID(edge)
		near = r
		if rows > Window {
			break
		}
		rows = rowsToScan(len(nearest), missing)
	}
	p.Limit = missing
	words, rare, err := t.indexWords(ctx, on, p, start)
	if err != nil {
		return found, err
	}
	q, err := t.indexQuery(ctx, on, p, r, words)
	if err != nil {
		return found, err
	}
	if !rare && len(p.Terms.Marks) == 0 {
		// Entries of common words in the index are as many as rows.
		large, err := t.rowID(ctx, on, p, idRange{below: everything}, manyRows)
		if err != nil {
			return found, err
		}
		if large != "" {
			q = t.windowQuery(p, r, commonWindow)
		}
	}
	more, err := selectIDs(ctx, on, q)
	return append(found, more...), err
}

// rowID returns the id of a row of a range, counted from 1; empty if there are fewer rows.
func (t Table) rowID(ctx context.Context, on db.Execer, p PageRequest, r idRange, row int) (string, error) {
	rowSQL := `SELECT id FROM ` + t.Name + ` WHERE account_id = $1 AND id >= $2 AND id < $3` + r.orderBy() + `OFFSET $4 LIMIT 1`
	found, err := selectIDs(ctx, on, db.Query{Text: rowSQL, Args: []any{p.AccountID, r.from, r.below, row - 1}})
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

// windowQuery returns a query that scans the next rows of the range.
func (t Table) windowQuery(p PageRequest, r idRange, rows int) db.Query {
	var q db.Query
	nearest := `SELECT ` + t.columns() + ` FROM ` + t.Name + ` WHERE account_id = ` + q.Arg(p.AccountID) +
		` AND id >= ` + q.Arg(r.from) + ` AND id < ` + q.Arg(r.below) + r.orderBy() + `LIMIT ` + q.Arg(rows)
	conditions := t.pageConditions(&q, p)
	if len(p.Terms.Marks) > 0 {
		conditions = append(conditions, `search @@ `+q.Arg(AllMarks(p.AccountID, p.Terms.Marks))+`::tsquery`)
	}
	q.Text = `SELECT id FROM (` + nearest + `) e WHERE ` + strings.Join(conditions, " AND ") + r.orderBy() + `LIMIT ` + q.Arg(p.Limit)
	return q
}

// columns returns the columns that conditions may use.
func (t Table) columns() string {
	all := []string{"id", "account_id", t.Time}
	if t.Columns != "" {
		all = append(all, t.Columns)
	}
	if t.Lookups == nil {
		all = append(all, "subject", "search")
	}
	return strings.Join(all, ", ")
}

// mostRowsSQL reports whether at least half of the rows of a table belong to an account, as of the latest statistics of
// the table: whether its mark is that common.
const mostRowsSQL = `
SELECT EXISTS (
	SELECT FROM pg_stats s, unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) AS x (lexeme, share)
	WHERE s.schemaname = ANY(current_schemas(false)) AND s.tablename = $1 AND s.attname = 'search' AND x.lexeme = $2 AND x.share >= 0.5)`

// indexQuery returns a query that uses the index, for rare terms.
func (t Table) indexQuery(ctx context.Context, on db.Execer, p PageRequest, r idRange, words []indexWord) (q db.Query,
	err error) {
	source := t.Name
	if p.Terms.Search() {
		marks := p.Terms.Marks
		// The index would look up each row of the other terms among those of the account, which takes twice as long as
		// reading the row. That is worthwhile only if most of these rows belong to other accounts.
		most, err := db.One(ctx, on, db.Value[bool], mostRowsSQL, t.Name, MarkAccount+p.AccountID)
		if err != nil {
			return q, fmt.Errorf("read statistics of %s: %w", t.Name, err)
		}
		if !most || len(marks)+len(words) == 0 {
			marks = append([]string{MarkAccount + p.AccountID}, marks...)
		}
		var queries []string
		if len(marks) > 0 {
			queries = append(queries, q.Arg(allMarks(marks))+`::tsquery`)
		}
		for _, w := range words {
			queries = append(queries, w.tsQuery(&q, " & "))
		}
		// A subquery, so that the planner cannot scan the account's rows instead.
		source = `(SELECT ` + t.columns() + ` FROM ` + t.Name + ` WHERE search @@ (` + strings.Join(queries, ` && `) + `) OFFSET 0)`
	}
	conditions := append(t.pageConditions(&q, p), t.rangeConditions(&q, p, r)...)
	if p.Index != nil {
		conditions = append(conditions, p.Index(&q)...)
	}
	q.Text = `SELECT id FROM ` + source + ` e WHERE ` + strings.Join(conditions, " AND ") + r.orderBy() + `LIMIT ` + q.Arg(p.Limit)
	return q, nil
}

// lookUp returns the rows that the only word of a search identifies.
func (t Table) lookUp(ctx context.Context, on db.Execer, p PageRequest, r idRange) ([]string, error) {
	var q db.Query
	if len(p.Terms.Words) != 1 || len(p.Terms.Contains) > 0 {
		return nil, nil
	}
	lookups := t.Lookups(&q, p.Terms.Words[0])
	if len(lookups) == 0 {
		return nil, nil
	}
	p.Terms.Words = nil
	conditions := strings.Join(append(t.pageConditions(&q, p), t.rangeConditions(&q, p, r)...), " AND ")
	var found []string
	for _, l := range lookups {
		order := r.orderBy()
		if !l.Ordered { // so that the planner does not scan all rows in order
			order = strings.Replace(order, "id", `(id || '') COLLATE "C"`, 1)
		}
		found = append(found, `(SELECT id FROM `+t.Name+` e WHERE `+conditions+` AND `+l.SQL+order+`LIMIT `+q.Arg(p.Limit)+`)`)
	}
	q.Text = `SELECT id FROM (` + strings.Join(found, ` UNION `) + `) e` + r.orderBy() + `LIMIT ` + q.Arg(p.Limit)
	return selectIDs(ctx, on, q)
}

func (t Table) rangeConditions(q *db.Query, p PageRequest, r idRange) []string {
	return []string{`account_id = ` + q.Arg(p.AccountID), `id >= ` + q.Arg(r.from), `id < ` + q.Arg(r.below)}
}

func (t Table) pageConditions(q *db.Query, p PageRequest) []string {
	all := append([]string{"true"}, t.textConditions(q, p)...)
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
