package records

import (
	"strings"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/search"
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

// Validate reports every wrong field by its name in the query.
func (f Filter) Validate() fault.Fields {
	_, wrong := f.parse()
	return wrong
}

// criteria is a filter after validation.
type criteria struct {
	search.Terms

	status   email.Status // "" for any
	domainID string       // "" for any
}

func (f Filter) parse() (criteria, fault.Fields) {
	wrong, c := fault.Fields{}, criteria{}
	if f.Status != "" {
		if err := email.StatusValidator(email.Status(f.Status)); err != nil {
			wrong.Add("status", "must be one of queued, scheduled, sent, delivered, bounced, failed, cancelled")
		}
		c.status = email.Status(f.Status)
	}
	c.Marks = appendAddress(c.Marks, wrong, "to", markTo, f.To)
	c.Marks = appendAddress(c.Marks, wrong, "from", markFrom, f.From)
	if f.Tag != "" {
		name, value, found := strings.Cut(f.Tag, ":")
		if !found || !IsTagWord(name) || !IsTagWord(value) {
			wrong.Add("tag", "must be name:value, each of letters, digits, - or _")
		}
		c.Marks = append(c.Marks, markTag+name+":"+value)
	}
	if domainID, mark := readDomain(wrong, f.Domain); mark != "" {
		c.Marks = append(c.Marks, mark)
	} else {
		c.domainID = domainID
	}
	c.Words = search.ReadWords(wrong, f.Q)
	c.ReadTime(wrong, f.Since, f.Until)
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

func (c criteria) isEmpty() bool { return c.status == "" && c.domainID == "" && c.IsEmpty() }
