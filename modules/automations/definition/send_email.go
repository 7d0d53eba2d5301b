package definition

import (
	"fmt"
	"strings"

	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

// SendEmail is the type of steps that send an email.
const SendEmail = "send_email"

var _ = registerType(SendEmail, emailStep{})

type emailStep struct{ plainStep }

func (emailStep) describe() string {
	return "sends an email to the person, or to `to`. The content is a Liquid template with `event`, `run`, `steps` and `automation`, or a published `template`"
}

func (emailStep) members() []member {
	return []member{
		{"to", addresses, false, "The recipients, with Liquid. Defaults to {{event.email}}."},
		{"cc", addresses, false, "Cc recipients, with Liquid."},
		{"bcc", addresses, false, "Bcc recipients, with Liquid."},
		{"reply_to", addresses, false, "The addresses that replies are sent to, with Liquid."},
		{"from", textForm(1000, checkFrom), false, "The sender, without Liquid. Defaults to that of the template."},
		{"subject", textForm(MaxString, checkSubject).withSchema(line), false, "The subject, with Liquid."},
		{"html", content, false, "The HTML body, with Liquid. Values are escaped."},
		{"text", content, false, "The plain text body, with Liquid."},
		{"template", objectForm(
			member{"id", textForm(100, nil), false, "ID of the template. Send either alias or id."},
			member{"alias", textForm(200, nil), false, "Alias of the template. Send either alias or id."},
			member{"locale", textForm(200, nil), false,
				"Language of the recipient as a BCP 47 tag, with Liquid. Defaults to American English."},
			member{"time_zone", textForm(200, nil), false,
				"Time zone of the recipient from the IANA database, with Liquid. Defaults to the zone that a time contains."},
			member{"variables", variables, false,
				"Liquid in strings. A string that consists of one output keeps the type of the value."},
		).withSchema(map[string]any{"oneOf": []any{requireField("id"), requireField("alias")}}).titled("StepTemplate"),
			false, "A published template."},
		{"tags", listForm(1, 10, objectForm(member{"name", textForm(256, nil), true, "The name of the tag."},
			member{"value", textForm(256, nil), true, "The value of the tag, with Liquid."}).titled("StepTag")), false,
			"The tags that are stored with the email."},
		{"headers", mapForm(50, checkHeader, textForm(address.MaxThreadValue, checkSubject).withSchema(line)), false,
			"Custom header fields by name, with Liquid in the values."},
		{"category", textForm(200, nil), false, "The kind of mail. An unsubscribe then applies to this category only."},
		{"unsubscribe", booleanForm(), false, "Whether Postrider manages unsubscribes."},
		expiresAfter, {"on_suppressed", target, false,
			"What happens if a recipient is suppressed. Defaults to continue."}, onError,
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

func (emailStep) ways(s *Step) []StepTarget {
	return []StepTarget{newWay("on_suppressed", s.OnSuppressed, Continue), newWay("on_error", s.OnError, Fails)}
}

func (emailStep) validate(s *Step, path string, wrong fault.Fields) {
	for _, h := range s.Headers {
		if limit := address.MaxFieldValue(h.Name); len(h.Value) > limit {
			wrong.Add(joinPath(joinPath(path, "headers"), h.Name), "has %d bytes; the limit is %d", len(h.Value), limit)
		}
	}
	if t := s.Template; t != nil {
		if (t.ID == "") == (t.Alias == "") {
			wrong.Add(joinPath(path, "template"), "must have exactly one of id and alias")
		}
		language.NewLocale(withoutLiquid(t.Locale), joinPath(path, "template.locale"), withoutLiquid(t.TimeZone),
			joinPath(path, "template.time_zone"), wrong)
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

// withoutLiquid returns a text that is known before the step runs, or "".
func withoutLiquid(text string) string {
	if strings.Contains(text, "{{") || strings.Contains(text, "{%") {
		return ""
	}
	return strings.TrimSpace(text)
}

func (emailStep) summary(s *Step) string {
	if s.Template != nil {
		return "Send the template " + s.Template.ID + s.Template.Alias
	}
	return fmt.Sprintf("Send %q", s.Subject)
}
