package mcp

import (
	"context"
	"fmt"
	"strings"
)

// templateSummary is a template in a list.
type templateSummary struct {
	ID                    string             `json:"id"`
	Alias                 *string            `json:"alias"`
	Name                  string             `json:"name"`
	Status                string             `json:"status" jsonschema:"draft or published"`
	Version               *int               `json:"version" jsonschema:"The published version"`
	HasUnpublishedChanges bool               `json:"has_unpublished_changes"`
	Subject               *string            `json:"subject" jsonschema:"Source in Liquid"`
	From                  *string            `json:"from"`
	Variables             []templateVariable `json:"variables"`
	UpdatedAt             string             `json:"updated_at"`
}

// templateVariable is a variable of a template.
type templateVariable struct {
	Key      string `json:"key"`
	Type     string `json:"type"`
	Required bool   `json:"required"`
	Fallback any    `json:"fallback,omitempty"`
}

// templateSource is a template with its bodies.
type templateSource struct {
	templateSummary

	HTML          *string `json:"html" jsonschema:"Source in Liquid"`
	Text          *string `json:"text" jsonschema:"Source in Liquid"`
	ETag          string  `json:"etag" jsonschema:"State of the draft; pass it to update_template"`
	BodyTruncated bool    `json:"body_truncated,omitempty" jsonschema:"If true, a body was cut: do not write it back"`
}

type listTemplatesInput struct {
	Alias  string `json:"alias,omitempty" jsonschema:"Only the template with this alias"`
	Status string `json:"status,omitempty" jsonschema:"draft or published"`
	Query  string `json:"query,omitempty" jsonschema:"Part of the name or alias"`
	Limit  int    `json:"limit,omitempty" jsonschema:"1 to 100; defaults to 25"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the previous page"`
}

type listTemplatesOutput struct {
	Templates []templateSummary `json:"templates"`
	page
}

type templateInput struct {
	Template string `json:"template" jsonschema:"ID (tpl_…) or alias of the template"`
}

type templateOutput struct {
	Template templateSource `json:"template"`
	Warnings []string       `json:"warnings,omitempty"`
}

type renderTemplateInput struct {
	Template  string         `json:"template" jsonschema:"ID (tpl_…) or alias of the template"`
	Variables map[string]any `json:"variables,omitempty" jsonschema:"Values of the variables by key"`
	Locale    string         `json:"locale,omitempty" jsonschema:"Language of the recipient as a BCP 47 tag; defaults to the language of the template"`
	TimeZone  string         `json:"time_zone,omitempty" jsonschema:"IANA time zone of the recipient"`
	Version   int            `json:"version,omitempty" jsonschema:"Version to render; defaults to the draft"`
}

type renderTemplateOutput struct {
	Subject       *string `json:"subject"`
	Text          *string `json:"text"`
	HTML          *string `json:"html"`
	BodyTruncated bool    `json:"body_truncated,omitempty"`
}

type updateTemplateInput struct {
	Template string  `json:"template" jsonschema:"ID (tpl_…) or alias of the template"`
	Name     string  `json:"name,omitempty" jsonschema:"New name"`
	Subject  *string `json:"subject,omitempty" jsonschema:"New subject in Liquid; null clears it"`
	HTML     *string `json:"html,omitempty" jsonschema:"New HTML body in Liquid"`
	Text     *string `json:"text,omitempty" jsonschema:"New text body in Liquid"`
	From     *string `json:"from,omitempty" jsonschema:"New default sender"`
	ETag     string  `json:"etag,omitempty" jsonschema:"etag of get_template: the update fails if the draft has changed since"`
}

