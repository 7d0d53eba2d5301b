package records

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/attachment"
	"github.com/postrider/postrider/ent/attempt"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// IsWithin reports whether an email was sent from one of the domains. Error: NotFound.
func (s *Service) IsWithin(ctx context.Context, accountID, emailID string, domainIDs []string) (bool, error) {
	found, err := s.db.Ent.Email.Query().Where(email.ID(emailID), email.AccountID(accountID)).
		Select(email.FieldDomainID).Strings(ctx)
	switch {
	case err != nil:
		return false, fmt.Errorf("domain of an email: %w", err)
	case len(found) == 0:
		return false, fault.NoSuch("email", emailID)
	}
	return slices.Contains(domainIDs, found[0]), nil
}

// Get returns one email of the account with html and text, unless it was submitted over SMTP or its body moved
// to the object store: LoadTexts, ReadRelayed and Bodies read those. Error: NotFound, including for another
// account's email.
func (s *Service) Get(ctx context.Context, accountID, emailID string) (*ent.Email, error) {
	if !id.Is(id.Email, emailID) {
		return nil, fault.NoSuch("email", emailID)
	}
	found, err := s.db.Ent.Email.Query().Where(email.ID(emailID), email.AccountID(accountID)).Select(recordColumns...).
		Only(ctx)
	if ent.IsNotFound(err) {
		return nil, fault.NoSuch("email", emailID)
	}
	if err != nil {
		return nil, fmt.Errorf("get email: %w", err)
	}
	return found, nil
}

// EmailDetail is an email with its recipients and files.
type EmailDetail struct {
	*ent.Email

	Files      []*ent.Attachment // without their data
	Recipients []*ent.Recipient  // in the order of the request
}

// Detail returns one email of the account with its bodies, even if it was submitted over SMTP, and with its
// files and recipients. Errors: NotFound, including for another account's email, and Unavailable when too many
// large messages are being read, or the object store fails.
func (s *Service) Detail(ctx context.Context, accountID, emailID string) (EmailDetail, error) {
	found, err := s.Get(ctx, accountID, emailID)
	if err != nil {
		return EmailDetail{}, err
	}
	if err := s.LoadTexts(ctx, found); err != nil {
		return EmailDetail{}, err
	}
	whole := EmailDetail{Email: found}
	if found.HTML == nil && found.Text == nil && found.BodyPurgedAt == nil {
		m, err := s.ReadRelayed(ctx, accountID, emailID)
		if err != nil {
			return EmailDetail{}, fmt.Errorf("read relayed email: %w", err)
		}
		if m != nil {
			found.HTML, found.Text, whole.Files = nilIfEmpty(m.HTML), nilIfEmpty(m.Text), filesOf(accountID, emailID, m)
		}
	} else {
		files, err := s.Attachments(ctx, accountID, emailID)
		if err != nil {
			return EmailDetail{}, err
		}
		whole.Files = files[emailID]
	}
	recipients, err := s.Recipients(ctx, accountID, emailID)
	whole.Recipients = recipients[emailID]
	return whole, err
}

// filesOf describes the attachments of a message that was submitted over SMTP.
func filesOf(accountID, emailID string, m *message.Message) (files []*ent.Attachment) {
	for i, f := range m.Files {
		files = append(files, &ent.Attachment{EmailID: emailID, AccountID: accountID, Position: i, Name: f.Filename,
			ContentType: f.ContentType, ContentID: f.ContentID, Size: int(f.Size)})
	}
	return files
}

// MaxBodies is the maximum size of the bodies that one call reads, in bytes.
const MaxBodies = 32 << 20

// TooManyBodies returns the error for bodies above MaxBodies.
func TooManyBodies() error {
	return &fault.Error{Kind: fault.TooLarge, Code: fault.CodePayloadTooLarge,
		Message: fmt.Sprintf("The bodies exceed %d MB in total. Request fewer emails at a time.", MaxBodies>>20)}
}

const bodiesSQL = `SELECT coalesce(sum(coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0)), 0)::bigint FROM emails WHERE account_id = $1 AND id = ANY($2)`

