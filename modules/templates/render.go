package templates

import (
	"context"

	"github.com/postrider/postrider/runtime/fault"
)

// Ref names a template by exactly one of the two.
type Ref struct {
	ID    string
	Alias string
}

// Rendered is the published version of a template with its gaps filled. Subject,
// From, HTML and Text are empty where the template leaves them to the send.
type Rendered struct {
	TemplateID  string
	Version     int
	Subject     string
	From        string // display form
	ReplyTo     []string
	HTML        string
	Text        string
	Unsubscribe bool
	Category    string
}

// Render fills the published version. What is wrong is a fault of kind Invalid
// that names the fields as a send has them: template, template.id,
// template.alias, template.variables.<key>. {{unsubscribe_url}} comes through as
// it stands, for the send to replace.
func (s *Service) Render(_ context.Context, _ string, ref Ref, _ map[string]any) (Rendered, error) {
	if (ref.ID == "") == (ref.Alias == "") {
		return Rendered{}, fault.InvalidField("template", "needs either id or alias")
	}
	return Rendered{}, fault.InvalidField("template", "no template is published yet")
}
