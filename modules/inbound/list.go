package inbound

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/receivedemail"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/page"
	"github.com/postrider/postrider/runtime/search"
)

// ListQuery asks for a page of an account's received mail, newest first.
type ListQuery struct {
	Page   page.Request
	Filter Filter
}

const listName = "received_emails"

// List returns one page. Error: Invalid naming `limit`, `cursor` or a filter.
func (s *Service) List(ctx context.Context, accountID string, q ListQuery) (page.Page[*ent.ReceivedEmail], error) {
	list := page.List{Name: listName, AccountID: accountID}
	limit, after, err := s.pages.Open(list, q.Page)
	if err != nil {
		return page.Page[*ent.ReceivedEmail]{}, err
	}
	c, wrong := q.Filter.parse()
	if err := wrong.Err(); err != nil {
		return page.Page[*ent.ReceivedEmail]{}, err
	}
	query := s.db.Ent.ReceivedEmail.Query().Where(receivedemail.AccountID(accountID)).Order(receivedemail.ByID(sql.OrderDesc())).Limit(limit + 1)
	switch {
	case !c.isEmpty():
		found, err := s.search(ctx, accountID, c, after, limit+1)
		if err != nil {
			return page.Page[*ent.ReceivedEmail]{}, fmt.Errorf("search received mail: %w", err)
		}
		query.Where(receivedemail.IDIn(found...))
	case after != "":
		query.Where(receivedemail.IDLT(after))
	}
	rows, err := query.Select(listColumns...).All(ctx)
	if err != nil {
		return page.Page[*ent.ReceivedEmail]{}, fmt.Errorf("list received mail: %w", err)
	}
	return page.Of(s.pages, list, rows, limit, func(e *ent.ReceivedEmail) string { return e.ID }), nil
}

var listColumns = slices.DeleteFunc(slices.Clone(receivedemail.Columns), func(column string) bool { return column == receivedemail.FieldSearch })

// Cursor continues the list after the given email.
func (s *Service) Cursor(accountID, emailID string) string {
	return s.pages.Encode(page.List{Name: listName, AccountID: accountID}, emailID)
}

// search gives the ids of up to n records before `before`, newest first.
func (s *Service) search(ctx context.Context, accountID string, c *criteria, before string, n int) ([]string, error) {
	records := search.Table{Name: "received_emails", Prefix: id.ReceivedEmail, Time: "received_at", Columns: "domain_id"}
	return records.Find(ctx, s.db.SQL, search.Page{AccountID: accountID, Before: before, Limit: n, Terms: c.Terms, Conditions: c.conditions})
}

func (c *criteria) conditions(q *db.Query) []string {
	if c.domainID == "" {
		return nil
	}
	return []string{`domain_id = ` + q.Arg(c.domainID)}
}
