package inbound

import (
	"context"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/mail/address"
)

// Answer asks for a reply to a received email, or for it to be forwarded. What the
// message leaves out is filled in: the sender is the address that the email came to.
type Answer struct {
	EmailID string
	Message sending.Message
	// WithoutFiles leaves the files of a forwarded email out.
	WithoutFiles bool
	Claim        *idempotency.Claim
	Render       func(sending.Receipt) idempotency.Answer
}

// errNoSender is for an edge that offers what is switched off.
var errNoSender = fault.Conflictf(fault.CodeConflict, "Sending is switched off in this installation")

// Reply answers a received email: to its Reply-To, else its From, in its thread. All
// rules of a send apply. Errors: NotFound, Invalid when the email has no address to
// answer to, and those of a send.
func (s *Service) Reply(ctx context.Context, caller accounts.Caller, a Answer) (sending.Receipt, error) {
	e, err := s.Get(ctx, caller.AccountID, a.EmailID)
	if err != nil {
		return sending.Receipt{}, err
	}
	m := a.Message
	if m.From.IsZero() {
		m.From = sending.Mailbox{Text: e.RcptTo}
	}
	if len(m.To) == 0 {
		if m.To = answerTo(e); len(m.To) == 0 {
			return sending.Receipt{}, fault.InvalidField("to", "is required: the email has no address that can be answered")
		}
	}
	if m.Subject == "" {
		m.Subject = subjectWith("Re", e.Subject)
	}
	if m.Headers, err = threaded(m.Headers, e); err != nil {
		return sending.Receipt{}, err
	}
	return s.send(ctx, caller, m, a)
}

func (s *Service) send(ctx context.Context, caller accounts.Caller, m sending.Message, a Answer) (sending.Receipt, error) {
	if s.sender == nil {
		return sending.Receipt{}, errNoSender
	}
	return s.sender.Send(ctx, caller, sending.Request{Message: m, Claim: a.Claim, Render: a.Render})
}

// answerTo is RFC 5322 section 3.6.2: the addresses of Reply-To, else that of From.
func answerTo(e *ent.ReceivedEmail) (to []sending.Mailbox) {
	for _, list := range [][]string{e.ReplyTo, {e.From}, {e.FromAddress}} {
		for _, display := range list {
			if parsed, err := address.Parse(display); err == nil && len(to) < sending.MaxRecipients {
				to = append(to, sending.Mailbox{Text: parsed.String()})
			}
		}
		if len(to) > 0 {
			return to
		}
	}
	return nil
}

// threaded adds the fields that join a reply to its thread, unless the email has
// nothing to join to.
func threaded(headers []shape.Header, e *ent.ReceivedEmail) ([]shape.Header, error) {
	inReplyTo, references := thread(e)
	if inReplyTo == "" {
		return headers, nil
	}
	for _, h := range headers {
		if strings.EqualFold(h.Name, "In-Reply-To") || strings.EqualFold(h.Name, "References") {
			return nil, fault.InvalidField("headers."+h.Name, "is written by the service")
		}
	}
	return append(append([]shape.Header{}, headers...), shape.Header{Name: "In-Reply-To", Value: inReplyTo}, shape.Header{Name: "References", Value: references}), nil
}

// maxReferences keeps a field below what a header value may have, 998 characters.
const maxReferences = 900

// thread gives the fields of a reply (RFC 5322 section 3.6.4): the ids of the parent's
// References, or of its In-Reply-To when it has none, then its own. When they are too
// many the first, where the thread began, and the last stay.
func thread(e *ent.ReceivedEmail) (inReplyTo, references string) {
	own := bracketed(e.MessageID)
	if own == "" {
		return "", ""
	}
	var before []string
	for _, id := range e.References {
		if id = bracketed(id); id != "" {
			before = append(before, id)
		}
	}
	if len(before) == 0 && e.InReplyTo != nil {
		if id := bracketed(*e.InReplyTo); id != "" {
			before = []string{id}
		}
	}
	room := maxReferences - len(own)
	if len(before) > 0 && len(before[0])+1 <= room {
		room -= len(before[0]) + 1
		rest := before[1:]
		for i := len(rest) - 1; i >= 0; i-- {
			if room -= len(rest[i]) + 1; room < 0 {
				rest = rest[i+1:]
				break
			}
		}
		references = strings.Join(append([]string{before[0]}, rest...), " ") + " "
	}
	return own, references + own
}

// bracketed is a message id as a field has it; empty when a stranger's id could not
// stand there.
func bracketed(id string) string {
	if id == "" || len(id) > 250 || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '<' || r == '>' }) {
		return ""
	}
	return "<" + id + ">"
}

// maxSubject is the longest subject, in characters.
const maxSubject = 998

// subjectWith puts a prefix before a subject, once.
func subjectWith(prefix, subject string) string {
	subject = strings.TrimSpace(strings.Map(func(r rune) rune {
		if address.ValidateSubject(string(r)) != nil {
			return ' '
		}
		return r
	}, subject))
	if len(subject) > len(prefix) && strings.EqualFold(subject[:len(prefix)+1], prefix+":") {
		prefix = ""
	} else {
		prefix += ": "
	}
	runes := []rune(prefix + subject)
	return strings.TrimSpace(string(runes[:min(len(runes), maxSubject)]))
}
