package machine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/runtime/mail/address"
)

var _ = registerType(definition.SendEmail, emailStep{})

type emailStep struct{ effectStep }

// RenderedEmail is an email with its texts rendered, except those of its template.
type RenderedEmail struct {
	From                 string
	To, CC, BCC, ReplyTo []string
	Subject, HTML, Text  string
	Template             *definition.TemplateRef // its variables are rendered
	Tags                 []shape.Tag
	Headers              []shape.Header
	Category             string
	Unsubscribe          *bool
}

func (emailStep) texts(s *definition.Step) (out []source) {
	list := func(path string, texts definition.StringList) {
		for i, t := range texts {
			out = addText(out, fmt.Sprintf("%s[%d]", path, i), t)
		}
	}
	list("to", s.Recipients())
	list("cc", s.CC)
	list("bcc", s.BCC)
	list("reply_to", s.ReplyTo)
	out = addText(out, "subject", s.Subject)
	out = addText(out, "text", s.Text)
	if s.HTML != "" {
		out = append(out, source{path: "html", source: s.HTML, html: true})
	}
	for i, tag := range s.Tags {
		out = addText(out, fmt.Sprintf("tags[%d].value", i), tag.Value)
	}
	for _, header := range s.Headers {
		out = addText(out, "headers."+header.Name, header.Value)
	}
	if s.Template != nil {
		out = addText(out, "template.locale", s.Template.Locale)
		out = addText(out, "template.time_zone", s.Template.TimeZone)
		out = append(out, findLiquid("template.variables", s.Template.Variables)...)
	}
	return out
}

func (emailStep) render(t *texts, s *definition.Step) (Effect, error) {
	e := &RenderedEmail{From: s.From, Category: s.Category, Unsubscribe: s.Unsubscribe}
	var failed error
	list := func(name string, texts definition.StringList) []string {
		out := make([]string, 0, len(texts))
		for i := range texts {
			text, err := t.renderPath(fmt.Sprintf("%s[%d]", name, i))
			if err != nil && failed == nil {
				failed = err
			}
			out = append(out, address.CleanFieldValue(text))
		}
		return out
	}
	one := func(name string) string {
		text, err := t.renderPath(name)
		if err != nil && failed == nil {
			failed = err
		}
		return text
	}
	e.To = list("to", s.Recipients())
	e.CC, e.BCC, e.ReplyTo = withoutBlank(list("cc", s.CC)), withoutBlank(list("bcc", s.BCC)),
		withoutBlank(list("reply_to", s.ReplyTo))
	e.Subject, e.HTML, e.Text = address.CleanFieldValue(one("subject")), one("html"), one("text")
	for i, tag := range s.Tags {
		if value := cleanTag(one(fmt.Sprintf("tags[%d].value", i))); value != "" {
			e.Tags = append(e.Tags, shape.Tag{Name: tag.Name, Value: value})
		}
	}
	for _, header := range s.Headers {
		value := address.CleanFieldValue(one("headers." + header.Name))
		if value != "" {
			e.Headers = append(e.Headers, shape.Header{Name: header.Name, Value: value})
		}
	}
	if s.Template != nil && failed == nil {
		variables, err := t.fillValue("template.variables", asObject(s.Template.Variables))
		if err != nil {
			return nil, err
		}
		filled, _ := variables.(map[string]any)
		if filled == nil {
			filled = map[string]any{}
		}
		if _, given := filled["event"]; !given {
			filled["event"] = t.scope.Trigger // supplies declared variables such as event.data.plan
		}
		e.Template = &definition.TemplateRef{ID: s.Template.ID, Alias: s.Template.Alias, Variables: filled,
			Locale: strings.TrimSpace(one("template.locale")), TimeZone: strings.TrimSpace(one("template.time_zone"))}
	}
	return e, failed
}

// withoutBlank removes addresses that rendered empty. An email needs a recipient, but can do without a copy.
func withoutBlank(list []string) []string {
	return slices.DeleteFunc(list, func(address string) bool { return address == "" })
}

// notInTag matches the characters that the value of a tag cannot have.
var notInTag = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// cleanTag returns a rendered value as a valid tag value, with hyphens in place of invalid characters. It is
// empty if no character is valid.
func cleanTag(value string) string {
	if notInTag.MatchString(value) {
		value = strings.Trim(notInTag.ReplaceAllString(value, "-"), "-")
	}
	return value[:min(len(value), maxTagValue)]
}

// maxTagValue is in bytes, as in module sending.
const maxTagValue = 256

func asObject(variables map[string]any) any {
	if variables == nil {
		return map[string]any{}
	}
	return variables
}
