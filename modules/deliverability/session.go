package deliverability

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/reportaddress"
	"github.com/postrider/postrider/runtime/mail/reportfile"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

// ListenerHandler returns a handler for a listener that only receives reports. Other addresses are rejected with
// Elsewhere.
func (s *Service) ListenerHandler() smtpserver.Handler { return handler{s} }

type handler struct{ service *Service }

// NewSession accepts every client.
func (h handler) NewSession(_ context.Context, p smtpserver.Peer) (smtpserver.Session, error) {
	return &session{service: h.service, peer: p}, nil
}

// session is one connection. Its methods are not called concurrently (runtime/mail/smtpserver).
type session struct {
	service *Service
	peer    smtpserver.Peer
	from    smtpserver.Path
	to      *subject
}

// Elsewhere is the reply to an address that is not a report address.
var Elsewhere = smtpserver.Refuse(550, "5.7.1", "Only reports to report addresses are received here")

var (
	replyUnknown = smtpserver.Refuse(550, "5.1.1", "No such report address")
	replyOther   = smtpserver.Refuse(452, "4.5.3", "Send the report about each domain in its own transaction")
	replyNoRoom  = smtpserver.Refuse(452, "4.3.1", "Too many large messages, try again later")
	replyNoDNS   = smtpserver.Refuse(451, "4.7.0", "The sender cannot be authenticated at present, try again later")
	replyRefused = smtpserver.Refuse(550, "5.7.1", "Not an acceptable report")
)

func (s *session) Mail(_ context.Context, from smtpserver.Path, _ smtpserver.MailOptions) error {
	s.from = from
	return nil
}

func (s *session) Rcpt(ctx context.Context, to smtpserver.Path) error {
	domainID, err := s.service.addresses.Parse(to.String())
	switch {
	case errors.Is(err, reportaddress.ErrNotReportAddress):
		return Elsewhere
	case err != nil:
		s.service.results.WithLabelValues("unknown_address").Inc()
		return replyUnknown
	}
	found, err := s.service.findSubject(ctx, domainID)
	switch {
	case errors.Is(err, errNoDomain):
		s.service.results.WithLabelValues("unknown_address").Inc()
		return replyUnknown
	case err != nil:
		return err
	case s.to != nil && *s.to != found:
		return replyOther
	}
	s.to = &found
	return nil
}

const (
	maxMessage      = 2 * reportfile.MaxFile // the file in base64, and the rest of the message
	smallMessage    = 64 << 10               // bytes kept in memory while a message is received
	receivePatience = time.Minute            // how long a sender waits for memory
)

func (s *session) Data(ctx context.Context, body io.Reader) error {
	raw := s.service.budget.NewContent(intake.Terms{Tenant: intake.Tenant{Remote: s.peer.Remote},
		MaxMemory: smallMessage, MaxSize: maxMessage, Patience: receivePatience})
	defer raw.Close()
	err := raw.Receive(ctx, intake.Upload{From: io.LimitReader(body, maxMessage), Limit: maxMessage, Size: -1,
		Cut: func() { smtpserver.Cut(body, replyNoRoom) }})
	var rest int64
	if err == nil {
		rest, err = io.Copy(io.Discard, body)
	}
	switch {
	case errors.Is(err, intake.ErrFull), errors.Is(err, intake.ErrCut):
		return replyNoRoom
	case err != nil:
		return err
	}
	return s.service.receive(ctx, arrival{to: *s.to, remote: s.peer.Remote, hello: s.peer.Hello(), from: s.from.String(),
		raw: raw, truncated: rest > 0})
}

func (s *session) Reset() { s.from, s.to = smtpserver.Path{}, nil }

func (s *session) End() {}
