package sending

import (
	"context"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/clock"
)

// Preview is a message as Send would store it: its template is filled, and its addresses are as
// they are shown.
type Preview struct {
	From                 string
	To, CC, BCC, ReplyTo []string
	Subject, HTML, Text  string
	Headers              []shape.Header
	Tags                 []shape.Tag
	Category             string
	Unsubscribe          bool
	TemplateID           string // "": none
	TemplateVersion      int
}

// Preview judges a message as Send does and gives what Send would store, but stores nothing.
// It asks neither for suppressed recipients nor for caps. Errors: Invalid with all wrong
// fields, Forbidden by the policy.
func (s *Service) Preview(ctx context.Context, caller accounts.Caller, m Message) (Preview, error) {
	a, err := s.prepare(ctx, caller, m, clock.Now())
	if err != nil {
		return Preview{}, err
	}
	e := a.email
	return Preview{From: e.from, To: e.to, CC: e.cc, BCC: e.bcc, ReplyTo: e.replyTo, Subject: e.subject, HTML: e.html, Text: e.text, Headers: e.headers, Tags: e.tags,
		Category: e.category, Unsubscribe: e.unsubscribe, TemplateID: e.templateID, TemplateVersion: e.templateVersion}, nil
}
