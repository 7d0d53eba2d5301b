package inbound

import (
	"context"
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

// List returns one page. It returns Invalid for `limit`, `cursor` or a filter.
func (s *Service) List(ctx context.Context, accountID string, q ListQuery) (page.Page[*ent.ReceivedEmail], error) {
	return s.listing().Page(ctx, accountID, q.Page, q.Filter.search)
}

func (s *Service) listing() search.Listing[*ent.ReceivedEmail] {
	return search.Listing[*ent.ReceivedEmail]{DB: s.db, Pages: s.pages,
		Table: records,
		ID:    func(e *ent.ReceivedEmail) string { return e.ID },
		Read: func(ctx context.Context, on *ent.Client, condition, order func(*sql.Selector),
			limit int) ([]*ent.ReceivedEmail, error) {
			return on.ReceivedEmail.Query().Where(condition).Order(order).Limit(limit).Select(listColumns...).All(ctx)
		}}
}

var records = search.Table{Name: "received_emails", Prefix: id.ReceivedEmail, Time: "received_at",
	Columns: `domain_id, rcpt_to, mail_from, "from", "to", cc`,
	Texts:   `concat_ws(' ', subject, "from", mail_from, rcpt_to, "to"::text, cc::text)`}

var listColumns = slices.DeleteFunc(slices.Clone(receivedemail.Columns),
	func(column string) bool { return column == receivedemail.FieldSearch })

// Cursor returns the cursor that continues the list after the given email.
func (s *Service) Cursor(accountID, emailID string) string {
	return s.listing().Cursor(accountID, emailID)
}

// Count counts the records that match a filter, up to the limit most. It returns Invalid for a filter.
func (s *Service) Count(ctx context.Context, accountID string, f Filter, most int) (int, error) {
	return s.listing().Count(ctx, accountID, f.search, most)
}

func (f Filter) search(string) (*search.PageRequest, error) {
	c, wrong := f.parse()
	if err := wrong.Err(); err != nil || c.isEmpty() {
		return nil, err
	}
	return &search.PageRequest{Terms: c.Terms, Conditions: c.conditions}, nil
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
