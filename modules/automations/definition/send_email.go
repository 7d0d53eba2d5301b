package definition

import (
	"fmt"

	"github.com/postrider/postrider/runtime/base/fault"
)

// SendEmail is the type of steps that send an email.
const SendEmail = "send_email"

var _ = registerType(SendEmail, emailStep{})

type emailStep struct{ plainStep }

func (emailStep) describe() string {
	return "sends an email to the person, or to `to`. The content is Liquid over `event`, `run`, `steps` and `automation`, or a published `template`"
}

func (emailStep) members() []member {
	return []member{
		{"to", addresses, false, "Liquid. Defaults to {{event.email}}."}, {"cc", addresses, false, "Liquid."},
		{"bcc", addresses, false, "Liquid."}, {"reply_to", addresses, false, "Liquid."},
		{"from", textForm(1000, checkFrom), false, "The sender, without Liquid. Defaults to that of the template."},
		{"subject", textForm(MaxString, checkSubject).withSchema(line), false, "Liquid."},
		{"html", content, false, "HTML with Liquid. Values are escaped."}, {"text", content, false, "Liquid."},
		{"template", objectForm(
			member{"id", textForm(100, nil), false, "ID of the template. Send either alias or id."},
			member{"alias", textForm(200, nil), false, "Alias of the template. Send either alias or id."},
			member{"variables", variables, false,
				"Liquid in strings. A string that consists of one output keeps the type of the value."},
		).withSchema(map[string]any{"oneOf": []any{requireField("id"), requireField("alias")}}), false, "A published template."},
		{"tags", listForm(1, 10, objectForm(member{"name", textForm(256, nil), true, ""}, member{"value", textForm(256, nil), true, ""})), false, ""},
		{"headers", mapForm(50, checkHeader, textForm(998, checkSubject).withSchema(line)), false, ""},
		{"category", textForm(200, nil), false, ""}, {"unsubscribe", booleanForm(), false, ""},
		expiresAfter, {"on_suppressed", target, false, "What happens if a recipient is suppressed. Defaults to continue."}, onError,
	}
}

func (emailStep) isEffect() bool { return true }
func (emailStep) sends() Medium  { return MediumEmail }

func (emailStep) jointSchema() map[string]any {
	return map[string]any{"anyOf": []any{
		map[string]any{"required": []string{"template"}, "properties": map[string]any{"html": false, "text": false}},
		map[string]any{"required": []string{"from", "subject", "html"}, "not": requireField("template")},
		map[string]any{"required": []string{"from", "subject", "text"}, "not": requireField("template")},
	}}
}

func (emailStep) ways(s *Step) []Way {
	return []Way{newWay("on_suppressed", s.OnSuppressed, Continue), newWay("on_error", s.OnError, Fails)}
}

func (emailStep) validate(s *Step, path string, wrong fault.Fields) {
	if t := s.Template; t != nil {
		if (t.ID == "") == (t.Alias == "") {
			wrong.Add(joinPath(path, "template"), "must have exactly one of id and alias")
		}
		for name, body := range map[string]string{"html": s.HTML, "text": s.Text} {
			if body != "" {
				wrong.Add(joinPath(path, name), "cannot be combined with a template")
			}
		}
		return
	}
	if s.From == "" {
		wrong.Add(joinPath(path, "from"), "is required without a template")
	}
	if s.Subject == "" {
		wrong.Add(joinPath(path, "subject"), "is required without a template")
	}
	if s.HTML == "" && s.Text == "" {
		wrong.Add(joinPath(path, "html"), "html, text or template is required")
	}
}

func (emailStep) summary(s *Step) string {
	if s.Template != nil {
		return "Send the template " + s.Template.ID + s.Template.Alias
	}
	return fmt.Sprintf("Send %q", s.Subject)
}
