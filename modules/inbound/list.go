package inbound

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/receivedemail"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/storage/search"
)

// ListQuery is a request for a page of an account's received mail, newest first.
type ListQuery struct {
	Page   page.Request
	Filter Filter
}

const listName = "received_emails"

// List returns one page. It returns Invalid for `limit`, `cursor` or a filter.
func (s *Service) List(ctx context.Context, accountID string, q ListQuery) (page.Page[*ent.ReceivedEmail], error) {
	list := page.List{Name: listName, AccountID: accountID}
	at, err := s.pages.Open(list, q.Page)
	if err != nil {
		return page.Page[*ent.ReceivedEmail]{}, err
	}
	c, wrong := q.Filter.parse()
	if err := wrong.Err(); err != nil {
		return page.Page[*ent.ReceivedEmail]{}, err
	}
	var rows []*ent.ReceivedEmail
	err = s.db.Read(ctx, func(on *ent.Client) error {
		var matching func() ([]string, error)
		if !c.isEmpty() {
			matching = func() ([]string, error) { return findRecords(ctx, on, accountID, c, at, at.Rows()) }
		}
		rows, err = search.Rows(ctx, on, records, at, matching,
			func(condition func(*sql.Selector)) ([]*ent.ReceivedEmail, error) {
				query := on.ReceivedEmail.Query().Where(receivedemail.AccountID(accountID), condition).
					Order(at.Order(receivedemail.FieldID)).Limit(at.Rows())
				return query.Select(listColumns...).All(ctx)
			})
		return err
	})
	if err != nil {
		return page.Page[*ent.ReceivedEmail]{}, fmt.Errorf("list received mail: %w", err)
	}
	return page.FromRows(s.pages, list, rows, at, func(e *ent.ReceivedEmail) string { return e.ID }), nil
}

var listColumns = slices.DeleteFunc(slices.Clone(receivedemail.Columns),
	func(column string) bool { return column == receivedemail.FieldSearch })

// Cursor returns the cursor that continues the list after the given email.
func (s *Service) Cursor(accountID, emailID string) string {
	return s.pages.Encode(page.List{Name: listName, AccountID: accountID}, emailID)
}

// Count counts the records that match a filter, up to the limit most. It returns Invalid for a filter.
func (s *Service) Count(ctx context.Context, accountID string, f Filter, most int) (int, error) {
	c, wrong := f.parse()
	if err := wrong.Err(); err != nil {
		return 0, err
	}
	var found []string
	err := s.db.Read(ctx, func(on *ent.Client) (err error) {
		if c.isEmpty() {
			found, err = on.ReceivedEmail.Query().Where(receivedemail.AccountID(accountID)).Limit(most).IDs(ctx)
		} else {
			found, err = findRecords(ctx, on, accountID, c, page.Position{}, most)
		}
		return err
	})
	return len(found), err
}

var records = search.Table{Name: "received_emails", Prefix: id.ReceivedEmail, Time: "received_at", Columns: "domain_id"}

// findRecords returns the ids of up to n records from a position on.
func findRecords(ctx context.Context, on db.Execer, accountID string, c *criteria, at page.Position,
	n int) ([]string, error) {
	return records.Find(ctx, on, search.PageRequest{AccountID: accountID, StartAfter: at.ID, Back: at.Back, Limit: n,
		Terms: c.Terms, Conditions: c.conditions})
}

func (c *criteria) conditions(q *db.Query) (all []string) {
	if c.domainID != "" {
		all = append(all, `domain_id = `+q.Arg(c.domainID))
	}
	if len(c.domainIDs) > 0 {
		all = append(all, `domain_id = ANY(`+q.Arg(db.Array(c.domainIDs))+`)`)
	}
	return all
}
