package suppression

import (
	"context"
	"errors"
	"fmt"

	"github.com/postrider/postrider/ent"
	entsuppression "github.com/postrider/postrider/ent/suppression"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/work/event"
)

// The origins of an unsubscribe.
const (
	SourceOneClick = "one_click" // RFC 8058: the mail client's own button
	SourcePage     = "page"      // our page, opened from the link
)

// Read parses the token of a link. For every invalid token it returns the same NotFound error. It returns Unavailable
// if an earlier installation of the account must confirm the token and does not respond.
func (s *Service) Read(ctx context.Context, token string) (Unsubscribe, error) {
	u, err := s.readToken(ctx, token)
	switch {
	case errors.Is(err, errForged):
		return Unsubscribe{}, (&fault.Error{Kind: fault.NotFound, Code: fault.CodeNotFound, Message: "No such link"}).
			WithCause(err)
	case err != nil:
		return Unsubscribe{}, fault.DatabaseUnavailable(err)
	}
	return u, nil
}

// Unsubscribe blocks mail of the link's category, or all mail if the link has none or the recipient chose
// everything. It is idempotent: contact.unsubscribed is published once.
func (s *Service) Unsubscribe(ctx context.Context, u Unsubscribe, everything bool, source string) error {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		if CategoryKey(u.Category) != "" && !everything {
			return s.stopCategory(ctx, tx, u, source)
		}
		return s.stopAll(ctx, tx, u, source)
	})
	if err != nil {
		return fmt.Errorf("unsubscribe: %w", err)
	}
	s.bus.Wake()
	return nil
}

func (s *Service) stopAll(ctx context.Context, tx *ent.Tx, u Unsubscribe, source string) error {
	rows, err := s.put(ctx, tx, u.AccountID,
		[]entry{{email: u.Email, reason: entsuppression.ReasonUnsubscribe, emailID: u.EmailID}})
	if err != nil || !rows[0].added && !rows[0].asked {
		return err
	}
	return s.tell(ctx, tx, u, event.Unsubscribe{Source: source, Scope: event.ScopeAll, SuppressionID: &rows[0].ID})
}

func (s *Service) stopCategory(ctx context.Context, tx *ent.Tx, u Unsubscribe, source string) error {
	made, err := s.putOptOut(ctx, tx, u, source)
	if err != nil || made == nil {
		return err
	}
	return s.tell(ctx, tx, u, event.Unsubscribe{Source: source, Scope: event.ScopeCategory,
		Category: &made.Category, CategoryLabel: &made.CategoryLabel, CategoryOptOutID: &made.ID})
}

func (s *Service) tell(ctx context.Context, tx *ent.Tx, u Unsubscribe, data event.Unsubscribe) error {
	data.Email = canonicalAddress(u.Email)
	if u.EmailID != "" {
		data.EmailID = &u.EmailID
	}
	return s.bus.Publish(ctx, tx, event.New(u.AccountID, event.ContactUnsubscribed, clock.Now(), data))
}
