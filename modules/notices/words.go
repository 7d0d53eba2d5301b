package notices

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/postrider/postrider/modules/accounts/naming"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/web/theme"
)

// words are the texts of notices in one language, from words/<language>.json. Names in braces are
// placeholders.
type words struct {
	Language string `json:"-"`

	Hello     string `json:"hello"`
	HelloName string `json:"hello_name"` // {name}
	Someone   string `json:"someone"`    // used for an inviter without a name
	ATeam     string `json:"a_team"`     // used for a team whose name cannot be shown
	Unknown   string `json:"unknown"`    // used for an unknown browser or address

	Details        []string `json:"details"` // {time}, {browser}, {ip}: details of alerts
	SecurityButton string   `json:"security_button"`
	SecurityEnd    string   `json:"security_end"`
	TeamEnd        string   `json:"team_end"`
	BillingButton  string   `json:"billing_button"`
	PayingEnd      string   `json:"paying_end"`
	AlertEnd       string   `json:"alert_end"` // why the person gets an alert
	AlertOff       string   `json:"alert_off"` // {profile}: how to switch it off

	// Causes are why a provider refuses or defers mail, and what to do, by class of the replies; other is the default.
	Causes map[string]string `json:"causes"`

	Kinds map[NoticeKind]sentences `json:"kinds"`
}

// sentences are the texts of one kind of notice. A missing button or end defaults to that of its group.
type sentences struct {
	Subject string   `json:"subject"`
	Lines   []string `json:"lines"`
	Button  string   `json:"button"`
	End     string   `json:"end"`
}

//go:embed words/*.json
var wordFiles embed.FS

var wordsByLanguage = loadWords()

func loadWords() map[string]*words {
	all := theme.LoadWords[words](wordFiles)
	for name, w := range all {
		w.Language = name
	}
	return all
}

// fill replaces each {name} with its value.
func fill(text string, names map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		pairs = append(pairs, "{"+name+"}", names[name])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

const maxShown = 80 // characters of a name

// shownName returns a user-chosen name as shown in an email. It replaces a name that may contain a link with
// otherwise, because older names may violate the current rules.
func shownName(name, otherwise string) string {
	if name == "" || !isPlain(name) {
		return otherwise
	}
	if utf8.RuneCountInString(name) > maxShown {
		return string([]rune(name)[:maxShown-1]) + "…"
	}
	return name
}

func isPlain(name string) bool { return naming.Check(name) == nil }

//go:embed notice.html
var layout string

var page = template.Must(template.New("notice").Parse(layout))

type pageData struct {
	Language, Subject, Hello, Button, Link, End string
	Lines                                       []string
}

// wordsFor returns the texts in a language.
func wordsFor(name string) *words {
	if w := wordsByLanguage[name]; w != nil {
		return w
	}
	return wordsByLanguage[theme.Languages()[0]]
}

// placeholderValues returns the values of all placeholders.
func (n Notice) placeholderValues(w *words) map[string]string {
	or := func(name, otherwise string) string {
		if name == "" {
			return otherwise
		}
		return name
	}
	cause := w.Causes[n.Values["cause"]]
	return map[string]string{
		"provider": shownName(n.Values["provider"], w.Unknown), "previous": n.Values["previous"],
		"cause": or(cause, w.Causes["other"]),
		"name":  shownName(n.Values["name"], ""), "team": shownName(n.Values["team"], w.ATeam),
		"inviter": shownName(n.Values["inviter"], w.Someone), "plan": shownName(n.Values["plan"], "?"),
		"role": n.Values["role"], "before": n.Values["before"], "number": n.Values["number"], "email": n.Values["email"],
		"host": shownName(n.Values["host"], w.Unknown), "domain": shownName(n.Values["domain"], w.Unknown),
		"share": n.Values["share"], "limit": n.Values["limit"], "profile": n.BaseURL + profilePath,
		"time": n.Values["time"], "browser": or(n.Values["browser"], w.Unknown), "ip": or(n.Values["ip"], w.Unknown),
	}
}

// buildMessage renders a notice as an email.
func (n Notice) buildMessage(from string) (sending.Message, error) {
	w := wordsFor(n.Language)
	of, known := w.Kinds[n.Kind]
	if !known {
		return sending.Message{}, fmt.Errorf("unknown notice kind %q", n.Kind)
	}
	names := n.placeholderValues(w)
	s := pageData{Language: w.Language, Subject: fill(of.Subject, names), Hello: w.Hello, Button: of.Button,
		End: of.End}
	if names["name"] != "" {
		s.Hello = fill(w.HelloName, names)
	}
	lines := of.Lines
	switch group := groups[n.Kind]; {
	case group == securityGroup:
		lines = append(slices.Clone(lines), w.Details...)
		s.Button, s.End = w.SecurityButton, w.SecurityEnd
	case group == teamGroup:
		s.End = w.TeamEnd
	case group == billingGroup, group == usageGroup:
		s.End = w.PayingEnd
		if s.Button == "" {
			s.Button = w.BillingButton
		}
	case group == alertGroup:
		s.End = w.AlertEnd
	}
	if group := groups[n.Kind]; group == usageGroup || group == alertGroup {
		s.End += " " + fill(w.AlertOff, names)
	}
	for _, line := range lines {
		s.Lines = append(s.Lines, fill(line, names))
	}
	if n.Path != "" {
		s.Link = n.BaseURL + n.Path
		if !n.Token.IsZero() {
			s.Link += "#" + n.Token.Reveal()
		}
	}
	var html bytes.Buffer
	if err := page.Execute(&html, s); err != nil {
		return sending.Message{}, err
	}
	return sending.Message{From: sending.Mailbox{Text: from}, To: []sending.Mailbox{{Text: n.To}}, Subject: s.Subject,
		HTML: html.String(), Text: s.renderText()}, nil
}

func (s pageData) renderText() string {
	parts := append([]string{s.Hello, ""}, s.Lines...)
	if s.Link != "" {
		parts = append(parts, "", s.Link)
	}
	return strings.Join(append(parts, "", s.End, ""), "\n")
}
