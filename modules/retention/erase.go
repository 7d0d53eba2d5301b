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
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/work/event"
)

// Erased counts what was erased of one address.
type Erased struct {
	Emails       int // that went to nobody else, and are gone
	Redacted     int // that went to others too, and lost the address and their bodies
	Suppressions int // entries of the block lists that forgot the address and go on blocking it
	Received     int // received emails from the address or to it: gone
	Events       int // facts about the address apart from its emails
}

// Erase deletes what is stored of an address as a recipient of the account, and the
// mail that came from it or to it.
// Repeating it is harmless. Error: Invalid naming `email`.
func (s *Service) Erase(ctx context.Context, accountID, email string) (Erased, error) {
	parsed, err := address.Parse(email)
	if err != nil {
		return Erased{}, fault.InvalidField("email", "%s", err)
	}
	if parsed.Name != "" {
		return Erased{}, fault.InvalidField("email", "must be an address without a display name")
	}
	addr := strings.ToLower(parsed.AddrSpec())
	var done Erased
	if err := s.eraseKept(ctx, accountID, addr, true); err != nil {
		return done, err
	}
	var emailIDs []string
	if s.near.Mail != nil {
		if emailIDs, err = s.eraseMail(ctx, accountID, addr, &done); err != nil {
			return done, fmt.Errorf("erase: %w", err)
		}
	}
	if s.near.Inbox != nil {
		received, err := s.near.Inbox.Erase(ctx, accountID, addr)
		emailIDs, done.Received = append(emailIDs, received...), len(received)
		if err != nil {
			return done, fmt.Errorf("erase: %w", err)
		}
	}
	if s.near.Blocklist != nil {
		if done.Suppressions, err = s.near.Blocklist.Erase(ctx, accountID, addr); err != nil {
			return done, fmt.Errorf("erase: %w", err)
		}
	}
	if s.near.Listeners != nil {
		if err := s.near.Listeners.Erase(ctx, accountID, addr, emailIDs); err != nil {
			return done, fmt.Errorf("erase: %w", err)
		}
	}
	if err := s.eraseKept(ctx, accountID, addr, false); err != nil {
		return done, err
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		n, err := s.facts.ForgetMentions(ctx, tx, accountID, addr, event.ContactUnsubscribed, event.SuppressionAdded, event.SuppressionRemoved)
		done.Events = int(n)
		return err
	})
	if err != nil {
		return done, fmt.Errorf("erase: %w", err)
	}
	return done, nil
}

// eraseKept erases what other modules keep of an address: all, or only what acts by itself.
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

// EraseUser deletes what is stored of somebody under an id that the account has given.
// Repeating it is harmless. Error: Invalid naming `user_id`.
func (s *Service) EraseUser(ctx context.Context, accountID, userID string) error {
	if strings.ContainsFunc(userID, unicode.IsControl) || utf8.RuneCountInString(userID) > maxUserID {
		return fault.InvalidField("user_id", "must have at most %d characters, none of them a control character", maxUserID)
	}
	for _, kept := range s.kept {
		if kept.EraseUser == nil {
			continue
		}
		if _, err := kept.EraseUser(ctx, accountID, userID); err != nil {
			return fmt.Errorf("erase %s: %w", kept.What, err)
		}
	}
	return nil
}

// maxUserID is how long an id of a person may be.
const maxUserID = 255

// eraseMail goes on to what follows the emails also after an error, which a
// repetition would not find again.
func (s *Service) eraseMail(ctx context.Context, accountID, addr string, done *Erased) ([]string, error) {
	gone, err := s.near.Mail.Erase(ctx, accountID, addr)
	emailIDs := slices.Concat(gone.Deleted, gone.Redacted)
	done.Emails, done.Redacted = len(gone.Deleted), len(gone.Redacted)
	if s.near.Follower != nil && len(emailIDs) > 0 {
		if _, followErr := s.near.Follower.DeleteFor(ctx, accountID, emailIDs); followErr != nil {
			return emailIDs, followErr
		}
	}
	return emailIDs, err
}
