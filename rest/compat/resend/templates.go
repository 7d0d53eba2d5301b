package resend

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"

	"github.com/postrider/postrider/rest/compat"
)

func templateRoutes() []compat.Route {
	return []compat.Route{
		{Method: http.MethodPost, Path: "/templates", Handle: addTemplate},
		{Method: http.MethodGet, Path: "/templates", Handle: listTemplates},
		{Method: http.MethodGet, Path: "/templates/{id}", Handle: getTemplate},
		{Method: http.MethodPatch, Path: "/templates/{id}", Handle: updateTemplate},
		{Method: http.MethodDelete, Path: "/templates/{id}", Handle: removeItem("templates", "template")},
		{Method: http.MethodPost, Path: "/templates/{id}/publish", Handle: actOnTemplate("publish")},
		{Method: http.MethodPost, Path: "/templates/{id}/duplicate", Handle: actOnTemplate("duplicate")},
	}
}

type templateFields struct {
	Name      *string         `json:"name,omitempty"`
	Alias     json.RawMessage `json:"alias,omitempty"`
	Subject   *string         `json:"subject,omitempty"`
	From      json.RawMessage `json:"from,omitempty"`
	ReplyTo   json.RawMessage `json:"reply_to,omitempty"`
	HTML      *string         `json:"html,omitempty"`
	Text      *string         `json:"text,omitempty"`
	Variables []variable      `json:"variables,omitempty"`
}

type variable struct {
	Key           string          `json:"key"`
	Type          string          `json:"type"`
	FallbackValue json.RawMessage `json:"fallback_value"`
}

type ownVariable struct {
	Key      string          `json:"key"`
	Type     string          `json:"type"`
	Required bool            `json:"required"`
	Fallback json.RawMessage `json:"fallback,omitempty"`
}

func isNull(text json.RawMessage) bool { return len(text) == 0 || string(text) == "null" }

var (
	tripleBraces = regexp.MustCompile(`\{\{\{ *([A-Za-z_][A-Za-z0-9_.]*) *(?:\| *([^{}|]*?) *)?\}\}\}`)
	doubleBraces = regexp.MustCompile(`\{\{ ([A-Za-z_][A-Za-z0-9_.]*)(?: \| default: ("(?:[^"\\]|\\.)*"))? \}\}`)
)

// ownSyntax converts {{{NAME}}} and {{{NAME|fallback}}}, Resend's syntax for variables, to our syntax.
func ownSyntax(text *string) *string {
	if text == nil {
		return nil
	}
	out := tripleBraces.ReplaceAllStringFunc(*text, func(found string) string {
		part := tripleBraces.FindStringSubmatch(found)
		if part[2] == "" {
			return "{{ " + part[1] + " }}"
		}
		return "{{ " + part[1] + " | default: " + strconv.Quote(part[2]) + " }}"
	})
	return &out
}

// theirSyntax converts our syntax back to Resend's.
func theirSyntax(text *string) *string {
	if text == nil {
		return nil
	}
	out := doubleBraces.ReplaceAllStringFunc(*text, func(found string) string {
		part := doubleBraces.FindStringSubmatch(found)
		fallback, err := strconv.Unquote(part[2])
		switch {
		case part[2] == "":
			return "{{{" + part[1] + "}}}"
		case err != nil:
			return found
		}
		return "{{{" + part[1] + "|" + fallback + "}}}"
	})
	return &out
}

// translate converts the fields to the format of our own API.
func (in templateFields) translate() any {
	variables := []ownVariable{}
	for _, v := range in.Variables {
		own := ownVariable{Key: v.Key, Type: v.Type, Required: isNull(v.FallbackValue)}
		if !own.Required {
			own.Fallback = v.FallbackValue
		}
		variables = append(variables, own)
	}
	given := in.Variables != nil
	in.Subject, in.HTML, in.Text, in.Variables = ownSyntax(in.Subject), ownSyntax(in.HTML), ownSyntax(in.Text), nil
	if !given {
		return in
	}
	return struct {
		templateFields
		Variables []ownVariable `json:"variables"`
	}{in, variables}
}

