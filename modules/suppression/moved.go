package suppression

import (
	"cmp"
	"context"
	"errors"

	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/runtime/base/fault"
)

// readToken parses a token. If this installation has not signed it, an earlier installation of the account may have: a
// genuine token is then signed with the key of a move, or confirmed by that installation. Errors: errForged; others are
// temporary.
func (s *Service) readToken(ctx context.Context, token string) (Unsubscribe, error) {
	u, err := s.links.parse(token)
	if err == nil {
		return u, nil
	}
	claimed, err := readClaims(token)
	if err != nil {
		return Unsubscribe{}, err
	}
	keys, err := s.origins.DeriveEach(ctx, claimed.AccountID, linkPurpose)
	if err != nil || len(keys) == 0 {
		return Unsubscribe{}, cmp.Or(err, errForged)
	}
	if u, err := (linker{keys: keys}).parse(token); err == nil {
		return u, nil
	}
	_, err = s.origins.Ask(ctx, origins.TokenQuestion{AccountID: claimed.AccountID, Kind: origins.UnsubscribeLink,
		Token: token})
	switch {
	case errors.Is(err, origins.ErrUnknown):
		return Unsubscribe{}, errForged
	case err != nil:
		return Unsubscribe{}, err
	}
	return claimed, nil
}

// readClaims returns the content of a token without verifying it.
func readClaims(token string) (Unsubscribe, error) {
	body, _, err := decodeToken(token)
	if err != nil {
		return Unsubscribe{}, err
	}
	return decodeBody(body)
}

// Confirm reports to a later installation of an account whether this one has signed a token. Error:
// origins.ErrUnknown.
func (s *Service) Confirm(_ context.Context, q origins.TokenQuestion) (origins.Answer, error) {
	u, err := s.links.parse(q.Token)
	if err != nil || u.AccountID != q.AccountID {
		return origins.Answer{}, origins.ErrUnknown
	}
	return origins.Answer{}, nil
}

// MovedPath returns the path of a link at the installation that the account has moved to, signed with the key of the
// move. Error: Unavailable.
func (s *Service) MovedPath(ctx context.Context, u Unsubscribe) (string, error) {
	key, err := s.origins.DeriveLatest(ctx, u.AccountID, linkPurpose)
	if err == nil && key == nil {
		err = errors.New("the account has moved without a key")
	}
	if err != nil {
		return "", fault.DatabaseUnavailable(err)
	}
	return LinkPrefix + linker{keys: [][]byte{key}}.token(u), nil
}
