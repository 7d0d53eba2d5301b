package records

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/engagement"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/storage/search"
)

// ListQuery asks for a page of an account's emails, newest first.
type ListQuery struct {
	Page   page.Request
	Filter Filter
}

// Lists finds emails by filters. Safe for concurrent use.
type Lists struct {
	db    *db.DB
	pages *page.Codec
}

// NewLists returns a Lists for a tool that does nothing else with mail.
func NewLists(d *db.DB, pages *page.Codec) *Lists { return &Lists{d, pages} }

// List returns one page of an account's emails without their bodies: HTML and Text are nil.
// Error: Invalid naming `limit`, `cursor` or a filter.
func (s *Lists) List(ctx context.Context, accountID string, q ListQuery) (page.Page[*ent.Email], error) {
	return s.listing().Page(ctx, accountID, q.Page, q.Filter.search)
}

func (s *Lists) listing() search.Listing[*ent.Email] {
	return search.Listing[*ent.Email]{DB: s.db, Pages: s.pages,
		Table: emails,
		ID:    func(e *ent.Email) string { return e.ID },
		Read: func(ctx context.Context, on *ent.Client, condition, order func(*sql.Selector),
			limit int) ([]*ent.Email, error) {
			return on.Email.Query().Where(condition).Order(order).Limit(limit).Select(ListColumns...).All(ctx)
		}}
}

// GetMany returns emails of the account by their ids, oldest first and without their bodies. Unknown ids are
// left out.
func (s *Service) GetMany(ctx context.Context, accountID string, emailIDs ...string) ([]*ent.Email, error) {
	rows, err := s.db.Ent.Email.Query().Where(email.AccountID(accountID), email.IDIn(emailIDs...)).Order(email.ByID()).
		Select(ListColumns...).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read emails: %w", err)
	}
	return rows, nil
}

// ListColumns are the columns of an email in a list: all but the bodies and the columns that lists never
// show.
var ListColumns = slices.DeleteFunc(slices.Clone(email.Columns), func(column string) bool {
	return slices.Contains([]string{email.FieldHTML, email.FieldText, email.FieldMime, email.FieldBodyKey,
		email.FieldBodySize, email.FieldBodySnippet, email.FieldSearch, email.FieldUncommon}, column)
})

// Cursor continues the list after the given email.
func (s *Lists) Cursor(accountID, emailID string) string {
	return s.listing().Cursor(accountID, emailID)
}

var emails = search.Table{Name: "emails", Prefix: id.Email, Time: "created_at",
	Columns: `status, domain_id, uncommon, api_key_id, template_id, template_version, automation_id, last_event,
		"from", "to", cc, bcc`,
	Texts: `concat_ws(' ', subject, "from", ` + recipientTexts + `)`}

const recipientTexts = `"to"::text, cc::text, bcc::text`

// Count counts the emails that match a filter, up to a maximum. Error: Invalid naming a filter.
func (s *Lists) Count(ctx context.Context, accountID string, f Filter, most int) (int, error) {
	return s.listing().Count(ctx, accountID, f.search, most)
}

func (f Filter) search(accountID string) (*search.PageRequest, error) {
	c, wrong := f.parse()
	if err := wrong.Err(); err != nil || c.isEmpty() {
		return nil, err
	}
	return &search.PageRequest{Terms: c.Terms, Conditions: c.conditions,
		Index: func(q *db.Query) []string { return c.rareConditions(q, accountID) }}, nil
}

func (c criteria) conditions(q *db.Query) (all []string) {
	if c.status != "" {
		all = append(all, `status = `+q.Arg(string(c.status)))
	}
	for column, wanted := range map[string]string{"domain_id": c.domainID, "api_key_id": c.apiKeyID,
		"template_id":   c.templateID,
		"automation_id": c.automationID, "last_event": c.lastEvent} {
		if wanted != "" {
			all = append(all, column+` = `+q.Arg(wanted))
		}
	}
	if len(c.domainIDs) > 0 {
		all = append(all, `domain_id = ANY(`+q.Arg(db.Array(c.domainIDs))+`)`)
	}
	if c.version != nil {
		all = append(all, `template_version = `+q.Arg(*c.version))
	}
	if c.bounceClass != "" {
		all = append(all, `EXISTS (SELECT FROM recipients r JOIN attempts a ON a.email_id = r.email_id AND a.recipient_id = r.id
			WHERE r.email_id = e.id AND r.state = 'bounced' AND a.class = `+q.Arg(c.bounceClass)+`)`)
	}
	for kind, wanted := range map[engagement.Kind]*bool{engagement.KindOpen: c.opened,
		engagement.KindClick: c.clicked} {
		if wanted != nil {
			all = append(all, negate(*wanted)+`EXISTS (SELECT FROM engagements g WHERE g.email_id = e.id AND g.kind = `+
				q.Arg(string(kind))+` AND g.machine = '')`)
		}
	}
	return all
}

func negate(wanted bool) string {
	if wanted {
		return ""
	}
	return "NOT "
}

// rareConditions returns the conditions that a small index can answer: uncommon statuses, and emails that were opened
// or clicked.
func (c criteria) rareConditions(q *db.Query, accountID string) []string {
	var all []string
	if c.bounceClass != "" && c.status == "" {
		all = append(all, `uncommon IN ('bounced', 'failed')`)
	}
	if c.opened != nil && *c.opened || c.clicked != nil && *c.clicked {
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
