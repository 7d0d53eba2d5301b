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

// Filter narrows a list of emails; every field that is set has to hold.
type Filter struct {
	Status string     // queued, scheduled, sent, delivered, bounced, failed, cancelled
	To     string     // an address in to, cc or bcc
	From   string     // the sender's address
	Tag    string     // name:value
	Domain string     // of the sender: its name, or the id of a domain
	Since  *time.Time // created then or later
	Until  *time.Time // created before then
	Q      string     // words, each the beginning of one in subject, names, addresses or tags; and fields: textFields

	LastEvent    string // type of the latest event, as email.opened
	APIKeyID     string
	TemplateID   string
	Version      *int // of the template
	AutomationID string
	Opened       *bool    // by a person, where open tracking is on
	Clicked      *bool    // likewise
	DomainIDs    []string // that the caller may see mail of; empty: all
	BounceClass  string   // what a refusal of a recipient meant, as bad_address
}

// textFields are what a search text may say beside words, as in `receipt to:bob@example.net is:bounced`.
var textFields = []string{"to", "from", "subject", "domain", "tag", "status", "is", "template", "automation", "after", "before"}

// Validate reports every wrong field by its name in the query.
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
	version                                      *int         // of the template; nil for any
	opened, clicked                              *bool        // nil for any
}

func (f Filter) parse() (criteria, fault.Fields) {
	wrong, c := fault.Fields{}, criteria{}
	for _, one := range []struct {
		field  string
		prefix id.Prefix
		value  string
	}{{"api_key_id", id.APIKey, f.APIKeyID}, {"template_id", id.Template, f.TemplateID}, {"automation_id", id.Automation, f.AutomationID}} {
		if one.value != "" && (!strings.HasPrefix(one.value, string(one.prefix)+"_") || !IsTagWord(one.value)) {
			wrong.Add(one.field, "is not an id with the prefix %s_", one.prefix)
		}
	}
	switch {
	case f.Version == nil:
	case f.TemplateID == "":
		wrong.Add("template_version", "goes with the id of a template")
	case *f.Version < 1 || *f.Version > math.MaxInt32:
		wrong.Add("template_version", "must be between 1 and %d", math.MaxInt32)
	}
	words, subject := readText(&f, wrong)
	c.domainIDs = f.DomainIDs
	c.apiKeyID, c.templateID, c.version, c.automationID, c.opened, c.clicked = f.APIKeyID, f.TemplateID, f.Version, f.AutomationID, f.Opened, f.Clicked
	if c.lastEvent = f.LastEvent; f.LastEvent != "" && !slices.Contains(event.Names(), f.LastEvent) {
		wrong.Add("last_event", "is no type of an event")
	}
	if c.bounceClass = f.BounceClass; f.BounceClass != "" && !IsTagWord(f.BounceClass) {
		wrong.Add("bounce_class", "is no class of a refusal, as bad_address")
	}
	if f.Status != "" {
		if err := email.StatusValidator(email.Status(f.Status)); err != nil {
			wrong.Add("status", "must be one of queued, scheduled, sent, delivered, bounced, failed, cancelled")
		}
		c.status = email.Status(f.Status)
	}
	c.Marks = appendAddress(c.Marks, wrong, "to", markTo, f.To)
	c.Marks = appendAddress(c.Marks, wrong, "from", markFrom, f.From)
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

// readText takes the fields of the search text over, and gives its words and those of the subject.
func readText(f *Filter, wrong fault.Fields) (words, subject []string) {
	words, terms := search.ReadText(wrong, f.Q, textFields...)
	texts := map[string]*string{"to": &f.To, "from": &f.From, "domain": &f.Domain, "tag": &f.Tag, "status": &f.Status, "template": &f.TemplateID, "automation": &f.AutomationID}
	for _, t := range terms {
		switch t.Field {
		case "after":
			f.Since = t.Date(wrong, "q")
		case "before":
			f.Until = t.Date(wrong, "q")
		case "subject":
			subject = append(subject, search.ReadWords(wrong, t.Value)...)
		case "is":
			readIs(f, wrong, t)
		default:
			t.Once(wrong, "q", texts[t.Field])
		}
	}
	return words, subject
}

// readIs reads what an email is: opened, clicked, or of a status.
func readIs(f *Filter, wrong fault.Fields, t search.Term) {
	switch t.Value = strings.ToLower(t.Value); t.Value {
	case "opened":
		f.Opened = new(true)
	case "clicked":
		f.Clicked = new(true)
	default:
		if email.StatusValidator(email.Status(t.Value)) != nil {
			wrong.Add("q", "has at character %d is:%s; an email is opened, clicked, queued, scheduled, sent, delivered, bounced, failed or cancelled", t.At, t.Value)
			return
		}
		t.Once(wrong, "q", &f.Status)
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

func (c criteria) isEmpty() bool {
	return c.status == "" && len(c.domainIDs) == 0 && c.domainID+c.apiKeyID+c.templateID+c.automationID+c.lastEvent+c.bounceClass == "" && c.version == nil && c.opened == nil && c.clicked == nil && c.IsEmpty()
}
