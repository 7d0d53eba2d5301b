package tracking

import (
	"cmp"
	"context"
	"errors"

	"github.com/postrider/postrider/modules/accounts/origins"
)

// readToken parses a token requested on a host, or on ownHost. If this installation has not signed it, an earlier
// installation of the account may have: an authentic token is then signed with the key of a move, or confirmed by that
// installation. Errors: ErrForged; others are temporary.
func (s *Service) readToken(ctx context.Context, token, host string) (LinkToken, error) {
	mark, err := s.tokens.parse(token, host)
	if err == nil {
		return mark, nil
	}
	claimed, err := readClaims(token)
	if err != nil {
		return LinkToken{}, ErrForged
	}
	keys, err := s.origins.DeriveEach(ctx, claimed.AccountID, tokenPurpose)
	if err != nil || len(keys) == 0 {
		return LinkToken{}, cmp.Or(err, ErrForged)
	}
	if mark, err := (tokens{keys}).parse(token, host); err == nil {
		return mark, nil
	}
	_, err = s.origins.Ask(ctx, origins.TokenQuestion{AccountID: claimed.AccountID, Kind: origins.TrackedLink, Token: token,
		Host: host})
	switch {
	case errors.Is(err, origins.ErrUnknown):
		return LinkToken{}, ErrForged
	case err != nil:
		return LinkToken{}, err
	}
	return claimed, nil
}

// readClaims returns the content of a token without verifying it.
func readClaims(token string) (LinkToken, error) {
	body, _, err := decodeToken(token)
	if err != nil {
		return LinkToken{}, err
	}
	return decodeMark(body)
}

// Confirm reports to a later installation of an account whether this one has signed a token. Error:
// origins.ErrUnknown.
func (s *Service) Confirm(_ context.Context, q origins.TokenQuestion) (origins.Answer, error) {
	mark, err := s.tokens.parse(q.Token, q.Host)
	if err != nil || mark.AccountID != q.AccountID {
		return origins.Answer{}, origins.ErrUnknown
	}
	return origins.Answer{}, nil
}

// Move reports whether the account of a link is being moved to another installation or has moved there. Its visits are
// then not recorded here. to is the URL of the link there, signed with the key of the move. It is empty during the
// move, and if the key cannot be read.
func (s *Service) Move(ctx context.Context, mark LinkToken) (to string, moving bool) {
	baseURL, moving := s.rules.Move(mark.AccountID)
	if baseURL == "" {
		return "", moving
	}
	key, err := s.origins.DeriveLatest(ctx, mark.AccountID, tokenPurpose)
	if err != nil || key == nil {
		return "", true
	}
	m, err := tokens{[][]byte{key}}.newMinter(mark.AccountID, mark.EmailID, ownHost)
	switch {
	case err != nil:
		return "", true
	case mark.Kind == Open:
		return baseURL + OpenPath + m.mintOpen() + PixelSuffix, true
	}
	return baseURL + ClickPath + m.mintClick(mark.Target), true
}
