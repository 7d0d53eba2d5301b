package inbound

import (
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/search"
)

// Filter narrows a list of received mail. All non-empty fields must match.
type Filter struct {
	To        string     // the recipient, or an address in To or Cc
	From      string     // address in From
	Domain    string     // domain of the recipient: its name or its id
	Since     *time.Time // received at or after this time
	Until     *time.Time // received before this time
	DomainIDs []string   // domains whose mail the caller may see; empty: all
	// words to find in subject, addresses or the beginning of the text (search.Terms), ids, and fields (textFields)
	Q string

	ID       string            // set from Q
	Contains []search.Contains // set from Q
}

// textFields are the fields that a search text may contain in addition to words, for example `invoice
// from:bob@example.net`.
var textFields = []string{"to", "from", "subject", "domain", "after", "before"}

// Validate reports every invalid field by its name in the query.
func (f Filter) Validate() fault.Fields {
	_, wrong := f.parse()
	return wrong
}

// criteria is a validated filter.
type criteria struct {
	search.Terms

	domainID  string   // empty: any
	domainIDs []string // any of them; empty: all
}

func (f Filter) parse() (*criteria, fault.Fields) {
	wrong, c := fault.Fields{}, &criteria{domainIDs: f.DomainIDs}
	words, subject := readText(&f, wrong)
	c.addMark(wrong, "to", markTo, f.To)
	c.addMark(wrong, "from", markFrom, f.From)
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
	c.Words, c.Subject, c.ID, c.Contains = words, subject, f.ID, f.Contains
	c.ReadTime(wrong, f.Since, f.Until)
	return c, wrong
}

// readText applies the fields in the search text to f, and returns its words and those of the subject.
func readText(f *Filter, wrong fault.Fields) (words, subject []string) {
	words, terms := search.ReadText(wrong, f.Q, textFields...)
	texts := map[string]*string{"to": &f.To, "from": &f.From, "domain": &f.Domain}
	for _, t := range terms {
		switch t.Field {
		case "":
			switch {
			case id.Is(id.ReceivedEmail, t.Value):
				t.SetOnce(wrong, "q", &f.ID)
			case id.Is(id.Domain, t.Value):
				t.SetOnce(wrong, "q", &f.Domain)
			default:
				words = append(words, t.Value)
			}
		case "to", "from":
			if search.IsPart(t.Value) {
				f.Contains = append(f.Contains, t.Contains(wrong, addressTexts[t.Field]))
				continue
			}
			t.SetOnce(wrong, "q", texts[t.Field])
		case "after":
			f.Since = t.Date(wrong, "q")
		case "before":
			f.Until = t.Date(wrong, "q")
		case "subject":
			subject = append(subject, search.ReadWords(wrong, t.Value)...)
		default:
			t.SetOnce(wrong, "q", texts[t.Field])
		}
	}
	return words, subject
}

// addressTexts are the texts that to: and from: search for a part of an address.
var addressTexts = map[string]string{"to": `concat_ws(' ', rcpt_to, "to"::text, cc::text)`, "from": `"from"`}

func (c *criteria) addMark(wrong fault.Fields, field, mark, text string) {
	if text == "" {
		return
	}
	parsed, err := address.Parse(text)
	if err != nil {
		wrong.Add(field, "%s", err)
		return
	}
	c.Marks = append(c.Marks, mark+foldAddress(parsed.AddrSpec()))
}

func (c *criteria) isEmpty() bool { return c.domainID == "" && len(c.domainIDs) == 0 && c.IsEmpty() }
