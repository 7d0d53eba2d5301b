package unsubscribe

import (
	_ "embed" // the page
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"
)

// page is the data of the template.
type page struct {
	Words    *words
	Show     string   // form, done, or "" for a notice
	Title    sentence // title of the window, and heading of a notice
	Notice   sentence
	Email    string
	Category string // the label; "" for all mail
	Sender   Sender // empty if unknown
	Look     look
}

// Sender is the sender of an email, as written by its author.
type Sender struct {
	Name   string // the display name; may be empty
	Domain string // in Unicode
}

// sentence is a text with values in braces: {email}, {category}, {sender}.
type sentence string

// Say returns a sentence for a paragraph. Text from outside parties is escaped and shown as strong.
func (p page) Say(s sentence) template.HTML {
	strong := func(text string) string { return "<strong>" + template.HTMLEscapeString(text) + "</strong>" }
	sender := template.HTMLEscapeString(string(p.Words.ThisSender))
	switch name := cleanName(p.Sender.Name); {
	case name != "" && p.Sender.Domain != "" && !strings.EqualFold(name, p.Sender.Domain):
		sender = strong(name) + " (" + template.HTMLEscapeString(p.Sender.Domain) + ")"
	case p.Sender.Domain != "":
		sender = strong(p.Sender.Domain)
	}
	said := strings.NewReplacer("{email}", strong(p.Email), "{category}", strong(cleanName(p.Category)),
		"{sender}", sender).
		Replace(template.HTMLEscapeString(string(s)))
	return template.HTML(said) //nolint:gosec // each part is escaped above
}

// Label returns a sentence for a button, without markup. The template escapes it.
func (p page) Label(s sentence) string {
	sender := cleanName(p.Sender.Name)
	if sender == "" {
		sender = p.Sender.Domain
	}
	return strings.NewReplacer("{category}", cleanName(p.Category), "{sender}", sender).Replace(string(s))
}

// maxShown limits the characters of a name or label that are shown.
const maxShown = 100

// cleanName makes a name safe to show in a sentence: on one line, shortened, and without characters that
// reverse the text direction around it.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == utf8.RuneError:
			return -1
		}
		return r
	}, name)
	runes := []rune(strings.Join(strings.Fields(name), " "))
	if len(runes) > maxShown {
		return string(runes[:maxShown-1]) + "…"
	}
	return string(runes)
}

var (
	//go:embed page.css
	style string
	//go:embed page.html
	markup string

	layout = template.Must(template.New("page").Parse(markup))
)
