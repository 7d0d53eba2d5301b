package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"text/template"

	"github.com/danielgtaylor/huma/v2"
)

// sample is a program that sends one request.
type sample struct{ Lang, Name, Text string }

// asked is the request that a sample sends. The body is JSON, or empty.
type asked struct {
	Method, URL, Body string
	Headers           []askedHeader
}

// askedHeader is a header field of a sample. Its value is a text, followed by an environment variable if one is named.
type askedHeader struct{ Name, Text, Variable string }

// languages are the languages of the samples, in the order of the page. Each sample uses only the standard library and
// reads the credential from an environment variable.
var languages = []struct {
	id, name string
	program  *template.Template
}{
	{"curl", "curl", parseProgram(`curl{{if ne .Method "GET"}} -X {{.Method}}{{end}} '{{.URL}}'
{{- range .Headers}} \
  -H {{if .Variable}}"{{.Name}}: {{.Text}}${{.Variable}}"{{else}}'{{.Name}}: {{.Text}}'{{end}}{{end}}
{{- if .Body}} \
  -d '{{.Body}}'{{end}}`)},
	{"node", "Node", parseProgram(`const answer = await fetch('{{.URL}}', {
  method: '{{.Method}}',
{{- if .Headers}}
  headers: {
{{- range .Headers}}
    '{{.Name}}': {{if .Variable}}` + "`{{.Text}}${process.env.{{.Variable}}}`" + `{{else}}'{{.Text}}'{{end}},
{{- end}}
  },
{{- end}}
{{- if .Body}}
  body: JSON.stringify({{.Body}}),
{{- end}}
})
console.log(answer.status, await answer.text())`)},
	{"python", "Python", parseProgram(`import os
import urllib.request

request = urllib.request.Request(
    '{{.URL}}',
    method='{{.Method}}',
{{- if .Headers}}
    headers={
{{- range .Headers}}
        '{{.Name}}': {{if .Variable}}'{{.Text}}' + os.environ['{{.Variable}}']{{else}}'{{.Text}}'{{end}},
{{- end}}
    },
{{- end}}
{{- if .Body}}
    data=r'''{{.Body}}'''.encode(),
{{- end}}
)
print(urllib.request.urlopen(request).read().decode())`)},
	{"go", "Go", parseProgram(`package main

import (
	"io"
	"log"
	"net/http"
	"os"
{{- if .Body}}
	"strings"
{{- end}}
)

func main() {
	request, err := http.NewRequest("{{.Method}}", "{{.URL}}", {{if .Body}}strings.NewReader(` + "`{{.Body}}`" + `){{else}}nil{{end}})
	if err != nil {
		log.Fatal(err)
	}
{{- range .Headers}}
	request.Header.Set("{{.Name}}", "{{.Text}}"{{if .Variable}}+os.Getenv("{{.Variable}}"){{end}})
{{- end}}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	io.Copy(os.Stdout, answer.Body)
}`)},
	{"php", "PHP", parseProgram(`<?php
{{- if .Body}}
$body = <<<'JSON'
{{.Body}}
JSON;
{{- end}}
echo file_get_contents('{{.URL}}', false, stream_context_create(['http' => [
    'method' => '{{.Method}}',
{{- if .Headers}}
    'header' => [
{{- range .Headers}}
        '{{.Name}}: {{.Text}}'{{if .Variable}} . getenv('{{.Variable}}'){{end}},
{{- end}}
    ],
{{- end}}
{{- if .Body}}
    'content' => $body,
{{- end}}
    'ignore_errors' => true,
]]));`)},
}

// Environment variables of the samples.
const (
	keyVariable     = "POSTRIDER_API_KEY"
	sessionVariable = "POSTRIDER_SESSION" // the value of the session cookie
)

// headersOf returns the header fields of a request to an operation: a credential that it accepts, and the type of the
// body. A request with a session that changes data comes from a page of the installation.
func (p *pageMaker) headersOf(op *huma.Operation, hasBody bool) []askedHeader {
	var headers []askedHeader
	accepts := func(scheme string) bool {
		return slices.ContainsFunc(op.Security, func(s map[string][]string) bool { _, ok := s[scheme]; return ok })
	}
	switch {
	case accepts("bearer"):
		headers = append(headers, askedHeader{"Authorization", "Bearer ", keyVariable})
	case accepts("session"):
		cookie := p.document.Components.SecuritySchemes["session"].Name
		headers = append(headers, askedHeader{"Cookie", cookie + "=", sessionVariable})
		if op.Method != http.MethodGet {
			headers = append(headers, askedHeader{Name: "Origin", Text: p.origin})
		}
	}
	if hasBody {
		headers = append(headers, askedHeader{Name: "Content-Type", Text: jsonType})
	}
	return headers
}

func parseProgram(text string) *template.Template {
	return template.Must(template.New("sample").Parse(text))
}

// samplesOf returns a sample of an operation in each language.
func (p *pageMaker) samplesOf(op *huma.Operation) ([]sample, error) {
	request, err := p.makeRequest(op)
	if err != nil {
		return nil, err
	}
	all := make([]sample, len(languages))
	for i, l := range languages {
		var text strings.Builder
		if err := l.program.Execute(&text, request); err != nil {
			return nil, fmt.Errorf("sample of %s in %s: %w", op.OperationID, l.name, err)
		}
		all[i] = sample{Lang: l.id, Name: l.name, Text: text.String()}
	}
	return all, nil
}

// makeRequest builds the request of an operation from the examples of the document.
func (p *pageMaker) makeRequest(op *huma.Operation) (asked, error) {
	path := op.Path
	for _, parameter := range op.Parameters {
		if parameter.In == "path" && parameter.Schema != nil && len(parameter.Schema.Examples) > 0 {
			path = strings.ReplaceAll(path, "{"+parameter.Name+"}", fmt.Sprint(parameter.Schema.Examples[0]))
		}
	}
	out := asked{Method: cmp.Or(op.Method, http.MethodGet), URL: p.server + path}
	out.Headers = p.headersOf(op, op.RequestBody != nil)
	if op.RequestBody == nil {
		return out, nil
	}
	examples := op.RequestBody.Content[jsonType].Examples
	last := slices.Max(slices.Collect(maps.Keys(examples)))
	body, err := indentJSON(p.fromSender(examples[last].Value))
	if err != nil {
		return out, fmt.Errorf("example of %s: %w", op.OperationID, err)
	}
	// The quoting functions for the body in each language.
	out.Body = strings.NewReplacer("'", `\u0027`, "`", `\u0060`).Replace(body)
	return out, nil
}

// fromSender replaces the sender in an example with the installation's own, so that the sample can be run unchanged.
func (p *pageMaker) fromSender(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = p.fromSender(member)
			if address, ok := member.(string); ok && name == "from" && strings.Contains(address, "@") && p.sender != "" {
				out[name] = p.sender
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = p.fromSender(item)
		}
		return out
	}
	return v
}

// indentJSON returns a value as indented JSON.
func indentJSON(v any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(v)
	return strings.TrimSuffix(out.String(), "\n"), err
}
