package answer

import (
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

// ReplyRecipients returns the recipients of a reply (RFC 5322 section 3.6.2): the addresses of Reply-To, or else
// of From.
func ReplyRecipients(e *ent.ReceivedEmail) (to []sending.Mailbox) {
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

// WithThreadHeaders adds the header fields that put a reply into its thread, if the email has a message id.
func WithThreadHeaders(headers []shape.Header, e *ent.ReceivedEmail) ([]shape.Header, error) {
	inReplyTo, references := threadHeaders(e)
	if inReplyTo == "" {
		return headers, nil
	}
	for _, h := range headers {
		if strings.EqualFold(h.Name, "In-Reply-To") || strings.EqualFold(h.Name, "References") {
			return nil, fault.InvalidField("headers."+h.Name, "is written by the service")
		}
	}
	return append(append([]shape.Header{}, headers...), shape.Header{Name: "In-Reply-To", Value: inReplyTo},
		shape.Header{Name: "References", Value: references}), nil
}

// maxReferences keeps the field below the maximum length of a header value, 998 characters.
const maxReferences = 900

// threadHeaders returns the thread fields of a reply (RFC 5322 section 3.6.4): the ids in the parent's
// References, or in its In-Reply-To if it has none, followed by the parent's own id. If there are too many, it
// keeps the first, which started the thread, and the last ones.
func threadHeaders(e *ent.ReceivedEmail) (inReplyTo, references string) {
	own := formatMessageID(e.MessageID)
	if own == "" {
		return "", ""
	}
	var before []string
	for _, id := range e.References {
		if id = formatMessageID(id); id != "" {
			before = append(before, id)
		}
	}
	if len(before) == 0 && e.InReplyTo != nil {
		if id := formatMessageID(*e.InReplyTo); id != "" {
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

// formatMessageID returns a message id in angle brackets, or "" if it is not valid in a header field.
func formatMessageID(id string) string {
	if id == "" || len(id) > 250 ||
		strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '<' || r == '>' }) {
		return ""
	}
	return "<" + id + ">"
}

// maxSubject is the maximum length of a subject in characters.
const maxSubject = 998

// Subject adds a prefix to a subject that does not have it yet.
func Subject(prefix, subject string) string {
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
