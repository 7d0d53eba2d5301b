package templates

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	bcp47 "golang.org/x/text/language"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

// Mailbox is an address in the form that the caller sent: one string, or two fields.
type Mailbox struct {
	Text  string // `Ada <ada@example.com>` or `ada@example.com`
	Email string // the object form
	Name  string
}

func (b Mailbox) parse(field string, wrong fault.Fields) string {
	a, err := address.Parse(b.Text)
	if b.Text == "" {
		a, err = address.New(b.Name, b.Email)
	}
	if err != nil {
		wrong.Add(field, "%s", err)
		return ""
	}
	return a.String()
}

// content contains the fields that a draft and a version have in common. A send supplies the fields that have
// the zero value.
type content struct {
	subject     string
	from        string // display form
	replyTo     []string
	html        string
	text        string
	translated  []shape.Translation // nil if there is none
	variables   []shape.Variable
	unsubscribe bool
	category    string
}

func draftOf(t *ent.Template) content {
	return content{subject: t.Subject, from: t.From, replyTo: t.ReplyTo, html: orEmpty(t.HTML), text: orEmpty(t.Text),
		translated: t.Translations, variables: t.Variables, unsubscribe: t.UnsubscribeEnabled,
		category: orEmpty(t.Category)}
}

func contentOf(v *ent.TemplateVersion) content {
	return content{subject: v.Subject, from: v.From, replyTo: v.ReplyTo, html: orEmpty(v.HTML), text: orEmpty(v.Text),
		translated: v.Translations, variables: v.Variables, unsubscribe: v.UnsubscribeEnabled,
		category: orEmpty(v.Category)}
}

