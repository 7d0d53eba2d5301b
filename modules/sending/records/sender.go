package records

import (
	"context"
	"fmt"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

// SenderDomain is the domain that an email was sent from, for people to read: in
// Unicode. It reads nothing else of the email. Error: NotFound.
func (s *Service) SenderDomain(ctx context.Context, accountID, emailID string) (string, error) {
	found, err := s.db.Ent.Email.Query().Where(email.ID(emailID), email.AccountID(accountID)).Select(email.FieldFromAddress).Only(ctx)
	if ent.IsNotFound(err) {
		return "", fault.Missing("email", emailID)
	}
	if err != nil {
		return "", fmt.Errorf("read sender: %w", err)
	}
	readable := found.FromAddress
	if parsed, err := address.Parse(readable); err == nil {
		readable = parsed.String()
	}
	return readable[strings.LastIndexByte(readable, '@')+1:], nil
}
