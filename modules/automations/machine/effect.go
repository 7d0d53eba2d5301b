package machine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
)

// Effect is what has to happen outside of the machine. Exactly one of the parts is set.
type Effect struct {
	Step  int
	Email *Email
	SMS   *SMS
	Post  *Post
}

// Email is a message with its gaps filled, but for those of its template.
type Email struct {
	From                 string
	To, CC, BCC, ReplyTo []string
	Subject, HTML, Text  string
	Template             *definition.Template // its variables are filled
	Tags                 []shape.Tag
	Headers              []shape.Header
	Category             string
	Unsubscribe          *bool
}

// SMS is a text message with its gaps filled.
type SMS struct {
	To, From, Text string
}

// Post is the request of a webhook step.
type Post struct {
	URL, Method string
	Headers     []shape.Header
	Body        []byte // JSON
	Capture     bool
}

// effect renders what a step does. The error is that of the author's Liquid.
func (p *Program) effect(ctx context.Context, step int, run Run, scope expression.Scope) (*Effect, error) {
	s := &p.Definition.Steps[step]
	t := p.textsOf(ctx, step, run, scope)
	e := &Effect{Step: step}
	var err error
	switch s.Type {
	case definition.SendEmail:
		e.Email, err = t.email(s)
	case definition.SendSMS:
		e.SMS, err = t.sms(s)
	default:
		e.Post, err = t.post(s)
	}
	return e, err
}

func (t *texts) email(s *definition.Step) (*Email, error) {
	e := &Email{From: s.From, Category: s.Category, Unsubscribe: s.Unsubscribe}
	var failed error
	list := func(name string, texts definition.Texts) []string {
		out := make([]string, 0, len(texts))
		for i := range texts {
			text, err := t.at(fmt.Sprintf("%s[%d]", name, i))
			if err != nil && failed == nil {
				failed = err
			}
			out = append(out, strings.TrimSpace(text))
		}
		return out
	}
	one := func(name string) string {
		text, err := t.at(name)
		if err != nil && failed == nil {
			failed = err
		}
		return text
	}
	e.To, e.CC, e.BCC, e.ReplyTo = list("to", s.Recipients()), list("cc", s.CC), list("bcc", s.BCC), list("reply_to", s.ReplyTo)
	e.Subject, e.HTML, e.Text = one("subject"), one("html"), one("text")
	for i, tag := range s.Tags {
		e.Tags = append(e.Tags, shape.Tag{Name: tag.Name, Value: one(fmt.Sprintf("tags[%d].value", i))})
	}
	for _, header := range s.Headers {
		e.Headers = append(e.Headers, shape.Header{Name: header.Name, Value: one("headers." + header.Name)})
	}
	if s.Template != nil && failed == nil {
		variables, err := t.fill("template.variables", asObject(s.Template.Variables))
		if err != nil {
			return nil, err
		}
		filled, _ := variables.(map[string]any)
		if filled == nil {
			filled = map[string]any{}
		}
		if _, given := filled["event"]; !given {
			filled["event"] = t.scope.Trigger // for declared variables as event.data.plan
		}
		e.Template = &definition.Template{ID: s.Template.ID, Alias: s.Template.Alias, Variables: filled}
	}
	return e, failed
}

func (t *texts) sms(s *definition.Step) (*SMS, error) {
	to, err := t.at("to[0]")
	if err != nil {
		return nil, err
	}
	text, err := t.at("text")
	return &SMS{To: strings.TrimSpace(to), From: s.From, Text: text}, err
}

func asObject(variables map[string]any) any {
	if variables == nil {
		return map[string]any{}
	}
	return variables
}

func (t *texts) post(s *definition.Step) (*Post, error) {
	post := &Post{URL: s.URL, Method: s.Method, Headers: s.Headers, Capture: s.Capture}
	if post.Method == "" {
		post.Method = "POST"
	}
	if len(s.Body) == 0 {
		return post, nil
	}
	body, err := expression.DecodeAny(s.Body)
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	filled, err := t.fill("body", body)
	if err != nil {
		return nil, err
	}
	post.Body, err = json.Marshal(filled)
	return post, err
}