func templateTools() []tool {
	return []tool{
		define(spec{name: "list_templates", title: "List templates", effect: reads, operations: []string{"listTemplates"},
			about: "Lists email templates with their variables, newest first."},
			func(ctx context.Context, s *session, in listTemplatesInput) (out listTemplatesOutput, _ string, err error) {
				_, err = s.call(ctx, request{operation: "listTemplates", query: valuesOf("alias", in.Alias, "status", in.Status,
					"q", in.Query, "limit", limitText(in.Limit), "cursor", in.Cursor)}, &out)
				return out, countWords(len(out.Templates), "template", out.page), err
			}),
		define(spec{name: "get_template", title: "Get a template", effect: reads,
			operations: []string{"listTemplates", "getTemplate"},
			about:      "Returns the draft of a template with its source in Liquid."},
			func(ctx context.Context, s *session, in templateInput) (out templateOutput, _ string, err error) {
				templateID, err := s.findTemplate(ctx, in.Template)
				if err != nil {
					return out, "", err
				}
				_, err = s.call(ctx, request{operation: "getTemplate", id: templateID}, &out)
				out.Template.limitBodies()
				return out, "The draft of the template.", err
			}),
		define(spec{name: "render_template", title: "Render a template", effect: reads,
			operations: []string{"listTemplates", "renderTemplate"},
			about:      "Renders the draft or a version of a template with variables. Sends nothing."}, renderTemplate),
		define(spec{name: "update_template", title: "Change a template's draft", effect: changes,
			operations: []string{"listTemplates", "updateTemplate"},
			about: "Changes fields of a template's draft. Emails use the published version until publish_template is " +
				"called."}, updateTemplate),
		define(spec{name: "publish_template", title: "Publish a template", effect: releases,
			operations: []string{"listTemplates", "publishTemplate"},
			about:      "Publishes the draft of a template: all later sends use it."},
			func(ctx context.Context, s *session, in templateInput) (out templateOutput, _ string, err error) {
				templateID, err := s.findTemplate(ctx, in.Template)
				if err != nil {
					return out, "", err
				}
				_, err = s.call(ctx, request{operation: "publishTemplate", id: templateID}, &out)
				out.Template.limitBodies()
				return out, fmt.Sprintf("The template is published. It has %d warnings.", len(out.Warnings)), err
			}),
	}
}

// findTemplate returns the ID of the template with an ID or alias.
func (s *session) findTemplate(ctx context.Context, name string) (string, error) {
	if strings.HasPrefix(name, "tpl_") {
		return name, nil
	}
	var list listTemplatesOutput
	if name != "" {
		if _, err := s.call(ctx, request{operation: "listTemplates", query: valuesOf("alias", name)}, &list); err != nil {
			return "", err
		}
	}
	if len(list.Templates) == 0 {
		return "", failf("No template has this alias. Call list_templates.")
	}
	return list.Templates[0].ID, nil
}

// limitBodies cuts long bodies.
func (t *templateSource) limitBodies() {
	for _, body := range []**string{&t.HTML, &t.Text} {
		if *body == nil {
			continue
		}
		if text, cut := cutText(**body, maxSource); cut {
			*body, t.BodyTruncated = &text, true
		}
	}
}

// maxSource is the number of bytes of a template's body that tools return.
const maxSource = 128 << 10

func renderTemplate(ctx context.Context, s *session, in renderTemplateInput) (out renderTemplateOutput, _ string, err error) {
	templateID, err := s.findTemplate(ctx, in.Template)
	if err != nil {
		return out, "", err
	}
	body := map[string]any{"variables": in.Variables}
	if in.Version > 0 {
		body["version"] = in.Version
	}
	setText(body, "locale", in.Locale)
	setText(body, "time_zone", in.TimeZone)
	var read struct {
		Rendered renderTemplateOutput `json:"rendered"`
	}
	if _, err = s.call(ctx, request{operation: "renderTemplate", id: templateID, body: body}, &read); err != nil {
		return out, "", err
	}
	out = read.Rendered
	for _, part := range []**string{&out.Text, &out.HTML} {
		if *part != nil {
			text, cut := cutText(**part, maxBody)
			*part, out.BodyTruncated = &text, out.BodyTruncated || cut
		}
	}
	return out, "The template renders without errors. Nothing was sent.", nil
}

func updateTemplate(ctx context.Context, s *session, in updateTemplateInput) (out templateOutput, _ string, err error) {
	templateID, err := s.findTemplate(ctx, in.Template)
	if err != nil {
		return out, "", err
	}
	body := map[string]any{}
	setText(body, "name", in.Name)
	for name, value := range map[string]*string{"subject": in.Subject, "html": in.HTML, "text": in.Text, "from": in.From} {
		if value != nil {
			body[name] = *value
		}
	}
	if len(body) == 0 {
		return out, "", failf("Pass at least one of name, subject, html, text and from.")
	}
	q := request{operation: "updateTemplate", id: templateID, body: body}
	if in.ETag != "" {
		q.header = map[string]string{"If-Match": `"` + strings.Trim(in.ETag, `"`) + `"`}
	}
	_, err = s.call(ctx, q, &out)
	out.Template.limitBodies()
	return out, "The draft was changed. Call publish_template to use it.", err
}
