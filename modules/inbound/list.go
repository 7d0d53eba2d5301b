package inbound

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/receivedemail"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/page"
)

// ListQuery asks for a page of an account's received mail, newest first.
type ListQuery struct {
	Page   page.Request
	Filter Filter
}

// Page is one page.
type Page struct {
	Emails     []*ent.ReceivedEmail
	HasMore    bool
	NextCursor string // empty on the last page
}

const listName = "received_emails"

// List gives one page. Error: Invalid naming `limit`, `cursor` or a filter.
func (s *Service) List(ctx context.Context, accountID string, q ListQuery) (Page, error) {
	limit, after, err := s.pages.Open(page.List{Name: listName, AccountID: accountID}, q.Page)
	if err != nil {
		return Page{}, err
	}
	c, wrong := q.Filter.parse()
	if err := wrong.Err(); err != nil {
		return Page{}, err
	}
	query := s.db.Ent.ReceivedEmail.Query().Where(receivedemail.AccountID(accountID)).Order(receivedemail.ByID(sql.OrderDesc())).Limit(limit + 1)
	switch {
	case !c.isEmpty():
		found, err := s.search(ctx, accountID, c, after, limit+1)
		if err != nil {
			return Page{}, fmt.Errorf("search received mail: %w", err)
		}
		query.Where(receivedemail.IDIn(found...))
	case after != "":
		query.Where(receivedemail.IDLT(after))
	}
	rows, err := query.Select(listColumns...).All(ctx)
	if err != nil {
		return Page{}, fmt.Errorf("list received mail: %w", err)
	}
	out := Page{Emails: rows}
	if len(rows) > limit {
		out.Emails, out.HasMore = rows[:limit], true
		out.NextCursor = s.Cursor(accountID, rows[limit-1].ID)
	}
	return out, nil
}

var listColumns = slices.DeleteFunc(slices.Clone(receivedemail.Columns), func(column string) bool { return column == receivedemail.FieldSearch })

// Cursor continues the list after the given email.
func (s *Service) Cursor(accountID, emailID string) string {
	return s.pages.Encode(page.List{Name: listName, AccountID: accountID}, emailID)
}

// window is how many of the newest records are looked at one by one before the index
// is asked: what many have is found there at once, what few have is few in the index.
const window = 4000

// clockSkew is how far received_at and the time within an id may be apart: they are
// read one after the other.
const clockSkew = time.Second

// search gives the ids of up to n records before `before`, newest first.
func (s *Service) search(ctx context.Context, accountID string, c criteria, before string, n int) ([]string, error) {
	if before == "" {
		before = "~" // after every id
	}
	from := ""
	if !c.since.IsZero() {
		from = id.Since(id.ReceivedEmail, c.since.Add(-clockSkew))
	}
	if !c.until.IsZero() {
		before = min(before, id.Since(id.ReceivedEmail, c.until.Add(clockSkew)))
	}
	found, err := s.selectIDs(ctx, c.windowQuery(accountID, from, before, n))
	if err != nil || len(found) == n {
		return found, err
	}
	const edgeSQL = `SELECT id FROM received_emails WHERE account_id = $1 AND id >= $2 AND id < $3 ORDER BY id DESC OFFSET $4 LIMIT 1`
	edge, err := s.selectIDs(ctx, statement{text: edgeSQL, args: []any{accountID, from, before, window - 1}})
	if err != nil || len(edge) == 0 {
		return found, err // the window has seen all there is
	}
	more, err := s.selectIDs(ctx, c.indexQuery(accountID, from, edge[0], n-len(found)))
	return append(found, more...), err
}

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

// windowQuery looks at the newest records of the range one by one.
func (c criteria) windowQuery(accountID, from, before string, n int) statement {
	var q statement
	newest := `SELECT id, domain_id, received_at, search FROM received_emails WHERE account_id = ` + q.arg(accountID) +
		` AND id >= ` + q.arg(from) + ` AND id < ` + q.arg(before) + ` ORDER BY id DESC LIMIT ` + q.arg(window)
	conditions := c.conditions(&q)
	if c.searches() {
		conditions = append(conditions, `search @@ `+c.query(&q, accountID))
	}
	q.text = `SELECT id FROM (` + newest + `) e WHERE ` + strings.Join(conditions, " AND ") + ` ORDER BY id DESC LIMIT ` + q.arg(n)
	return q
}

// indexQuery asks the index that finds few.
func (c criteria) indexQuery(accountID, from, before string, n int) statement {
	var q statement
	source := "received_emails"
	if c.searches() {
		// Apart, so that the planner cannot walk the account's records instead.
		source = `(SELECT id, account_id, domain_id, received_at FROM received_emails WHERE search @@ ` + c.query(&q, accountID) + ` OFFSET 0)`
	}
	conditions := append(c.conditions(&q), `account_id = `+q.arg(accountID), `id >= `+q.arg(from), `id < `+q.arg(before))
	q.text = `SELECT id FROM ` + source + ` e WHERE ` + strings.Join(conditions, " AND ") + ` ORDER BY id DESC LIMIT ` + q.arg(n)
	return q
}

func (c criteria) conditions(q *statement) []string {
	all := []string{"true"}
	if c.domainID != "" {
		all = append(all, `domain_id = `+q.arg(c.domainID))
	}
	if !c.since.IsZero() {
		all = append(all, `received_at >= `+q.arg(c.since.UTC().Format(time.RFC3339Nano))+`::timestamptz`)
	}
	if !c.until.IsZero() {
		all = append(all, `received_at < `+q.arg(c.until.UTC().Format(time.RFC3339Nano))+`::timestamptz`)
	}
	return all
}
