package records

import (
	"context"
	"fmt"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

// Sender returns the sender of an email for display: the name before the address as its author wrote it,
// empty if there is none, and the domain in Unicode. It reads nothing else of the email. Error: NotFound.
func (s *Service) Sender(ctx context.Context, accountID, emailID string) (name, domain string, err error) {
	found, err := s.db.Ent.Email.Query().Where(email.ID(emailID), email.AccountID(accountID)).
		Select(email.FieldFrom, email.FieldFromAddress).Only(ctx)
	if ent.IsNotFound(err) {
		return "", "", fault.NoSuch("email", emailID)
	}
	if err != nil {
		return "", "", fmt.Errorf("read sender: %w", err)
	}
	name, domain = splitSender(found.From, found.FromAddress)
	return name, domain, nil
}

// splitSender takes the name from the display form of From, and the domain from its address.
func splitSender(display, spec string) (name, domain string) {
	if parsed, err := address.Parse(display); err == nil {
		name = parsed.Name
	}
	if parsed, err := address.Parse(spec); err == nil {
		spec = parsed.String()
	}
	return name, spec[strings.LastIndexByte(spec, '@')+1:]
}
