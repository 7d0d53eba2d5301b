package openapi

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/rest/pages/theme"
)

// The reference page is generated from the document once: HTML with an inline style sheet and script, and no
// external resources. Without the script, the page shows everything, but only samples for curl.

//go:embed docs.html
var referenceHTML string

//go:embed docs.css
var ownCSS string

var referenceCSS = theme.Style + ownCSS

//go:embed docs.js
var referenceJS string

// PagePolicy returns the content security policy of the reference page, which allows only its own style sheet and
// script.
func PagePolicy() string {
	return fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		theme.Source(referenceCSS), theme.Source(referenceJS))
}

var referenceTemplate = template.Must(template.New("docs").Funcs(template.FuncMap{"prose": proseHTML}).
	Parse(referenceHTML))

// proseHTML converts the code spans of a description to HTML and escapes the rest.
func proseHTML(text string) template.HTML {
	var out strings.Builder
	for i, part := range strings.Split(text, "`") {
		escaped := template.HTMLEscapeString(part)
		if i%2 == 1 {
			escaped = "<code>" + escaped + "</code>"
		}
		out.WriteString(escaped)
	}
	return template.HTML(out.String()) //nolint:gosec // escaped above
}

type reference struct {
	Title, Version, Server string
	Style                  template.CSS
	Script                 template.JS
	Intro                  []string
	First                  *referenceOperation
	Tags                   []referenceTag
	Events                 []referenceEvent
	Schemas                []referenceSchema
}

type referenceTag struct {
	Name, Description string
	Operations        []referenceOperation
}

type referenceOperation struct {
	ID, Method, Path, Summary string
	Description               []string
	Parameters                []referenceField
	Body                      string // component name
	Samples                   []sample
	Example                   string
	Result                    string // component name
	Answers                   []referenceAnswer
}

type referenceEvent struct {
	ID, Name, Payload string
	Description       []string
	Fields            []referenceField
	Example           string
}

type referenceField struct {
	Name, In, Type, Description string
	Schema                      string // component that the field refers to
	Required                    bool
}

type referenceAnswer struct{ Status, Description string }

type referenceSchema struct {
	Name, Description, Type string
	Fields                  []referenceField
}

// pageMaker builds the reference page of a complete document.
type pageMaker struct {
	document *huma.OpenAPI
	server   string
	origin   string // origin of the server
	sender   string
}

// Page returns the reference page of a complete document. The samples use the given sender, or the sender of the
// examples if it is empty.
func Page(d *huma.OpenAPI, sender string) ([]byte, error) {
	p := &pageMaker{document: d, server: d.Servers[0].URL, sender: sender}
	if strings.HasPrefix(p.server, "/") {
		p.server = "https://mail.example.com" + p.server
	}
	p.origin = p.server
	if at, err := url.Parse(p.server); err == nil {
		p.origin = at.Scheme + "://" + at.Host
	}
	r := reference{Title: d.Info.Title, Version: d.Info.Version, Server: p.server,
		Intro: strings.Split(d.Info.Description, "\n\n"),
		Style: template.CSS(referenceCSS), Script: template.JS(referenceJS)} //nolint:gosec // our own files
	for _, tag := range d.Tags {
		t, err := p.makeTag(tag)
		if err != nil {
			return nil, err
		}
		r.Tags = append(r.Tags, t)
		for i := range t.Operations {
			if t.Operations[i].ID == "sendEmail" {
				r.First = &t.Operations[i]
			}
		}
	}
	var err error
	if r.Events, err = p.listEvents(); err != nil {
		return nil, err
	}
	schemas := d.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		r.Schemas = append(r.Schemas, referenceSchema{Name: name, Description: schemas[name].Description,
			Type: typeName(schemas[name]), Fields: fieldsOf(schemas[name])})
	}
	var out bytes.Buffer
	if err := referenceTemplate.Execute(&out, r); err != nil {
		return nil, fmt.Errorf("reference page: %w", err)
	}
	return out.Bytes(), nil
}

func (p *pageMaker) makeTag(tag *huma.Tag) (referenceTag, error) {
	t := referenceTag{Name: tag.Name, Description: tag.Description}
	for _, path := range slices.Sorted(maps.Keys(p.document.Paths)) {
		for _, op := range operationsOf(p.document.Paths[path]) {
			if !slices.Contains(op.Tags, tag.Name) {
				continue
			}
			described, err := p.makeOperation(op)
			if err != nil {
				return t, err
			}
			t.Operations = append(t.Operations, described)
		}
	}
	return t, nil
}

func operationsOf(item *huma.PathItem) []*huma.Operation {
	all := []*huma.Operation{item.Get, item.Post, item.Patch, item.Put, item.Delete}
	return slices.DeleteFunc(all, func(op *huma.Operation) bool { return op == nil })
}

func (p *pageMaker) makeOperation(op *huma.Operation) (referenceOperation, error) {
	d := p.document
	out := referenceOperation{ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary,
		Description: strings.Split(op.Description, "\n\n")}
	for _, parameter := range op.Parameters {
		if parameter.Ref != "" {
			parameter = d.Components.Parameters[parameter.Ref[strings.LastIndex(parameter.Ref, "/")+1:]]
		}
		out.Parameters = append(out.Parameters,
			referenceField{Name: parameter.Name, In: parameter.In, Type: typeName(parameter.Schema),
				Description: parameter.Description, Required: parameter.Required})
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		answer := op.Responses[status]
		if answer.Ref != "" {
			answer = d.Components.Responses[answer.Ref[strings.LastIndex(answer.Ref, "/")+1:]]
		}
		out.Answers = append(out.Answers, referenceAnswer{Status: status, Description: answer.Description})
	}
	if op.RequestBody != nil {
		out.Body = componentOf(op.RequestBody.Content[jsonType].Schema)
	}
	if media := successOf(op).Content[jsonType]; media != nil {
		out.Result = componentOf(media.Schema)
	}
	var err error
	if out.Example, err = answerExample(op); err != nil {
		return out, fmt.Errorf("example of %s: %w", op.OperationID, err)
	}
	out.Samples, err = p.samplesOf(op)
	return out, err
}

// answerExample returns the example of the successful response: JSON, or text unchanged.
func answerExample(op *huma.Operation) (string, error) {
	content := successOf(op).Content
	for _, form := range slices.Sorted(maps.Keys(content)) {
		if text, plain := content[form].Example.(string); plain {
			return text, nil
		}
	}
	if successOf(op).Content == nil { // it leads elsewhere
		return "", nil
	}
	return indentJSON(successOf(op).Content[jsonType].Example)
}

// listEvents describes the events that webhook endpoints receive.
func (p *pageMaker) listEvents() ([]referenceEvent, error) {
	schemas := p.document.Components.Schemas.Map()
	var all []referenceEvent
	for _, name := range slices.Sorted(maps.Keys(p.document.Webhooks)) {
		op := p.document.Webhooks[name].Post
		media := op.RequestBody.Content[jsonType]
		payload := componentOf(schemas[componentOf(media.Schema)].Properties["data"])
		example, err := indentJSON(media.Example)
		if err != nil {
			return nil, fmt.Errorf("example of %s: %w", name, err)
		}
		all = append(all, referenceEvent{ID: op.OperationID, Name: name,
			Description: strings.Split(op.Description, "\n\n")[:1],
			Payload:     payload, Fields: fieldsOf(schemas[payload]), Example: example})
	}
	return all, nil
}
