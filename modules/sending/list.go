package sending

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/page"
)

// ListQuery asks for a page of an account's emails, newest first.
type ListQuery struct {
	Page   page.Request
	Filter Filter
}

// EmailPage is one page. Bodies are left out: HTML and Text are nil.
type EmailPage struct {
	Emails     []*ent.Email
	HasMore    bool
	NextCursor string // empty on the last page
}

const listName = "emails"

// List gives one page. Error: Invalid naming `limit`, `cursor` or a filter.
func (s *Service) List(ctx context.Context, accountID string, q ListQuery) (EmailPage, error) {
	limit, after, err := s.pages.Open(page.List{Name: listName, AccountID: accountID}, q.Page)
	if err != nil {
		return EmailPage{}, err
	}
	c, wrong := q.Filter.parse()
	if err := wrong.Err(); err != nil {
		return EmailPage{}, err
	}
	query := s.db.Ent.Email.Query().Where(email.AccountID(accountID)).Order(email.ByID(sql.OrderDesc())).Limit(limit + 1)
	switch {
	case !c.isEmpty():
		found, err := s.find(ctx, accountID, c, after, limit+1)
		if err != nil {
			return EmailPage{}, fmt.Errorf("search emails: %w", err)
		}
		query.Where(email.IDIn(found...))
	case after != "":
		query.Where(email.IDLT(after))
	}
	rows, err := query.Select(listColumns...).All(ctx)
	if err != nil {
		return EmailPage{}, fmt.Errorf("list emails: %w", err)
	}
	out := EmailPage{Emails: rows}
	if len(rows) > limit {
		out.Emails, out.HasMore = rows[:limit], true
		out.NextCursor = s.Cursor(accountID, rows[limit-1].ID)
	}
	return out, nil
}

// listColumns are all but the bodies and what nobody reads.
var listColumns = slices.DeleteFunc(slices.Clone(email.Columns), func(column string) bool {
	return slices.Contains([]string{email.FieldHTML, email.FieldText, email.FieldMime, email.FieldSearch, email.FieldUncommon}, column)
})

// Cursor continues the list after the given email.
func (s *Service) Cursor(accountID, emailID string) string {
	return s.pages.Encode(page.List{Name: listName, AccountID: accountID}, emailID)
}

// window is how many of the newest emails are looked at one by one before an
// index is asked. What many emails have is found there at once; what few have is
// few in the index. So a page costs the same however many emails there are,
// without trust in the planner's guess of how common a word is.
const window = 4000

// find gives the ids of up to n emails before `before`, newest first.
func (s *Service) find(ctx context.Context, accountID string, c criteria, before string, n int) ([]string, error) {
	if before == "" {
		before = "~" // after every id
	}
	from := ""
	if !c.since.IsZero() {
		from = id.Since(id.Email, c.since.Add(-clockSkew))
	}
	if !c.until.IsZero() {
		before = min(before, id.Since(id.Email, c.until.Add(clockSkew)))
	}
	found, err := s.selectIDs(ctx, c.windowQuery(accountID, from, before, n))
	if err != nil || len(found) == n {
		return found, err
	}
	const edgeSQL = `SELECT id FROM emails WHERE account_id = $1 AND id >= $2 AND id < $3 ORDER BY id DESC OFFSET $4 LIMIT 1`
	edge, err := s.selectIDs(ctx, statement{text: edgeSQL, args: []any{accountID, from, before, window - 1}})
	if err != nil || len(edge) == 0 {
		return found, err // the window has seen all there is
	}
	more, err := s.selectIDs(ctx, c.indexQuery(accountID, from, edge[0], n-len(found)))
	return append(found, more...), err
}

// clockSkew is how far created_at and the time within an id may be apart: they
// are read one after the other.
const clockSkew = time.Second

func (s *Service) selectIDs(ctx context.Context, q statement) ([]string, error) {
	rows, err := s.db.Hot.QueryContext(ctx, q.text, q.args...)
	if err != nil {
		return nil, err
	}
	return scanAll(rows, func(id *string) []any { return []any{id} })
}

// statement is SQL with its arguments.
type statement struct {
	text string
	args []any
}

// arg adds an argument and gives its placeholder.
func (q *statement) arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

// windowQuery looks at the newest emails of the range one by one.
func (c criteria) windowQuery(accountID, from, before string, n int) statement {
	var q statement
	newest := `SELECT id, status, domain_id, created_at, search FROM emails WHERE account_id = ` + q.arg(accountID) +
		` AND id >= ` + q.arg(from) + ` AND id < ` + q.arg(before) + ` ORDER BY id DESC LIMIT ` + q.arg(window)
	conditions := c.conditions(&q)
	if c.searches() {
		conditions = append(conditions, `search @@ `+c.search(&q, accountID))
	}
	q.text = `SELECT id FROM (` + newest + `) e WHERE ` + strings.Join(conditions, " AND ") + ` ORDER BY id DESC LIMIT ` + q.arg(n)
	return q
}

// indexQuery asks the index that finds few.
func (c criteria) indexQuery(accountID, from, before string, n int) statement {
	var q statement
	source := "emails"
	if c.searches() {
		// Apart, so that the planner cannot walk the account's emails instead.
		source = `(SELECT id, account_id, status, domain_id, created_at, uncommon FROM emails WHERE search @@ ` + c.search(&q, accountID) + ` OFFSET 0)`
	}
	conditions := append(c.conditions(&q),
		`account_id = `+q.arg(accountID), `id >= `+q.arg(from), `id < `+q.arg(before))
	switch c.status {
	case "", email.StatusDelivered:
	case email.StatusSent:
		if !c.searches() {
			conditions = append(conditions, `id IN (SELECT email_id FROM recipients WHERE account_id = `+q.arg(accountID)+` AND due_at IS NOT NULL)`)
		}
	default:
		conditions = append(conditions, `uncommon = `+q.arg(string(c.status)))
	}
	q.text = `SELECT id FROM ` + source + ` e WHERE ` + strings.Join(conditions, " AND ") + ` ORDER BY id DESC LIMIT ` + q.arg(n)
	return q
}

func (c criteria) searches() bool { return len(c.marks)+len(c.words) > 0 }

func (c criteria) search(q *statement, accountID string) string {
	marks, words := c.searchQuery(accountID)
	query := q.arg(marks) + `::tsquery`
	if words != "" {
		query = `(` + query + ` && to_tsquery('simple', ` + q.arg(words) + `))`
	}
	return query
}

func (c criteria) conditions(q *statement) []string {
	all := []string{"true"}
	if c.status != "" {
		all = append(all, `status = `+q.arg(string(c.status)))
	}
	if c.domainID != "" {
		all = append(all, `domain_id = `+q.arg(c.domainID))
	}
	if !c.since.IsZero() {
		all = append(all, `created_at >= `+q.arg(timeText(c.since))+`::timestamptz`)
	}
	if !c.until.IsZero() {
		all = append(all, `created_at < `+q.arg(timeText(c.until))+`::timestamptz`)
	}
	return all
}
