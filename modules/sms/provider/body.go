package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strings"

	"github.com/postrider/postrider/modules/templates/language"
)

// The content types of a gateway's request body.
const (
	JSON = "application/json"
	Form = "application/x-www-form-urlencoded"
	XML  = "application/xml"
	Text = "text/plain"
)

// standardBody is the default body of a gateway.
const standardBody = `{"id": "{{id}}", "to": "{{to}}", "from": "{{from}}", "text": "{{text}}", "receipt_url": "{{receipt_url}}"}`

// names are the variables that the Liquid in a body may use.
var names = []string{"id", "to", "from", "text", "encoding", "segments", "receipt_url"}

// maxBody is the maximum length of a gateway's body, in bytes.
const maxBody = 16 << 10

// Body is a template of a request body. Each value is encoded for its position, so that untrusted text cannot
// end the string, field or element that contains it.
type Body struct {
	ContentType string

	json  any                      // the JSON document, with Liquid in its strings
	form  []field                  // fields of a Form body
	whole *language.CompiledSource // source of an XML or Text body
	parts map[string]*language.CompiledSource
}

type field struct{ name, value string }

// NewBody parses a body. Liquid is allowed in the strings of JSON, the values of a form (a={{to}}&b={{text}}),
// and anywhere in XML and text. An empty content type means JSON, and an empty text means the standard body.
// The error message is written to follow the name of the field.
func NewBody(contentType, text string) (*Body, error) {
	b := &Body{ContentType: contentType, parts: map[string]*language.CompiledSource{}}
	if contentType == "" {
		b.ContentType = JSON
	}
	if text == "" {
		text = standardBody
	}
	if len(text) > maxBody {
		return nil, fmt.Errorf("must be at most %d bytes", maxBody)
	}
	kind, _, err := mime.ParseMediaType(b.ContentType)
	if err != nil {
		return nil, errors.New("requires a valid content type")
	}
	switch kind {
	case JSON:
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&b.json); err != nil || decoder.More() {
			return nil, errors.New("must be JSON, with Liquid only in its strings")
		}
		return b, b.compileJSON(b.json)
	case Form:
		for pair := range strings.SplitSeq(text, "&") {
			name, value, found := strings.Cut(pair, "=")
			if name = strings.TrimSpace(name); name == "" || !found {
				return nil, errors.New("must be a form, such as to={{to}}&text={{text}}")
			}
			b.form = append(b.form, field{name, value})
			if err := b.compile(language.Text, value); err != nil {
				return nil, err
			}
		}
		return b, nil
	case XML, "text/xml":
		b.whole, err = compileText(language.HTML, text)
	case Text:
		b.whole, err = compileText(language.Text, text)
	default:
		return nil, fmt.Errorf("cannot have the content type %s; use one of %s", kind,
			strings.Join([]string{JSON, Form, XML, Text}, ", "))
	}
	return b, err
}

func compileText(engine *language.Engine, text string) (*language.CompiledSource, error) {
	part, err := engine.Compile("body", text)
	if err != nil {
		return nil, err
	}
	for _, variable := range part.Variables() {
		if !slices.Contains(names, variable) {
			return nil, fmt.Errorf("line %d: unknown variable %s; use one of %s", part.Place(variable).Line, variable,
				strings.Join(names, ", "))
		}
	}
	return part, nil
}

func (b *Body) compile(engine *language.Engine, text string) error {
	part, err := compileText(engine, text)
	b.parts[text] = part
	return err
}

func (b *Body) compileJSON(value any) error {
	switch v := value.(type) {
	case string:
		return b.compile(language.Text, v)
	case []any:
		for _, element := range v {
			if err := b.compileJSON(element); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := b.compileJSON(v[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Fill returns the body for one message.
func (b *Body) Fill(ctx context.Context, m Message) (string, error) {
	f := bodyRenderer{b, language.NewBudget(ctx, language.Locale{}), map[string]any{"id": m.ID, "to": m.To, "from": m.From, "text": m.Text,
		"encoding": m.Encoding, "segments": m.Segments, "receipt_url": m.ReceiptURL}}
	switch {
	case b.whole != nil:
		return b.whole.Render(f.budget, f.values)
	case b.form != nil:
		var out []string
		for _, pair := range b.form {
			value, err := f.renderText(pair.value)
			if err != nil {
				return "", err
			}
			out = append(out, url.QueryEscape(pair.name)+"="+url.QueryEscape(value))
		}
		return strings.Join(out, "&"), nil
	}
	filled, err := f.renderJSON(b.json)
	if err != nil {
		return "", err
	}
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(filled)
	return strings.TrimSuffix(encoded.String(), "\n"), err
}

type bodyRenderer struct {
	body   *Body
	budget *language.Budget
	values map[string]any
}

func (f bodyRenderer) renderText(text string) (string, error) {
	return f.body.parts[text].Render(f.budget, f.values)
}

func (f bodyRenderer) renderJSON(value any) (any, error) {
	switch v := value.(type) {
	case string:
		return f.renderText(v)
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			filled, err := f.renderJSON(element)
			if err != nil {
				return nil, err
			}
			out[i] = filled
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			filled, err := f.renderJSON(v[name])
			if err != nil {
				return nil, err
			}
			out[name] = filled
		}
		return out, nil
	}
	return value, nil
}
