package records

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/search"
	"github.com/postrider/postrider/runtime/work/event"
)

// Filter narrows a list of emails. An email must match every field that is set.
type Filter struct {
	Status string     // queued, scheduled, sent, delivered, bounced, failed, cancelled
	To     string     // an address in to, cc or bcc
	From   string     // the sender's address
	Tag    string     // name:value
	Domain string     // sender domain: a name, or the ID of a domain
	Since  *time.Time // created then or later
	Until  *time.Time // created before then
	Q      string     // words or parts of addresses to find (search.Terms), ids, and fields (textFields)

	LastEvent    string // type of the latest event, such as email.opened
	APIKeyID     string
	TemplateID   string
	Version      *int // version of the template
	AutomationID string
	Opened       *bool    // by a person; requires open tracking
	Clicked      *bool    // by a person; requires click tracking
	DomainIDs    []string // domains whose mail the caller may see; empty: all
	BounceClass  string   // class of a recipient's bounce, such as bad_address

	ID       string            // set from Q
	Contains []search.Contains // set from Q
}

// textFields are the fields that a search text may contain, as in `receipt to:bob@example.net is:bounced`.
var textFields = []string{"to", "from", "subject", "domain", "tag", "status", "is", "template", "automation",
	"after", "before"}

// Validate reports every invalid field by its name in the query.
func (f Filter) Validate() fault.Fields {
	_, wrong := f.parse()
	return wrong
}

// criteria is a filter after validation.
type criteria struct {
	search.Terms

	status                                       email.Status // "" for any
	domainID, apiKeyID, templateID, automationID string       // "" for any
	lastEvent, bounceClass                       string       // "" for any
	domainIDs                                    []string     // one of them; empty for any
	version                                      *int         // version of the template; nil for any
	opened, clicked                              *bool        // nil for any
}

func (f Filter) parse() (criteria, fault.Fields) {
	wrong, c := fault.Fields{}, criteria{}
	for _, one := range []struct {
		field  string
		prefix id.Prefix
		value  string
	}{{"api_key_id", id.APIKey, f.APIKeyID}, {"template_id", id.Template, f.TemplateID},
		{"automation_id", id.Automation, f.AutomationID}} {
		if one.value != "" && (!strings.HasPrefix(one.value, string(one.prefix)+"_") || !IsTagWord(one.value)) {
			wrong.Add(one.field, "must be an id with the prefix %s_", one.prefix)
		}
	}
	switch {
	case f.Version == nil:
	case f.TemplateID == "":
		wrong.Add("template_version", "requires template_id")
	case *f.Version < 1 || *f.Version > math.MaxInt32:
		wrong.Add("template_version", "must be between 1 and %d", math.MaxInt32)
	}
	words, subject := readText(&f, wrong)
	c.domainIDs = f.DomainIDs
	c.apiKeyID, c.templateID, c.version, c.automationID, c.opened, c.clicked = f.APIKeyID, f.TemplateID, f.Version,
		f.AutomationID, f.Opened, f.Clicked
	if c.lastEvent = f.LastEvent; f.LastEvent != "" && !slices.Contains(event.Names(), f.LastEvent) {
		wrong.Add("last_event", "must be an event type")
	}
	if c.bounceClass = f.BounceClass; f.BounceClass != "" && !IsTagWord(f.BounceClass) {
		wrong.Add("bounce_class", "must be a bounce class, such as bad_address")
	}
	if f.Status != "" {
		if err := email.StatusValidator(email.Status(f.Status)); err != nil {
			wrong.Add("status", "must be one of queued, scheduled, sent, delivered, bounced, failed, cancelled")
		}
		c.status = email.Status(f.Status)
	}
	c.Marks = appendAddress(c.Marks, wrong, "to", markTo, f.To)
	c.Marks = appendAddress(c.Marks, wrong, "from", markFrom, f.From)
	c.ID, c.Contains = f.ID, f.Contains
	if f.Tag != "" {
		name, value, found := strings.Cut(strings.Replace(f.Tag, "=", ":", 1), ":")
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
	c.Words, c.Subject = words, subject
	c.ReadTime(wrong, f.Since, f.Until)
	return c, wrong
}

// readText copies the fields of the search text into the filter, and returns the remaining words and those of
// the subject.
func readText(f *Filter, wrong fault.Fields) (words, subject []string) {
	words, terms := search.ReadText(wrong, f.Q, textFields...)
	texts := map[string]*string{"to": &f.To, "from": &f.From, "domain": &f.Domain, "tag": &f.Tag, "status": &f.Status,
		"template": &f.TemplateID, "automation": &f.AutomationID}
	for _, t := range terms {
		switch t.Field {
		case "":
			if into := idField(f, t.Value); into != nil {
				t.SetOnce(wrong, "q", into)
			} else {
				words = append(words, t.Value)
			}
		case "after":
			f.Since = t.Date(wrong, "q")
		case "before":
			f.Until = t.Date(wrong, "q")
		case "subject":
			subject = append(subject, search.ReadWords(wrong, t.Value)...)
		case "is":
			readIs(f, wrong, t)
		case "to", "from":
			if search.IsPart(t.Value) {
				f.Contains = append(f.Contains, t.Contains(wrong, addressTexts[t.Field]))
				continue
			}
			t.SetOnce(wrong, "q", texts[t.Field])
		default:
			t.SetOnce(wrong, "q", texts[t.Field])
		}
	}
	return words, subject
}

// addressTexts are the texts that to: and from: search for a part of an address.
var addressTexts = map[string]string{"to": `concat_ws(' ', ` + recipientTexts + `)`, "from": `"from"`}

// idField returns the filter for an id in the search text, or nil for an id of another kind.
func idField(f *Filter, word string) *string {
	prefix, _, _ := strings.Cut(word, "_")
	return map[id.Prefix]*string{id.Email: &f.ID, id.Domain: &f.Domain, id.APIKey: &f.APIKeyID,
		id.Template: &f.TemplateID, id.Automation: &f.AutomationID}[id.Prefix(prefix)]
}

// readIs applies an is: term: opened, clicked, or a status.
func readIs(f *Filter, wrong fault.Fields, t search.Term) {
	switch t.Value = strings.ToLower(t.Value); t.Value {
	case "opened":
		f.Opened = new(true)
	case "clicked":
		f.Clicked = new(true)
	default:
		if email.StatusValidator(email.Status(t.Value)) != nil {
			wrong.Add("q",
				"must have opened, clicked, queued, scheduled, sent, delivered, bounced, failed or cancelled after is: at character %d, not %q", t.At, t.Value)
			return
		}
		t.SetOnce(wrong, "q", &f.Status)
	}
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

// readDomain returns the id of a domain, or the search mark of its name.
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

func (c criteria) isEmpty() bool {
	return c.status == "" && len(c.domainIDs) == 0 &&
		c.domainID+c.apiKeyID+c.templateID+c.automationID+c.lastEvent+c.bounceClass == "" && c.version == nil &&
		c.opened == nil && c.clicked == nil && c.IsEmpty()
}
