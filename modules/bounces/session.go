package bounces

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

// ListenerHandler returns a handler for a listener that only receives reports. Addresses that are not return paths
// are rejected with Elsewhere.
func (s *Service) ListenerHandler() smtpserver.Handler { return handler{s} }

type handler struct{ service *Service }

// NewSession accepts every client: reports come from null and other senders.
func (h handler) NewSession(_ context.Context, p smtpserver.Peer) (smtpserver.Session, error) {
	return &session{service: h.service, peer: p}, nil
}

// session is one connection. Its methods are not called concurrently (runtime/mail/smtpserver).
type session struct {
	service *Service
	peer    smtpserver.Peer
	from    smtpserver.Path
	marks   []Mark
}

// Elsewhere is the reply to an address that is not a return path. A listener that also accepts other mail
// handles the address itself instead.
var Elsewhere = smtpserver.Refuse(550, "5.7.1", "Only reports to return paths are received here")

var (
	replyUnknown = smtpserver.Refuse(550, "5.1.1", "No such return path")
	replyGone    = smtpserver.Refuse(550, "5.1.1", "The message of this return path no longer exists")
	replyMoving  = smtpserver.Refuse(451, "4.3.2", "The account of this return path is being moved, try again later")
	replyNoRoom  = smtpserver.Refuse(452, "4.3.1", "Too many large messages at once, try again later")
)

func (s *session) Mail(_ context.Context, from smtpserver.Path, _ smtpserver.MailOptions) error {
	s.from = from
	return nil
}

func (s *session) Rcpt(ctx context.Context, to smtpserver.Path) error {
	mark, err := s.service.MarkOf(ctx, to.String())
	if err != nil {
		return rejectionReply(err)
	}
	s.marks = append(s.marks, mark)
	return nil
}

// rejectionReply returns a reply that only says that the address is unknown. It does not reveal whether a token is
// forged or expired.
func rejectionReply(err error) error {
	switch {
	case errors.Is(err, ErrNotOurs):
		return Elsewhere
	case errors.Is(err, ErrForged):
		return replyUnknown
	case errors.Is(err, ErrMoving):
		return replyMoving
	case IsRefusal(err):
		return replyGone
	}
	return err
}

func (s *session) Data(ctx context.Context, body io.Reader) error {
	text, err := s.take(ctx, body)
	if err != nil {
		return err
	}
	defer text.Close()
	owner := intake.Tenant{Remote: s.peer.Remote}
	if text.Size() > smallReport {
		release, err := s.service.budget.AcquireWork(ctx, owner, reportMemory, receivePatience)
		if err != nil {
			return noRoom(err)
		}
		defer release()
	}
	if len(s.marks) == 1 {
		return rejectionReply(s.service.Receive(ctx, s.marks[0], s.peer.Remote, text.Reader()))
	}
	// A message may have several return paths. If storing fails for one of them, a retry of the message does
	// not store the others again.
	for _, m := range s.marks {
		if err := s.service.Receive(ctx, m, s.peer.Remote, text.Reader()); err != nil && !errors.Is(err, ErrGone) {
			return rejectionReply(err)
		}
	}
	return nil
}

const (
	smallReport     = 64 << 10    // bytes of a report kept in memory while it is received
	reportMemory    = 8 * maxRead // needed to parse a large report
	receivePatience = time.Minute // how long a sender waits for memory
)

// take reads the part of a report that is examined, and drains the rest.
func (s *session) take(ctx context.Context, body io.Reader) (*intake.Content, error) {
	// RFC 5321, 4.4: the server that makes the final delivery records the envelope sender.
	raw := io.MultiReader(strings.NewReader("Return-Path: <"+s.from.String()+">\r\n"), body)
	c := s.service.budget.NewContent(intake.Terms{Tenant: intake.Tenant{Remote: s.peer.Remote}, MaxMemory: smallReport,
		MaxSize: maxRead, Patience: receivePatience})
	err := c.Receive(ctx, intake.Upload{From: io.LimitReader(raw, maxRead), Limit: maxRead, Size: -1,
		Cut: func() { smtpserver.Cut(body, replyNoRoom) }})
	if err == nil {
		_, err = io.Copy(io.Discard, raw)
	}
	if err != nil {
		c.Close()
		return nil, noRoom(err)
	}
	return c, nil
}

// noRoom converts a lack of memory into an SMTP reply.
func noRoom(err error) error {
	if errors.Is(err, intake.ErrFull) || errors.Is(err, intake.ErrCut) {
		return replyNoRoom
	}
	return err
}

func (s *session) Reset() { s.from, s.marks = smtpserver.Path{}, nil }

func (s *session) End() {}
