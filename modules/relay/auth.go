package relay

import (
	"context"
	"errors"
	"log/slog"

	"github.com/emersion/go-sasl"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/loglimit"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Mechanisms lists the supported mechanisms: PLAIN (RFC 4616), and LOGIN for clients that support no other.
func (s *session) Mechanisms() []string { return []string{sasl.Plain, sasl.Login} }

// Auth starts an exchange.
func (s *session) Auth(ctx context.Context, mechanism string) (sasl.Server, error) {
	if !s.service.guard.isAllowed(s.peer.Remote) {
		return nil, replyFailures
	}
	switch mechanism {
	case sasl.Plain:
		return sasl.NewPlainServer(func(identity, username, password string) error {
			if identity != "" && identity != username {
				password = "" // acting for another user is not allowed
			}
			return s.signIn(ctx, password)
		}), nil
	case sasl.Login:
		return &login{signIn: func(password string) error { return s.signIn(ctx, password) }}, nil
	}
	return nil, replyMechanism
}

func (s *session) signIn(ctx context.Context, password string) error {
	with, err := s.service.credentials.authenticate(ctx, password, s.peer.Remote)
	switch {
	case err == nil:
		s.signedIn, s.password = true, with
		return nil
	case fault.KindOf(err) == fault.Unauthorized:
		s.service.guard.recordFailure(s.peer.Remote)
		return replyCredentials
	}
	s.service.log.WarnContext(loglimit.Collapse(ctx, "lookup"), "password lookup failed",
		slog.Any(telemetry.KeyError, err))
	return replyLookup // RFC 4954 section 6
}

// login is the server side of LOGIN, which has no RFC: two prompts, two responses.
type login struct {
	named  bool // the client has sent a user name
	asked  bool
	signIn func(password string) error
}

func (l *login) Next(response []byte) (challenge []byte, done bool, err error) {
	switch {
	case response == nil && !l.asked:
		l.asked = true
		return []byte("Username:"), false, nil
	case !l.named:
		l.named, l.asked = true, true
		return []byte("Password:"), false, nil
	case response == nil:
		return nil, false, errors.New("password is missing")
	}
	return nil, true, l.signIn(string(response))
}
