package sending

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/mail/address"
)

// Filter narrows a list of emails; every field that is set has to hold.
type Filter struct {
	Status string     // queued, scheduled, sent, delivered, bounced, failed, cancelled
	To     string     // an address in to, cc or bcc
	From   string     // the sender's address
	Tag    string     // name:value
	Domain string     // of the sender: its name, or the id of a domain
	Since  *time.Time // created then or later
	Until  *time.Time // created before then
	Q      string     // words, each the beginning of one in subject, names, addresses or tags
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
	status       email.Status // "" for any
	domainID     string       // "" for any
	marks        []string     // exact lexemes of emails.search
	words        []string     // beginnings of words
	since, until time.Time    // zero for none
}

func (f Filter) parse() (criteria, fault.Fields) {
	wrong, c := fault.Fields{}, criteria{}
	if f.Status != "" {
		if err := email.StatusValidator(email.Status(f.Status)); err != nil {
			wrong.Add("status", "must be one of queued, scheduled, sent, delivered, bounced, failed, cancelled")
		}
		c.status = email.Status(f.Status)
	}
	c.marks = appendAddress(c.marks, wrong, "to", markTo, f.To)
	c.marks = appendAddress(c.marks, wrong, "from", markFrom, f.From)
	if f.Tag != "" {
		name, value, found := strings.Cut(f.Tag, ":")
		if !found || !isTagWord(name) || !isTagWord(value) {
			wrong.Add("tag", "must be name:value, each of letters, digits, - or _")
		}
		c.marks = append(c.marks, markTag+name+":"+value)
	}
	if domainID, mark := readDomain(wrong, f.Domain); mark != "" {
		c.marks = append(c.marks, mark)
	} else {
		c.domainID = domainID
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

func appendAddress(marks []string, wrong fault.Fields, field, mark, text string) []string {
	if text == "" {
		return marks
	}
	parsed, err := address.Parse(text)
	if err != nil {
		wrong.Add(field, "%s", err)
		return marks
	}
	return append(marks, mark+strings.ToLower(parsed.AddrSpec()))
}

// readDomain gives the id of a domain, or the mark of its name.
func readDomain(wrong fault.Fields, domain string) (domainID, mark string) {
	if domain == "" || id.Is(id.Domain, domain) {
		return domain, ""
	}
	name, err := address.ParseDomain(strings.TrimSuffix(domain, "."))
	if err != nil {
		wrong.Add("domain", "%s", err)
		return "", ""
	}
	return "", markDomain + name
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
	return c.status == "" && c.domainID == "" && len(c.marks) == 0 && len(c.words) == 0 && c.since.IsZero() && c.until.IsZero()
}
