package listeners

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/postrider/postrider/runtime/mail/smtpserver"
	"github.com/postrider/postrider/runtime/ops/module"
)

// handlerOf combines the kinds of recipients on one listener. It returns nil if there are none.
func handlerOf(kinds []module.Recipients) smtpserver.Handler {
	switch len(kinds) {
	case 0:
		return nil
	case 1:
		return kinds[0].Handler
	}
	last := func(k module.Recipients) int {
		if k.Elsewhere == nil {
			return 1
		}
		return 0
	}
	return inboundHandler(slices.SortedStableFunc(slices.Values(kinds),
		func(a, b module.Recipients) int { return cmp.Compare(last(a), last(b)) }))
}

// inboundHandler tries the kinds in order.
type inboundHandler []module.Recipients

func (h inboundHandler) NewSession(ctx context.Context, p smtpserver.Peer) (smtpserver.Session, error) {
	s := &inboundSession{kinds: h}
	for _, kind := range h {
		session, err := kind.Handler.NewSession(ctx, p)
		if err != nil {
			s.End()
			return nil, err
		}
		s.sessions = append(s.sessions, session)
	}
	return s, nil
}

// inboundSession assigns each transaction to the session of its first recipient. A recipient of another kind
// needs its own transaction, the way RFC 5321 section 4.5.3.1.10 handles too many recipients; in practice no
// message has both kinds. If only one kind were stored, the sender's retry would duplicate it.
type inboundSession struct {
	kinds    []module.Recipients
	sessions []smtpserver.Session // one per kind
	chosen   smtpserver.Session   // nil before the first recipient
}

var replyOneKind = smtpserver.Refuse(452, "4.5.3",
	"Return paths and other recipients cannot share a transaction; retry this recipient in a separate one")

func (s *inboundSession) Mail(ctx context.Context, from smtpserver.Path, o smtpserver.MailOptions) error {
	for _, session := range s.sessions {
		if err := session.Mail(ctx, from, o); err != nil {
			return err
		}
	}
	return nil
}

func (s *inboundSession) Rcpt(ctx context.Context, to smtpserver.Path) error {
	var err error
	for i, session := range s.sessions {
		err = session.Rcpt(ctx, to)
		if elsewhere := s.kinds[i].Elsewhere; elsewhere != nil && errors.Is(err, elsewhere) {
			continue
		}
		switch {
		case err != nil:
			return err
		case s.chosen != nil && s.chosen != session:
			return replyOneKind
		}
		s.chosen = session
		return nil
	}
	return err
}

func (s *inboundSession) Data(ctx context.Context, body io.Reader) error {
	return s.chosen.Data(ctx, body)
}

func (s *inboundSession) Reset() {
	s.chosen = nil
	for _, session := range s.sessions {
		session.Reset()
	}
}

func (s *inboundSession) End() {
	for _, session := range s.sessions {
		session.End()
	}
}
