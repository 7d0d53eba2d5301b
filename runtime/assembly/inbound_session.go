package assembly

import (
	"context"
	"errors"
	"io"

	"github.com/postrider/postrider/modules/bounces"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

// inboundHandler joins the two kinds of recipients on one listener.
type inboundHandler struct{ reports, received smtpserver.Handler }

func (h inboundHandler) NewSession(ctx context.Context, p smtpserver.Peer) (smtpserver.Session, error) {
	reports, err := h.reports.NewSession(ctx, p)
	if err != nil {
		return nil, err
	}
	received, err := h.received.NewSession(ctx, p)
	if err != nil {
		reports.End()
		return nil, err
	}
	return &inboundSession{reports: reports, received: received}, nil
}

// inboundSession gives each transaction to the session of its first recipient. A
// recipient of the other kind belongs into a transaction of its own, as RFC 5321
// section 4.5.3.1.10 has it for too many: no message has both in practice, and what
// were stored for one of them before the other could not would come twice.
type inboundSession struct {
	reports, received smtpserver.Session
	chosen            smtpserver.Session // nil before the first recipient
}

var replyOneKind = smtpserver.Refuse(452, "4.5.3", "Return paths and other recipients do not share a transaction, send to this one in another")

func (s *inboundSession) Mail(ctx context.Context, from smtpserver.Path, o smtpserver.MailOptions) error {
	if err := s.reports.Mail(ctx, from, o); err != nil {
		return err
	}
	return s.received.Mail(ctx, from, o)
}

func (s *inboundSession) Rcpt(ctx context.Context, to smtpserver.Path) error {
	kind := s.reports
	err := kind.Rcpt(ctx, to)
	if errors.Is(err, bounces.Elsewhere) {
		kind = s.received
		err = kind.Rcpt(ctx, to)
	}
	switch {
	case err != nil:
		return err
	case s.chosen != nil && s.chosen != kind:
		return replyOneKind
	}
	s.chosen = kind
	return nil
}

func (s *inboundSession) Data(ctx context.Context, body io.Reader) error {
	return s.chosen.Data(ctx, body)
}

func (s *inboundSession) Reset() {
	s.chosen = nil
	s.reports.Reset()
	s.received.Reset()
}

func (s *inboundSession) End() {
	s.reports.End()
	s.received.End()
}
