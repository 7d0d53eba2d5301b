package inbound

import (
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/search"
)

// Filter narrows a list of received mail; every field that is set has to hold.
type Filter struct {
	To        string     // the recipient, or an address in To or Cc
	From      string     // the address of From
	Domain    string     // of the recipient: its name, or the id of a domain
	Since     *time.Time // received then or later
	Until     *time.Time // received before then
	DomainIDs []string   // ids of the domains that the caller may see mail of; empty: all
	Q         string     // words, each the beginning of one in subject, addresses or the beginning of the text; and fields: textFields
}

// textFields are what a search text may say beside words, as in `invoice from:bob@example.net`.
var textFields = []string{"to", "from", "subject", "domain", "after", "before"}

// Validate reports every wrong field by its name in the query.
func (f Filter) Validate() fault.Fields {
	_, wrong := f.parse()
	return wrong
}

// criteria is a filter after validation.
type criteria struct {
	search.Terms

	domainID  string   // "" for any
	domainIDs []string // one of them; empty for any
}

func (f Filter) parse() (*criteria, fault.Fields) {
	wrong, c := fault.Fields{}, &criteria{domainIDs: f.DomainIDs}
	words, subject := readText(&f, wrong)
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
		c.Marks = append(c.Marks, markDomain+name)
	}
	c.Words, c.Subject = words, subject
	c.ReadTime(wrong, f.Since, f.Until)
	return c, wrong
}

// readText takes the fields of the search text over, and gives its words and those of the subject.
func readText(f *Filter, wrong fault.Fields) (words, subject []string) {
	words, terms := search.ReadText(wrong, f.Q, textFields...)
	texts := map[string]*string{"to": &f.To, "from": &f.From, "domain": &f.Domain}
	for _, t := range terms {
		switch t.Field {
		case "after":
			f.Since = t.Date(wrong, "q")
		case "before":
			f.Until = t.Date(wrong, "q")
		case "subject":
			subject = append(subject, search.ReadWords(wrong, t.Value)...)
		default:
			t.Once(wrong, "q", texts[t.Field])
		}
	}
	return words, subject
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
	c.Marks = append(c.Marks, mark+fold(parsed.AddrSpec()))
}

func (c *criteria) isEmpty() bool { return c.domainID == "" && len(c.domainIDs) == 0 && c.IsEmpty() }
