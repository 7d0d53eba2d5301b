package templates

import (
	"strings"

	"github.com/postrider/postrider/modules/templates/language"
)

var templatesDoc = "Reusable messages with variables. A template has a draft, which you edit, and versions, which you publish. Sends use the published version.\n\n" +
	"Templates are written in Liquid: `{{ customer.name | default: \"you\" }}`, `{% if %}`, `{% unless %}`, `{% case %}`, `{% for %}` (nested two levels deep, no ranges), " +
	"`{% comment %}` and `{% raw %}`. `{% layout \"base\" %}` with `{% block \"content\" %}`, and `{% render \"footer\", year: 2026 %}`. " +
	"Not available: assign, capture, include, tablerow, cycle. Filters: " + strings.Join(language.Filters(), ", ") +
	". Values are HTML-escaped in `html`, but not in `subject` and `text`; the filters markdown and raw return HTML. Values are formatted for the locale and the time zone of the send.\n\n" +
	"`{{unsubscribe_url}}` is reserved: the send replaces it with the recipient's link. A rendered `html` or `text` can have at most 1 MB, and a list in the values at most " +
	"1,000 items. Every operation accepts the template's ID or its alias."

func addTemplateExample() map[string]any {
	return map[string]any{"kind": "template", "alias": "receipt", "name": "Receipt", "subject": "Your receipt, {{customer.name}}",
		"from":     "Ada <ada@example.com>",
		"reply_to": []any{"help@example.com"}, "html": "<p>Thank you, {{customer.name}}.</p>", "text": "Thank you, {{customer.name}}.",
		"translations": []any{translationExample()},
		"variables":    []any{variableExample()}, "unsubscribe_enabled": false, "category": "Receipts"}
}

func translationExample() map[string]any {
	return map[string]any{"locale": "pt-BR", "subject": "Seu recibo, {{customer.name}}", "html": "<p>Obrigado, {{customer.name}}.</p>",
		"text": "Obrigado, {{customer.name}}."}
}

func variableExample() map[string]any {
	return map[string]any{"key": "customer.name", "type": "string", "required": false, "fallback": "you", "example": "Ada"}
}

func renderVariablesExample() map[string]any {
	return map[string]any{"customer": map[string]any{"name": "Ada"}}
}

func templateSummaryExample() map[string]any {
	t := templateExample()
	delete(t, "html")
	delete(t, "text")
	delete(t, "translations")
	delete(t, "etag")
	return t
}

func templateExample() map[string]any {
	return map[string]any{
		"id": "tpl_01kf0m4w7he6x8q2v5b3n9c1ta", "kind": "template", "alias": "receipt", "name": "Receipt",
		"subject": "Your receipt, {{customer.name}}", "from": "Ada <ada@example.com>",
		"reply_to": []any{"help@example.com"}, "html": "<p>Thank you, {{customer.name}}.</p>", "text": "Thank you, {{customer.name}}.",
		"translations": []any{translationExample()}, "locales": []any{map[string]any{"locale": "pt-BR", "missing": []any{}}},
		"variables": []any{variableExample()}, "unsubscribe_enabled": false, "category": "Receipts", "status": "published", "version": 3,
		"published_at": "2026-01-15T09:30:00.000Z", "has_unpublished_changes": false, "has_newer_components": true,
		"components": []any{map[string]any{"kind": "layout", "template_id": "tpl_01kf0m4w7he6x8q2v5b3n9c1tb", "alias": "base",
			"name": "Base", "version": 2, "latest_version": 3}},
		"created_at": "2026-01-10T09:30:00.000Z", "updated_at": "2026-01-15T09:30:00.000Z",
		"etag": "3f2a9c1b7d5e4f603f2a9c1b7d5e4f603f2a9c1b7d5e4f603f2a9c1b7d5e4f60",
	}
}

func versionExample(whole bool) map[string]any {
	v := map[string]any{
		"template_id": "tpl_01kf0m4w7he6x8q2v5b3n9c1ta", "version": 3, "subject": "Your receipt, {{customer.name}}", "from": "Ada <ada@example.com>",
		"reply_to": []any{"help@example.com"}, "variables": []any{variableExample()}, "unsubscribe_enabled": false, "category": "Receipts",
		"published_at": "2026-01-15T09:30:00.000Z", "published_by": "ada@example.com",
		"components": []any{map[string]any{"kind": "layout", "template_id": "tpl_01kf0m4w7he6x8q2v5b3n9c1tb", "version": 2}},
	}
	if whole {
		v["html"], v["text"] = "<p>Thank you, {{customer.name}}.</p>", "Thank you, {{customer.name}}."
		v["translations"] = []any{translationExample()}
	}
	return v
}
