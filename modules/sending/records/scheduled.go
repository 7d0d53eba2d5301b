package records

import (
	"context"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// ListScheduled returns one page of an account's scheduled emails without their bodies, in the order in which they will
// be sent. Error: Invalid naming `limit` or `cursor`.
func (s *Lists) ListScheduled(
	ctx context.Context, accountID string, domainIDs []string, r page.Request,
) (page.Page[*ent.Email], error) {
	list := page.List{Name: "scheduled emails", AccountID: accountID}
	return page.Read(s.pages, list, r, func(at page.Position) (rows []*ent.Email, err error) {
		beyond, err := beyondMark(at)
		if err != nil {
			return nil, err
		}
		order := sql.Asc
		if at.Back {
			order = sql.Desc
		}
		err = s.db.Read(ctx, func(on *ent.Client) error {
			q := on.Email.Query().Where(email.AccountID(accountID), email.StatusEQ(email.StatusScheduled),
				email.ReleaseAtNotNil(), beyond)
			if len(domainIDs) > 0 {
				q.Where(email.DomainIDIn(domainIDs...))
			}
			rows, err = q.Order(func(s *sql.Selector) {
				s.OrderBy(order(s.C(email.FieldScheduledAt)), order(s.C(email.FieldID)))
			}).Limit(at.Rows()).Select(ListColumns...).All(ctx)
			return err
		})
		return rows, err
	}, scheduleMark)
}

// scheduleMark returns the position of an email in the list of scheduled emails.
func scheduleMark(e *ent.Email) string {
	return e.ScheduledAt.UTC().Format(time.RFC3339Nano) + " " + e.ID
}

// beyondMark returns the condition for the emails of a page.
func beyondMark(at page.Position) (func(*sql.Selector), error) {
	if at.ID == "" {
		return func(*sql.Selector) {}, nil
	}
	mark, id, _ := strings.Cut(at.ID, " ")
	scheduled, err := time.Parse(time.RFC3339Nano, mark)
	if err != nil {
		return nil, fault.InvalidField("cursor", "is not a cursor of this list")
	}
	return func(s *sql.Selector) {
		columns := []string{s.C(email.FieldScheduledAt), s.C(email.FieldID)}
		if at.Back {
			s.Where(sql.CompositeLT(columns, scheduled, id))
		} else {
			s.Where(sql.CompositeGT(columns, scheduled, id))
		}
	}, nil
}
