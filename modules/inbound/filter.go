package inbound

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/mail/address"
)

// Filter narrows a list of received mail; every field that is set has to hold.
type Filter struct {
	To     string     // the recipient, or an address in To or Cc
	From   string     // the address of From
	Domain string     // of the recipient: its name, or the id of a domain
	Since  *time.Time // received then or later
	Until  *time.Time // received before then
	Q      string     // words, each the beginning of one in subject, addresses or the beginning of the text
}

// The limits of a search.
const (
	maxSearch      = 200 // characters of Q
	maxSearchWords = 10
)

// Validate reports every wrong field by its name in the query.
func (f Filter) Validate() fault.Fields {
	_, wrong := f.parse()
	return wrong
}

// criteria is a filter after validation.
type criteria struct {
	domainID     string   // "" for any
	marks        []string // exact lexemes of received_emails.search
	words        []string // beginnings of words
	since, until time.Time
}

func (f Filter) parse() (criteria, fault.Fields) {
	wrong, c := fault.Fields{}, criteria{}
	c.mark(wrong, "to", markTo, f.To)
	c.mark(wrong, "from", markFrom, f.From)
	switch {
	case f.Domain == "":
	case id.Is(id.Domain, f.Domain):
		c.domainID = f.Domain
	default:
		name, err := address.ParseDomain(strings.TrimSuffix(f.Domain, "."))
		if err != nil {
			wrong.Add("domain", "%s", err)
		}
		c.marks = append(c.marks, markDomain+name)
	}
	c.words = readWords(wrong, f.Q)
	if f.Since != nil {
		c.since = *f.Since
	}
	if f.Until != nil {
		c.until = *f.Until
	}
	if f.Since != nil && f.Until != nil && !f.Since.Before(*f.Until) {
		wrong.Add("until", "must be later than since")
	}
	return c, wrong
}

func (c *criteria) mark(wrong fault.Fields, field, mark, text string) {
	if text == "" {
		return
	}
	parsed, err := address.Parse(text)
	if err != nil {
		wrong.Add(field, "%s", err)
		return
	}
	c.marks = append(c.marks, mark+fold(parsed.AddrSpec()))
}

func readWords(wrong fault.Fields, q string) []string {
	words := strings.Fields(q)
	switch {
	case q == "":
	case utf8.RuneCountInString(q) > maxSearch:
		wrong.Add("q", "is longer than %d characters", maxSearch)
	case !utf8.ValidString(q) || strings.ContainsFunc(q, unicode.IsControl):
		wrong.Add("q", "must be text without control characters")
	case len(words) > maxSearchWords:
		wrong.Add("q", "has more than %d words", maxSearchWords)
	case !slices.ContainsFunc(words, hasLetterOrDigit):
		wrong.Add("q", "has nothing to look for: it needs a letter or a digit")
	}
	return slices.DeleteFunc(words, func(w string) bool { return !hasLetterOrDigit(w) })
}

func hasLetterOrDigit(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

func (c criteria) isEmpty() bool {
	return c.domainID == "" && !c.searches() && c.since.IsZero() && c.until.IsZero()
}

func (c criteria) searches() bool { return len(c.marks)+len(c.words) > 0 }

// query is the part that the index answers: exact marks need no dictionary, words go
// through the simple one.
func (c criteria) query(q *statement, accountID string) string {
	marks := []string{lexeme(markAccount + accountID)}
	for _, m := range c.marks {
		marks = append(marks, lexeme(m))
	}
	query := q.arg(strings.Join(marks, " & ")) + `::tsquery`
	if len(c.words) == 0 {
		return query
	}
	var beginnings []string
	for _, w := range c.words {
		beginnings = append(beginnings, lexeme(w)+":*")
	}
	return `(` + query + ` && to_tsquery('simple', ` + q.arg(strings.Join(beginnings, " & ")) + `))`
}

var lexemeQuote = strings.NewReplacer(`'`, `''`, `\`, `\\`)

func lexeme(text string) string { return "'" + lexemeQuote.Replace(text) + "'" }
