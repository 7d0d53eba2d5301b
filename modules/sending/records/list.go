package records

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/engagement"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/page"
	"github.com/postrider/postrider/runtime/search"
)

// ListQuery asks for a page of an account's emails, newest first.
type ListQuery struct {
	Page   page.Request
	Filter Filter
}

const listName = "emails"

// List returns one page of an account's emails without their bodies: HTML and Text are nil.
// Error: Invalid naming `limit`, `cursor` or a filter.
func (s *Service) List(ctx context.Context, accountID string, q ListQuery) (page.Page[*ent.Email], error) {
	list := page.List{Name: listName, AccountID: accountID}
	limit, after, err := s.pages.Open(list, q.Page)
	if err != nil {
		return page.Page[*ent.Email]{}, err
	}
	c, wrong := q.Filter.parse()
	if err := wrong.Err(); err != nil {
		return page.Page[*ent.Email]{}, err
	}
	query := s.db.Ent.Email.Query().Where(email.AccountID(accountID)).Order(email.ByID(sql.OrderDesc())).Limit(limit + 1)
	switch {
	case !c.isEmpty():
		found, err := s.find(ctx, accountID, c, after, limit+1)
		if err != nil {
			return page.Page[*ent.Email]{}, fmt.Errorf("search emails: %w", err)
		}
		query.Where(email.IDIn(found...))
	case after != "":
		query.Where(email.IDLT(after))
	}
	rows, err := query.Select(ListColumns...).All(ctx)
	if err != nil {
		return page.Page[*ent.Email]{}, fmt.Errorf("list emails: %w", err)
	}
	return page.Of(s.pages, list, rows, limit, func(e *ent.Email) string { return e.ID }), nil
}

// Several gives emails of the account by their ids, oldest first and without their bodies. Those
// that the account does not have are left out.
func (s *Service) Several(ctx context.Context, accountID string, emailIDs ...string) ([]*ent.Email, error) {
	rows, err := s.db.Ent.Email.Query().Where(email.AccountID(accountID), email.IDIn(emailIDs...)).Order(email.ByID()).Select(ListColumns...).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read emails: %w", err)
	}
	return rows, nil
}

// ListColumns are the columns of an email in a list: all but the bodies and what nobody reads.
var ListColumns = slices.DeleteFunc(slices.Clone(email.Columns), func(column string) bool {
	return slices.Contains([]string{email.FieldHTML, email.FieldText, email.FieldMime, email.FieldSearch, email.FieldUncommon}, column)
})

// Cursor continues the list after the given email.
func (s *Service) Cursor(accountID, emailID string) string {
	return s.pages.Encode(page.List{Name: listName, AccountID: accountID}, emailID)
}

// find gives the ids of up to n emails before `before`, newest first.
func (s *Service) find(ctx context.Context, accountID string, c criteria, before string, n int) ([]string, error) {
	emails := search.Table{Name: "emails", Prefix: id.Email, Time: "created_at", Columns: "status, domain_id, uncommon, template_id, automation_id"}
	return emails.Find(ctx, s.db.SQL, search.Page{AccountID: accountID, Before: before, Limit: n, Terms: c.Terms,
		Conditions: c.conditions, Index: func(q *db.Query) []string { return c.rare(q, accountID) }})
}

func (c criteria) conditions(q *db.Query) (all []string) {
	if c.status != "" {
		all = append(all, `status = `+q.Arg(string(c.status)))
	}
	for column, wanted := range map[string]string{"domain_id": c.domainID, "template_id": c.templateID, "automation_id": c.automationID} {
		if wanted != "" {
			all = append(all, column+` = `+q.Arg(wanted))
		}
	}
	for kind, wanted := range map[engagement.Kind]bool{engagement.KindOpen: c.opened, engagement.KindClick: c.clicked} {
		if wanted {
			all = append(all, `EXISTS (SELECT FROM engagements g WHERE g.email_id = e.id AND g.kind = `+q.Arg(string(kind))+` AND g.machine = '')`)
		}
	}
	return all
}

// rare are the indexes that have few emails: of a status that few have, and of those that somebody opened.
func (c criteria) rare(q *db.Query, accountID string) []string {
	var all []string
	if c.opened || c.clicked {
		all = append(all, `id IN (SELECT email_id FROM engagements WHERE account_id = `+q.Arg(accountID)+` AND machine = '')`)
	}
	return append(all, c.ofStatus(q, accountID)...)
}

func (c criteria) ofStatus(q *db.Query, accountID string) []string {
	switch c.status {
	case "", email.StatusDelivered:
		return nil
	case email.StatusSent:
		if c.Search() {
			return nil
		}
		return []string{`id IN (SELECT email_id FROM recipients WHERE account_id = ` + q.Arg(accountID) + ` AND due_at IS NOT NULL)`}
	default:
		return []string{`uncommon = ` + q.Arg(string(c.status))}
	}
}
