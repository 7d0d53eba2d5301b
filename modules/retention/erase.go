package retention

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/work/event"
)

// Erased counts the data erased for one address.
type Erased struct {
	Emails       int // emails only to the address; deleted
	Redacted     int // emails that were also sent to others; the address and the body were removed
	Suppressions int // suppressions that lost the address but still block it
	Received     int // received emails from or to the address; deleted
	Events       int // facts about the address apart from its emails
}

// Erase deletes the stored data of an address as a recipient of the account, and the mail received from it or
// addressed to it, also in test mode. A test tenant erases its own data only. It is safe to repeat. Error: Invalid for
// email.
func (s *Service) Erase(ctx context.Context, accountID, email string) (Erased, error) {
	parsed, err := address.Parse(email)
	if err != nil {
		return Erased{}, fault.InvalidField("email", "%s", err)
	}
	if parsed.Name != "" {
		return Erased{}, fault.InvalidField("email", "must be an address without a display name")
	}
	var done Erased
	for _, tenant := range bothModes(accountID) {
		erased, err := s.eraseOfTenant(ctx, tenant, strings.ToLower(parsed.AddrSpec()))
		done.add(erased)
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// bothModes returns an account and its test tenant, or only a test tenant.
func bothModes(tenant string) []string {
	if id.IsTestTenant(tenant) {
		return []string{tenant}
	}
	return []string{tenant, id.TestTenantOf(tenant)}
}

func (e *Erased) add(more Erased) {
	e.Emails += more.Emails
	e.Redacted += more.Redacted
	e.Suppressions += more.Suppressions
	e.Received += more.Received
	e.Events += more.Events
}

func (s *Service) eraseOfTenant(ctx context.Context, accountID, addr string) (done Erased, err error) {
	if err := s.eraseKept(ctx, accountID, addr, true); err != nil {
		return done, err
	}
	var emailIDs []string
	if s.stores.Mail != nil {
		if emailIDs, err = s.eraseMail(ctx, accountID, addr, &done); err != nil {
			return done, fmt.Errorf("erase: %w", err)
		}
	}
	if s.stores.Inbox != nil {
		received, err := s.stores.Inbox.Erase(ctx, accountID, addr)
		emailIDs, done.Received = append(emailIDs, received...), len(received)
		if err != nil {
			return done, fmt.Errorf("erase: %w", err)
		}
	}
	if s.stores.Blocklist != nil {
		if done.Suppressions, err = s.stores.Blocklist.Erase(ctx, accountID, addr); err != nil {
			return done, fmt.Errorf("erase: %w", err)
		}
	}
	if s.stores.Listeners != nil {
		if err := s.stores.Listeners.Erase(ctx, accountID, addr, emailIDs); err != nil {
			return done, fmt.Errorf("erase: %w", err)
		}
	}
	if err := s.eraseKept(ctx, accountID, addr, false); err != nil {
		return done, err
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		n, err := s.facts.ForgetMentions(ctx, tx, accountID, addr, event.ContactUnsubscribed, event.SuppressionAdded,
			event.SuppressionRemoved)
		done.Events = int(n)
		return err
	})
	if err != nil {
		return done, fmt.Errorf("erase: %w", err)
	}
	return done, nil
}

// eraseKept erases an address from the data of other modules: from all of it, or only from data that
// triggers actions.
func (s *Service) eraseKept(ctx context.Context, accountID, addr string, actingOnly bool) error {
	for _, kept := range s.kept {
		if actingOnly && !kept.Active {
			continue
		}
		if _, err := kept.Erase(ctx, accountID, addr); err != nil {
			return fmt.Errorf("erase %s: %w", kept.What, err)
		}
	}
	return nil
}

// EraseUser is Erase for a person by an id that the account assigned.
// Error: Invalid for user_id.
func (s *Service) EraseUser(ctx context.Context, accountID, userID string) error {
	if strings.ContainsFunc(userID, unicode.IsControl) || utf8.RuneCountInString(userID) > maxUserID {
		return fault.InvalidField("user_id", "must have at most %d characters and no control characters", maxUserID)
	}
	for _, tenant := range bothModes(accountID) {
		for _, kept := range s.kept {
			if kept.EraseUser == nil {
				continue
			}
			if _, err := kept.EraseUser(ctx, tenant, userID); err != nil {
				return fmt.Errorf("erase %s: %w", kept.What, err)
			}
		}
	}
	return nil
}

// maxUserID is the maximum length of a user id.
const maxUserID = 255

// eraseMail also deletes dependent data after an error, because a retry would no longer find it.
func (s *Service) eraseMail(ctx context.Context, accountID, addr string, done *Erased) ([]string, error) {
	gone, err := s.stores.Mail.Erase(ctx, accountID, addr)
	emailIDs := slices.Concat(gone.Deleted, gone.Redacted)
	done.Emails, done.Redacted = len(gone.Deleted), len(gone.Redacted)
	if s.stores.Follower != nil && len(emailIDs) > 0 {
		if _, followErr := s.stores.Follower.DeleteFor(ctx, accountID, emailIDs); followErr != nil {
			return emailIDs, followErr
		}
	}
	return emailIDs, err
}
