package records

import (
	"context"
	"fmt"
	"strconv"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/attempt"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

// RecipientAttempt is one delivery attempt and the address it was made to.
type RecipientAttempt struct {
	*ent.Attempt

	Address string
}

// RecipientsOf returns the recipients of an email in the order of the request, at most MaxRecipients. Errors:
// NotFound, including for another account's email.
func (s *Service) RecipientsOf(ctx context.Context, accountID, emailID string) ([]*ent.Recipient, error) {
	if !id.Is(id.Email, emailID) {
		return nil, fault.NoSuch("email", emailID)
	}
	rows, err := s.db.Ent.Recipient.Query().
		Where(recipient.AccountID(accountID), recipient.EmailID(emailID)).Order(recipient.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list recipients: %w", err)
	}
	if len(rows) == 0 { // every email has recipients
		return nil, fault.NoSuch("email", emailID)
	}
	return rows, nil
}

// AttemptsOf returns one page of the attempts of an email, for all recipients together, newest first. Errors:
// NotFound, including for another account's email, and Invalid naming `limit` or `cursor`.
func (s *Service) AttemptsOf(ctx context.Context, accountID, emailID string,
	r page.Request) (page.Page[RecipientAttempt], error) {
	recipients, err := s.RecipientsOf(ctx, accountID, emailID)
	if err != nil {
		return page.Page[RecipientAttempt]{}, err
	}
	found, err := page.ReadNewest(ctx, s.pages, page.List{Name: "emails/" + emailID + "/attempts", AccountID: accountID}, r,
		s.db.Ent.Attempt.Query().Where(attempt.AccountID(accountID), attempt.EmailID(emailID)),
		func(a *ent.Attempt) string { return strconv.FormatInt(a.ID, 10) })
	if err != nil {
		return page.Page[RecipientAttempt]{}, err
	}
	addresses := make(map[int64]string, len(recipients))
	for _, r := range recipients {
		addresses[r.ID] = r.Address
	}
	return page.Map(found, func(a *ent.Attempt) RecipientAttempt {
		return RecipientAttempt{a, addresses[a.RecipientID]}
	}), nil
}
