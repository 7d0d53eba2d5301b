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

	"github.com/postrider/postrider/runtime/web/theme"
)

// The reference is generated from the document once: a page with the contents, and a page for each part, which are
// HTML with an inline style sheet and script, and no external resources. The script loads a part into the first page
// when it is shown. Without the script, the contents lead to the pages of the parts, with samples for curl only.

//go:embed docs.html
var referenceHTML string

//go:embed docs.css
var ownCSS string

var referenceCSS = theme.Style + ownCSS

//go:embed docs.js
var referenceJS string

// PagePolicy returns the content security policy of the reference, which allows only its own style sheet, script and
// parts.
func PagePolicy() string {
	return fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; connect-src 'self'; base-uri 'none'; "+
		"form-action 'none'; frame-ancestors 'none'",
		theme.Source(referenceCSS), theme.Source(referenceJS))
}

var referenceTemplate = template.Must(template.New("docs").Funcs(template.FuncMap{"prose": proseHTML,
	"shape":  func(name string) string { return shapePart(name) + "#schema-" + name },
	"style":  func() template.CSS { return template.CSS(referenceCSS) }, //nolint:gosec // our own file
	"script": func() template.JS { return template.JS(referenceJS) },    //nolint:gosec // our own file
}).Parse(referenceHTML))

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
	Heading, Title, Version, Server string
	Intro                           []string
	First                           *referenceOperation
	Parts                           []referencePart
}

// referencePart is a part of the reference: the operations of a tag, the events, or the shapes with the same initial.
type referencePart struct {
	Slug, Heading, Title, Description string
	Operations                        []referenceOperation
	Events                            []referenceEvent
	Schemas                           []referenceSchema
}

// shapePart returns the part with the shape of a component.
func shapePart(name string) string { return "shapes-" + strings.ToLower(name[:1]) }

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

// pageMaker builds the reference of a complete document.
type pageMaker struct {
	document *huma.OpenAPI
	server   string
	origin   string // origin of the server
	sender   string
}

// Pages returns the pages of the reference of a complete document by their path below that of the first one, which is
// the empty path. The samples use the given sender, or the sender of the examples if it is empty.
func Pages(d *huma.OpenAPI, sender string) (map[string][]byte, error) {
	p := &pageMaker{document: d, server: d.Servers[0].URL, sender: sender}
	if strings.HasPrefix(p.server, "/") {
		p.server = "https://mail.example.com" + p.server
	}
	p.origin = p.server
	if at, err := url.Parse(p.server); err == nil {
		p.origin = at.Scheme + "://" + at.Host
	}
	r := reference{Heading: d.Info.Title + " API reference", Title: d.Info.Title, Version: d.Info.Version,
		Server: p.server, Intro: strings.Split(d.Info.Description, "\n\n")}
	for _, tag := range d.Tags {
		part, err := p.makeTag(tag)
		if err != nil {
			return nil, err
		}
		r.Parts = append(r.Parts, part)
		for i := range part.Operations {
			if part.Operations[i].ID == "sendEmail" {
				r.First = &part.Operations[i]
			}
		}
	}
	events, err := p.listEvents()
	if err != nil {
		return nil, err
	}
	if len(events) > 0 {
		r.Parts = append(r.Parts, referencePart{Slug: "events", Title: "Events", Events: events,
			Description: "What webhook endpoints are sent. The event log and its stream show the same data."})
	}
	r.Parts = append(r.Parts, p.listShapes()...)
	pages := map[string][]byte{}
	if pages[""], err = renderPage("index", r); err != nil {
		return nil, err
	}
	for _, part := range r.Parts {
		part.Heading = part.Title + " · " + r.Heading
		if pages[part.Slug], err = renderPage("part", part); err != nil {
			return nil, err
		}
	}
	return pages, nil
}

func renderPage(name string, data any) ([]byte, error) {
	var out bytes.Buffer
	if err := referenceTemplate.ExecuteTemplate(&out, name, data); err != nil {
		return nil, fmt.Errorf("reference page: %w", err)
	}
	return out.Bytes(), nil
}

// listShapes returns the parts with the components, by their initials.
func (p *pageMaker) listShapes() (parts []referencePart) {
	schemas := p.document.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if slug := shapePart(name); len(parts) == 0 || parts[len(parts)-1].Slug != slug {
			parts = append(parts, referencePart{Slug: slug, Title: "Shapes: " + strings.ToUpper(name[:1])})
		}
		last := &parts[len(parts)-1]
		last.Schemas = append(last.Schemas, referenceSchema{Name: name, Description: schemas[name].Description,
			Type: typeName(schemas[name]), Fields: fieldsOf(schemas[name])})
	}
	return parts
}

func (p *pageMaker) makeTag(tag *huma.Tag) (referencePart, error) {
	t := referencePart{Slug: strings.ReplaceAll(strings.ToLower(tag.Name), " ", "-"), Title: tag.Name,
		Description: tag.Description}
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
