package bounces

import (
	"context"
	"errors"
	"time"

	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/runtime/mail/returnpath"
)

// movedMark returns the mark of a return path that an earlier installation of the account has created. The recipient
// has another id here, as it has in an account that has returned. The error is refused, which is ErrForged or ErrGone,
// if there is no such return path. Other errors are temporary.
func (s *Service) movedMark(ctx context.Context, address string, refused error) (Mark, error) {
	mark, err := returnpath.ReadClaims(address, time.Now())
	if err != nil {
		return Mark{}, refused
	}
	owner, known, err := s.mail.OwnerOf(ctx, mark.EmailID)
	if err != nil {
		return Mark{}, err
	}
	key, err := s.origins.DeriveLatest(ctx, owner.AccountID, forwardPurpose)
	switch {
	case err != nil:
		return Mark{}, err
	case !known, key == nil: // the account has never moved
		return Mark{}, refused
	case errors.Is(refused, ErrGone) && owner.OnlyRecipient != 0: // the return path is genuine
		mark.RecipientID = owner.OnlyRecipient
		return mark, nil
	}
	answer, err := s.origins.Ask(ctx, origins.TokenQuestion{AccountID: owner.AccountID, Kind: origins.ReturnPath,
		Token: address})
	if err == nil {
		mark.RecipientID, known, err = s.mail.RecipientAt(ctx, owner.AccountID, mark.EmailID, answer.Recipient)
	}
	switch {
	case errors.Is(err, origins.ErrUnknown), err == nil && !known:
		return Mark{}, refused
	case err != nil:
		return Mark{}, err
	}
	return mark, nil
}

// Confirm returns the recipient of a return path that this installation has created, for a later installation of the
// account. Error: origins.ErrUnknown; others are temporary.
func (s *Service) Confirm(ctx context.Context, q origins.TokenQuestion) (origins.Answer, error) {
	mark, err := s.paths.Parse(q.Token, time.Now())
	if err != nil {
		return origins.Answer{}, origins.ErrUnknown
	}
	to, known, err := s.mail.Addressee(ctx, mark.EmailID, mark.RecipientID)
	if err == nil && (!known || to.AccountID != q.AccountID) {
		err = origins.ErrUnknown
	}
	return origins.Answer{Recipient: to.Address}, err
}