// sourceOf returns the content of a version as its author wrote it.
func sourceOf(v *ent.TemplateVersion) content {
	c := contentOf(v)
	c.html, c.text, c.translated = orEmpty(v.SourceHTML), orEmpty(v.SourceText), v.SourceTranslations
	if v.SourceVariables != nil {
		c.variables = v.SourceVariables
	}
	return c
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// size returns the bytes of the bodies and translations.
func (c content) size() int { return len(c.html) + len(c.text) + sizeOf(c.translated) }

// compiledContent contains the compiled parts of a content, ready to render.
type compiledContent struct {
	compiledParts

	content    content
	translated []compiledParts
	matcher    bcp47.Matcher // of translated; nil if there are none
}

// compiledParts are the parts of a content in one language. Parts that are absent are nil.
type compiledParts struct {
	locale  string // empty: that of the template
	subject *language.CompiledSource
	html    *language.CompiledSource
	text    *language.CompiledSource
}

func (c compiledParts) parts() []*language.CompiledSource {
	return slices.DeleteFunc([]*language.CompiledSource{c.subject, c.html, c.text},
		func(p *language.CompiledSource) bool { return p == nil })
}

// allParts returns the parts in all languages.
func (c compiledContent) allParts() []*language.CompiledSource {
	all := c.parts()
	for _, t := range c.translated {
		all = append(all, t.parts()...)
	}
	return all
}

// weight returns the approximate size in memory.
func (c compiledContent) weight() int {
	return 2000 + 8*(len(c.content.subject)+c.content.size())
}

// compile compiles the sources that have no errors yet, and adds errors by field.
func (c content) compile(wrong fault.Fields) compiledContent { return c.compileFlat(nil, wrong) }

// compileFlat is like compile for a content that was expanded. The flat sources have the names of their fields.
func (c content) compileFlat(flats map[string]language.Flat, wrong fault.Fields) compiledContent {
	out := compiledContent{content: c, compiledParts: compileParts("", c.subject, c.html, c.text, flats, wrong)}
	for i, t := range c.translated {
		parts := compileParts(translationField(i), t.Subject, t.HTML, t.Text, flats, wrong)
		parts.locale = t.Locale
		out.translated = append(out.translated, parts)
	}
	out.matcher = newMatcher(c.translated)
	return out
}

// check checks the sources of a draft that have no errors yet, and adds errors by field. If the kind is empty, it is
// unknown.
func (c content) check(kind string, wrong fault.Fields) {
	eachBody(&c, func(field, _ string, e *language.Engine, source *string) {
		if wrong[field] != "" {
			return
		}
		if err := e.Check(field, language.Component{Kind: kind, Source: *source}); err != nil {
			wrong.Add(field, "%s", err)
		}
	})
	c.html, c.text, c.translated = "", "", slices.Clone(c.translated)
	for i := range c.translated {
		c.translated[i].HTML, c.translated[i].Text = "", ""
	}
	c.compile(wrong) // the subjects
}

// eachBody calls a function for each html and text, with the name of its field, its language, and its engine.
func eachBody(c *content, do func(field, locale string, e *language.Engine, source *string)) {
	each := func(prefix, locale string, html, text *string) {
		if *html != "" {
			do(prefix+"html", locale, language.HTML, html)
		}
		if *text != "" {
			do(prefix+"text", locale, language.Text, text)
		}
	}
	each("", "", &c.html, &c.text)
	for i := range c.translated {
		t := &c.translated[i]
		each(translationField(i), t.Locale, &t.HTML, &t.Text)
	}
}

// translationField is the prefix of the fields of a translation.
func translationField(i int) string { return fmt.Sprintf("translations[%d].", i) }

func compileParts(prefix, subject, html, text string, flats map[string]language.Flat,
	wrong fault.Fields) compiledParts {
	part := func(e *language.Engine, name, source string) *language.CompiledSource {
		if name = prefix + name; source == "" || wrong[name] != "" {
			return nil
		}
		flat := language.Flat{Source: source}
		if expanded, is := flats[name]; is {
			flat = expanded
		}
		p, err := e.CompileFlat(name, flat)
		if err != nil {
			wrong.Add(name, "%s", err)
		}
		return p
	}
	return compiledParts{subject: part(language.Text, "subject", subject), html: part(language.HTML, "html", html),
		text: part(language.Text, "text", text)}
}

// checkComplete checks the additional requirement for a version: it must be complete.
func (c compiledContent) checkComplete(wrong fault.Fields) {
	if c.content.html == "" && c.content.text == "" {
		wrong.Add("html", "html or text is required")
	}
	for _, p := range c.allParts() {
		if missing := p.UndeclaredVariables(c.content.variables); len(missing) > 0 {
			wrong.Add(p.Name, "%s: uses {{%s}}, which is not declared in variables%s", p.Place(missing[0]),
				missing[0], andMore(missing))
		}
	}
}

func andMore(missing []string) string {
	if len(missing) == 1 {
		return ""
	}
	return fmt.Sprintf("; neither are %s", strings.Join(missing[1:min(len(missing), 10)], ", "))
}

func validateName(name string, wrong fault.Fields) {
	switch {
	case strings.TrimSpace(name) == "":
		wrong.Add("name", "is required")
	case utf8.RuneCountInString(name) > MaxName:
		wrong.Add("name", "is longer than %d characters", MaxName)
	default:
		if err := address.ValidateSubject(name); err != nil {
			wrong.Add("name", "%s", err)
		}
	}
}

func validateSource(field, source string, wrong fault.Fields) {
	if len(source) > language.MaxSource {
		wrong.Add(field, "is larger than 1 MB")
	}
}

func validateSubject(subject string, wrong fault.Fields) {
	if err := address.ValidateSubject(subject); err != nil {
		wrong.Add("subject", "%s", err)
	}
}

func validateCategory(label string, wrong fault.Fields) {
	switch {
	case label == "":
	case utf8.RuneCountInString(label) > MaxCategory:
		wrong.Add("category", "is longer than %d characters", MaxCategory)
	case address.ValidateSubject(label) != nil:
		wrong.Add("category", "%s", address.ValidateSubject(label))
	case !strings.ContainsFunc(label, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		wrong.Add("category", "must have at least one letter or digit")
	}
}

func parseFrom(b Mailbox, wrong fault.Fields) string {
	if b == (Mailbox{}) {
		return ""
	}
	return b.parse("from", wrong)
}

func parseReplyTo(list []Mailbox, wrong fault.Fields) []string {
	if len(list) > MaxReplyTo {
		wrong.Add("reply_to", "has %d addresses; the limit is %d", len(list), MaxReplyTo)
		return nil
	}
	var out []string
	for i, b := range list {
		out = append(out, b.parse(fmt.Sprintf("reply_to[%d]", i), wrong))
	}
	return out
}