// Bodies returns html and text of several emails by email id; other fields are not set. Errors: TooLarge when
// they exceed MaxBodies, Unavailable when the object store fails.
func (s *Service) Bodies(ctx context.Context, accountID string, emailIDs ...string) (map[string]*ent.Email, error) {
	var total int64
	if err := s.db.SQL.QueryRowContext(ctx, bodiesSQL, accountID, db.Array(emailIDs)).Scan(&total); err != nil {
		return nil, fmt.Errorf("read bodies: %w", err)
	}
	if total > MaxBodies {
		return nil, TooManyBodies()
	}
	rows, err := s.db.Ent.Email.Query().Where(email.AccountID(accountID), email.IDIn(emailIDs...)).
		Select(email.FieldID, email.FieldHTML, email.FieldText, email.FieldBodyKey, email.FieldBodySize).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read bodies: %w", err)
	}
	out := make(map[string]*ent.Email, len(rows))
	var relayed []string
	var moved []*ent.Email
	for _, e := range rows {
		out[e.ID] = e
		switch {
		case e.HTML != nil || e.Text != nil:
		case hasTextsElsewhere(e):
			moved = append(moved, e)
			if total += *e.BodySize; total > MaxBodies {
				return nil, TooManyBodies()
			}
		default:
			relayed = append(relayed, e.ID)
		}
	}
	if err := s.loadAll(ctx, moved); err != nil {
		return nil, err
	}
	err = s.eachRelayed(ctx, accountID, relayed, func(emailID string, m *message.Message) error {
		if total += int64(len(m.HTML) + len(m.Text)); total > MaxBodies {
			return TooManyBodies()
		}
		out[emailID].HTML, out[emailID].Text = nilIfEmpty(m.HTML), nilIfEmpty(m.Text)
		return nil
	})
	return out, err
}

func nilIfEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// recordColumns are all columns except the raw message, which may be large.
var recordColumns = slices.DeleteFunc(slices.Clone(email.Columns),
	func(column string) bool { return column == email.FieldMime })

// Recipients returns the recipients of several emails by email id, in the order of the request.
func (s *Service) Recipients(ctx context.Context, accountID string,
	emailIDs ...string) (map[string][]*ent.Recipient, error) {
	rows, err := s.db.Ent.Recipient.Query().
		Where(recipient.AccountID(accountID), recipient.EmailIDIn(emailIDs...)).Order(recipient.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list recipients: %w", err)
	}
	return groupBy(rows, func(r *ent.Recipient) string { return r.EmailID }), nil
}

// Attempts returns the delivery attempts of several emails by email id, oldest first.
func (s *Service) Attempts(ctx context.Context, accountID string,
	emailIDs ...string) (map[string][]*ent.Attempt, error) {
	rows, err := s.db.Ent.Attempt.Query().
		Where(attempt.AccountID(accountID), attempt.EmailIDIn(emailIDs...)).Order(attempt.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list attempts: %w", err)
	}
	return groupBy(rows, func(a *ent.Attempt) string { return a.EmailID }), nil
}

// Attachments returns the files of several emails by email id, without their data.
func (s *Service) Attachments(ctx context.Context, accountID string,
	emailIDs ...string) (map[string][]*ent.Attachment, error) {
	rows, err := s.db.Ent.Attachment.Query().
		Where(attachment.AccountID(accountID), attachment.EmailIDIn(emailIDs...)).Order(attachment.ByPosition()).
		Select(attachment.FieldID, attachment.FieldEmailID, attachment.FieldPosition, attachment.FieldName,
			attachment.FieldContentType, attachment.FieldContentID, attachment.FieldSize).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list attachments: %w", err)
	}
	out := groupBy(rows, func(a *ent.Attachment) string { return a.EmailID })
	relayed := slices.DeleteFunc(slices.Clone(emailIDs), func(id string) bool { return len(out[id]) > 0 })
	err = s.eachRelayed(ctx, accountID, relayed, func(emailID string, m *message.Message) error {
		out[emailID] = filesOf(accountID, emailID, m)
		return nil
	})
	return out, err
}

// Timeline returns the facts of several emails by email id, oldest first.
func (s *Service) Timeline(ctx context.Context, accountID string, emailIDs ...string) (map[string][]event.Fact, error) {
	return s.timeline.Facts(ctx, accountID, emailIDs...)
}

func groupBy[T any](rows []T, key func(T) string) map[string][]T {
	out := make(map[string][]T)
	for _, r := range rows {
		out[key(r)] = append(out[key(r)], r)
	}
	return out
}

// IsHeld reports whether the operator or the account holds the recipient back from delivery.
func IsHeld(r *ent.Recipient) bool { return r.SettledAt == nil && r.HeldBy != nil }

// NextAttemptAt returns the time of the next attempt; nil once the recipient is settled, and while it is held.
func NextAttemptAt(r *ent.Recipient) *time.Time {
	if IsHeld(r) {
		return nil
	}
	return r.DueAt
}
