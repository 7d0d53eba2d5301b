package sending

import (
	"context"
	"fmt"
	"strconv"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/attempt"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/page"
)

// AttemptPage is one page of an email's delivery attempts, newest first.
type AttemptPage struct {
	Attempts   []*ent.Attempt
	Addresses  map[int64]string // of the recipients, by their ids
	HasMore    bool
	NextCursor string // empty on the last page
}

// RecipientsOf gives the recipients of one email in the order of the request; there
// are at most MaxRecipients. Error: NotFound, also for another account's email.
func (s *Service) RecipientsOf(ctx context.Context, accountID, emailID string) ([]*ent.Recipient, error) {
	if !id.Is(id.Email, emailID) {
		return nil, fault.Missing("email", emailID)
	}
	rows, err := s.db.Ent.Recipient.Query().
		Where(recipient.AccountID(accountID), recipient.EmailID(emailID)).Order(recipient.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list recipients: %w", err)
	}
	if len(rows) == 0 { // no email is without one
		return nil, fault.Missing("email", emailID)
	}
	return rows, nil
}

// AttemptsOf gives one page of the attempts of one email, of all its recipients
// together. Errors: NotFound, also for another account's email, and Invalid naming
// `limit` or `cursor`.
func (s *Service) AttemptsOf(ctx context.Context, accountID, emailID string, r page.Request) (AttemptPage, error) {
	recipients, err := s.RecipientsOf(ctx, accountID, emailID)
	if err != nil {
		return AttemptPage{}, err
	}
	list := page.List{Name: "emails/" + emailID + "/attempts", AccountID: accountID}
	limit, after, err := s.pages.Open(list, r)
	if err != nil {
		return AttemptPage{}, err
	}
	query := s.db.Ent.Attempt.Query().Where(attempt.AccountID(accountID), attempt.EmailID(emailID)).
		Order(attempt.ByID(sql.OrderDesc())).Limit(limit + 1)
	if after != "" {
		before, err := strconv.ParseInt(after, 10, 64)
		if err != nil {
			return AttemptPage{}, fmt.Errorf("cursor of attempts: %w", err)
		}
		query.Where(attempt.IDLT(before))
	}
	rows, err := query.All(ctx)
	if err != nil {
		return AttemptPage{}, fmt.Errorf("list attempts: %w", err)
	}
	out := AttemptPage{Attempts: rows, HasMore: len(rows) > limit, Addresses: make(map[int64]string, len(recipients))}
	for _, r := range recipients {
		out.Addresses[r.ID] = r.Address
	}
	if out.HasMore {
		out.Attempts = rows[:limit]
		out.NextCursor = s.pages.Encode(list, strconv.FormatInt(rows[limit-1].ID, 10))
	}
	return out, nil
}
