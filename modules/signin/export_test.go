package signin

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/modules/accounts"
)

// SetMailer replaces the mailer.
func (s *Service) SetMailer(m Mailer) { s.post.mailer = m }

// Post sends due mail like the worker, until nothing is due.
func (s *Service) Post(ctx context.Context) error {
	for {
		links, err1 := s.post.sendLinks(ctx)
		invitations, err2 := s.post.sendInvitations(ctx)
		alerts, err3 := s.post.sendAlerts(ctx)
		if err := errors.Join(err1, err2, err3); err != nil || links+invitations+alerts == 0 {
			return err
		}
	}
}

// NewCounters returns the function that counts attempts, for tests that import signin/openid.
func NewCounters(reg prometheus.Registerer) (count func(error), err error) {
	c, err := newCounters(reg)
	return c.count, err
}

// UserLink returns the URL of a link that the command line creates.
func (s *Service) UserLink(ctx context.Context, emailOrID string) (string, error) {
	link, err := s.CreateUserLink(ctx, accounts.Caller{}, emailOrID, nil)
	return link.URL, err
}
