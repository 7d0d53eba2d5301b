package automations

import (
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

var _ body.Formed = member{}

// Form returns the form of a part of a definition. A field with its default equals an omitted one.
func (m member) Form() *idempotency.Form {
	switch m.name {
	case "trigger":
		return formWithDefaults(map[string]string{"conditions": `""`, "re_entry": `"every_time"`})
	case "steps":
		return stepForm()
	default:
		return nil
	}
}

// stepForm returns the form of a step of any type, as fields with one name have one default in all types.
func stepForm() *idempotency.Form {
	form := formWithDefaults(map[string]string{
		"next": `"continue"`, "on_error": `"fail"`, "on_suppressed": `"continue"`, "on_event": `"continue"`,
		"on_timeout": `"continue"`, "on_past": `"continue"`, "on_true": `"continue"`, "on_false": `"end"`,
		"otherwise": `"continue"`, "since": `"run"`, "method": `"POST"`, "capture": `false`,
		"outcome": `"completed"`, "to": `"{{event.email}}"`, "unsubscribe": `false`,
	})
	form.Fields["unsubscribe"].DefaultUnless = "template"
	for _, name := range []string{"name", "from", "subject", "html", "text", "category", "at", "timezone",
		"conditions", "step"} {
		form.Fields[name] = &idempotency.Field{Name: name, Default: `""`}
	}
	for _, name := range []string{"to", "cc", "bcc", "reply_to", "event"} {
		field := form.Fields[name]
		if field == nil {
			field = &idempotency.Field{Name: name}
			form.Fields[name] = field
		}
		field.Form = &idempotency.Form{OneOrMany: true}
	}
	form.Fields["headers"] = &idempotency.Field{Name: "headers", Form: &idempotency.Form{OmitEmpty: true}}
	form.Fields["template"] = &idempotency.Field{Name: "template", Form: &idempotency.Form{
		Fields: map[string]*idempotency.Field{
			"variables": {Name: "variables", Form: &idempotency.Form{OmitEmpty: true}},
		}}}
	return form
}

func formWithDefaults(defaults map[string]string) *idempotency.Form {
	form := &idempotency.Form{Fields: map[string]*idempotency.Field{}}
	for name, value := range defaults {
		form.Fields[name] = &idempotency.Field{Name: name, Default: value}
	}
	return form
}