// template is a template of our own API.
type template struct {
	ID                    string        `json:"id"`
	Name                  string        `json:"name"`
	Alias                 *string       `json:"alias"`
	Subject               *string       `json:"subject"`
	From                  *string       `json:"from"`
	ReplyTo               []string      `json:"reply_to"`
	HTML                  *string       `json:"html"`
	Text                  *string       `json:"text"`
	Status                string        `json:"status"`
	Variables             []ownVariable `json:"variables"`
	Version               *int          `json:"version"`
	PublishedAt           *string       `json:"published_at"`
	CreatedAt             string        `json:"created_at"`
	UpdatedAt             string        `json:"updated_at"`
	HasUnpublishedChanges bool          `json:"has_unpublished_changes"`
}

type templateAnswer struct {
	Template template `json:"template"`
}

func addTemplate(c *compat.Call) (*compat.Response, error) {
	return writeTemplate(c, compat.Request{Method: http.MethodPost, Path: "/templates",
		Key: c.Header("Idempotency-Key")})
}

func updateTemplate(c *compat.Call) (*compat.Response, error) {
	return writeTemplate(c, compat.Request{Method: http.MethodPatch, Path: joinPath("templates", c.Param("id"))})
}

func writeTemplate(c *compat.Call, ask compat.Request) (*compat.Response, error) {
	var in templateFields
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	ask.Body = in.translate()
	return answerTemplate(c, ask)
}

func actOnTemplate(action string) func(*compat.Call) (*compat.Response, error) {
	return func(c *compat.Call) (*compat.Response, error) {
		return answerTemplate(c, compat.Request{Method: http.MethodPost,
			Path: joinPath("templates", c.Param("id"), action),
			Key:  c.Header("Idempotency-Key")})
	}
}

// answerTemplate returns the ID of the template that a call has changed.
func answerTemplate(c *compat.Call, ask compat.Request) (*compat.Response, error) {
	var changed templateAnswer
	if err := c.Do(ask, &changed); err != nil {
		return nil, err
	}
	return compat.OK(object{Object: "template", ID: changed.Template.ID})
}

type shownTemplate struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	Alias       *string `json:"alias"`
	Status      string  `json:"status"`
	PublishedAt *string `json:"published_at"`
	CreatedAt   string  `json:"created_at"`
	UpdatedAt   string  `json:"updated_at"`
}

func (t template) show() shownTemplate {
	return shownTemplate{t.ID, t.Name, t.Alias, t.Status, t.PublishedAt, t.CreatedAt, t.UpdatedAt}
}

func listTemplates(c *compat.Call) (*compat.Response, error) {
	return answerList(c, compat.ListRequest{Path: "/templates", Member: "templates", Name: "templates"},
		func(t template) string { return t.ID }, nil, template.show)
}

type shownVariable struct {
	Key           string          `json:"key"`
	Type          string          `json:"type"`
	FallbackValue json.RawMessage `json:"fallback_value"`
	CreatedAt     string          `json:"created_at"`
	UpdatedAt     string          `json:"updated_at"`
}

func getTemplate(c *compat.Call) (*compat.Response, error) {
	var found templateAnswer
	ask := compat.Request{Method: http.MethodGet, Path: joinPath("templates", c.Param("id"))}
	if err := c.Do(ask, &found); err != nil {
		return nil, err
	}
	t := found.Template
	variables := []shownVariable{}
	for _, v := range t.Variables {
		shown := shownVariable{Key: v.Key, Type: v.Type, FallbackValue: v.Fallback, CreatedAt: t.CreatedAt,
			UpdatedAt: t.UpdatedAt}
		if len(v.Fallback) == 0 {
			shown.FallbackValue = json.RawMessage("null")
		}
		variables = append(variables, shown)
	}
	version := "draft"
	if t.Version != nil {
		version = strconv.Itoa(*t.Version)
	}
	return compat.OK(struct {
		Object string `json:"object"`
		shownTemplate
		Subject                *string         `json:"subject"`
		From                   *string         `json:"from"`
		ReplyTo                []string        `json:"reply_to"`
		HTML                   *string         `json:"html"`
		Text                   *string         `json:"text"`
		Variables              []shownVariable `json:"variables"`
		HasUnpublishedVersions bool            `json:"has_unpublished_versions"`
		CurrentVersionID       string          `json:"current_version_id"`
	}{"template", t.show(), theirSyntax(t.Subject), t.From, orEmpty(t.ReplyTo), theirSyntax(t.HTML),
		theirSyntax(t.Text), variables, t.HasUnpublishedChanges, version})
}
