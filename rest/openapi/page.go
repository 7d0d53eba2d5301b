package openapi

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// The reference page is made from the document once, at start: plain HTML and one
// style sheet, nothing from elsewhere, no scripts.

//go:embed docs.html
var referenceHTML string

//go:embed docs.css
var referenceCSS string

// StyleHash lets the content security policy allow exactly our style sheet.
func StyleHash() string {
	sum := sha256.Sum256([]byte(referenceCSS))
	return base64.StdEncoding.EncodeToString(sum[:])
}

var referenceTemplate = template.Must(template.New("docs").Funcs(template.FuncMap{"prose": prose}).Parse(referenceHTML))

// prose shows the code spans of a description as such; the rest is escaped.
func prose(text string) template.HTML {
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
	Intro                  []string
	Tags                   []referenceTag
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
	Curl                      string
	Example                   string
	Answers                   []referenceAnswer
}

type referenceField struct {
	Name, In, Type, Description string
	Required                    bool
}

type referenceAnswer struct{ Status, Description string }

type referenceSchema struct {
	Name, Description, Type string
	Fields                  []referenceField
}

// Page makes the reference page of a complete document.
func Page(d *huma.OpenAPI) ([]byte, error) {
	r := reference{Title: d.Info.Title, Version: d.Info.Version, Server: d.Servers[0].URL, Style: template.CSS(referenceCSS), //nolint:gosec // our own file
		Intro: strings.Split(d.Info.Description, "\n\n")}
	for _, tag := range d.Tags {
		t := referenceTag{Name: tag.Name, Description: tag.Description}
		for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
			for _, op := range operationsOf(d.Paths[path]) {
				if slices.Contains(op.Tags, tag.Name) {
					described, err := describeOperation(d, op, r.Server)
					if err != nil {
						return nil, err
					}
					t.Operations = append(t.Operations, described)
				}
			}
		}
		r.Tags = append(r.Tags, t)
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

func operationsOf(item *huma.PathItem) []*huma.Operation {
	all := []*huma.Operation{item.Get, item.Post, item.Patch, item.Put, item.Delete}
	return slices.DeleteFunc(all, func(op *huma.Operation) bool { return op == nil })
}

func describeOperation(d *huma.OpenAPI, op *huma.Operation, server string) (referenceOperation, error) {
	out := referenceOperation{ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: strings.Split(op.Description, "\n\n")}
	for _, p := range op.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]]
		}
		out.Parameters = append(out.Parameters, referenceField{Name: p.Name, In: p.In, Type: typeName(p.Schema), Description: p.Description, Required: p.Required})
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		answer := op.Responses[status]
		if answer.Ref != "" {
			answer = d.Components.Responses[answer.Ref[strings.LastIndex(answer.Ref, "/")+1:]]
		}
		out.Answers = append(out.Answers, referenceAnswer{Status: status, Description: answer.Description})
	}
	var err error
	if out.Example, err = answerExample(op); err != nil {
		return out, fmt.Errorf("example of %s: %w", op.OperationID, err)
	}
	out.Curl, err = curl(op, server)
	if op.RequestBody != nil {
		out.Body = strings.TrimPrefix(op.RequestBody.Content[jsonType].Schema.Ref, "#/components/schemas/")
	}
	return out, err
}

// answerExample is the successful answer: JSON, or text as it is.
func answerExample(op *huma.Operation) (string, error) {
	for _, media := range op.Responses["200"].Content {
		if text, plain := media.Example.(string); plain {
			return text, nil
		}
	}
	example, err := json.MarshalIndent(op.Responses["200"].Content[jsonType].Example, "", "  ")
	return string(example), err
}

// curl is a command that can be pasted once the key is set.
func curl(op *huma.Operation, server string) (string, error) {
	path := strings.ReplaceAll(op.Path, "{id}", "$ID")
	if strings.HasPrefix(server, "/") {
		server = "$BASE_URL" + server
	}
	line := fmt.Sprintf("curl %q -H \"Authorization: Bearer $POSTRIDER_API_KEY\"", server+path)
	if op.Method != http.MethodGet {
		line = strings.Replace(line, "curl ", "curl -X "+op.Method+" ", 1)
	}
	if op.RequestBody == nil {
		return line, nil
	}
	examples := op.RequestBody.Content[jsonType].Examples
	first := slices.SortedFunc(maps.Keys(examples), func(a, b string) int { return cmp.Compare(b, a) })[0]
	body, err := json.Marshal(examples[first].Value)
	if err != nil {
		return "", fmt.Errorf("example of %s: %w", op.OperationID, err)
	}
	quoted := strings.ReplaceAll(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(body)), "'", `'\''`)
	return line + " \\\n  -H 'Content-Type: application/json' \\\n  -d '" + quoted + "'", nil
}

func fieldsOf(s *huma.Schema) []referenceField {
	var fields []referenceField
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		fields = append(fields, referenceField{Name: name, Type: typeName(p), Description: p.Description, Required: slices.Contains(s.Required, name)})
	}
	return fields
}

// typeName says in one line what a schema takes.
func typeName(s *huma.Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case len(s.AllOf) == 1:
		return typeName(s.AllOf[0])
	case len(s.OneOf) > 0:
		var options []string
		for _, option := range s.OneOf {
			options = append(options, typeName(option))
		}
		return strings.Join(options, " or ")
	case s.Type == huma.TypeArray:
		return "array of " + typeName(s.Items)
	case len(s.Enum) > 0:
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprint(v))
		}
		return strings.Join(values, " | ")
	}
	name := s.Type
	if s.Format == "date-time" {
		name = "timestamp"
	}
	if s.Nullable {
		name += " or null"
	}
	return name
}
