package rollup

import (
	"slices"
	"time"

	"github.com/postrider/postrider/modules/statistics/chunk"
)

// Kind says what a row is about, and what its key is.
type Kind int16

// The kinds. Numbers are stored.
const (
	Account       Kind = iota // all mail of the account
	Sender                    // mail of a sender
	SenderTag                 // a tag of a sender's mail
	SenderDomain              // a recipient's domain in a sender's mail
	SenderClass               // what a bounce of a sender's mail means
	Domain                    // a recipient's domain, whoever sent
	SenderDomains             // all recipients' domains of a sender's mail together
	Tag                       // a tag, whoever sent
	SenderTags                // all tags of a sender's mail together
	kinds
)

// Kinds are all kinds.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// Whole is the kind whose rows have what all keys of a kind have together.
func (k Kind) Whole() Kind {
	switch k {
	case SenderTag, Tag:
		return SenderTags
	case SenderDomain, Domain:
		return SenderDomains
	}
	return k
}

// Placement is where figures are placed.
type Placement int

// The placements.
const (
	ByEvent Placement = iota // where a thing happened
	ByEmail                  // where its email was handed over
	Placements
)

// The figures of a chunk, by their numbers.
const (
	Accepted = iota
	Recipients
	Delivered
	Delayed
	Bounced
	Failed
	Complained
	Opened
	Clicked
	Unsubscribed
	Suppressed
)

// Size is what rows are compared by.
func Size(f *chunk.Counts) (size int64) {
	for n, count := range f {
		if n != Delayed {
			size += count
		}
	}
	return size
}

// By says who sent: what is not known of the sender is empty.
type By struct{ DomainID, APIKeyID, TemplateID, AutomationID string }

// Day is a UTC day, counted from the beginning of 1970.
type Day int32

// DayOf returns the day that a moment is in.
func DayOf(at time.Time) Day { return Day(floorDiv(at.Unix(), 24*60*60)) }

// Start returns the first moment of the day.
func (d Day) Start() time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }

func floorDiv(a, b int64) int64 {
	if q := a / b; a%b >= 0 {
		return q
	}
	return a/b - 1
}

// Quarter is how long the slots of a day are.
const Quarter = 15 * time.Minute

// RowKey names one row.
type RowKey struct {
	AccountID string
	Kind      Kind
	Day       Day
	Key       string
	By
}

// Reason is why mail was refused in an hour.
type Reason struct {
	AccountID string
	Hour      time.Time
	By
	Class, EnhancedCode, Host string
}

// Refused is how many recipients were refused for a reason, and the newest email of them.
type Refused struct {
	Recipients int64
	EmailID    string
}

// Rollup is what facts come to. The zero value is not usable: see New.
type Rollup struct {
	Rows    map[RowKey]*[Placements]chunk.Series
	Reasons map[Reason]*Refused
}

// New returns a Rollup of nothing.
func New() *Rollup {
	return &Rollup{Rows: map[RowKey]*[Placements]chunk.Series{}, Reasons: map[Reason]*Refused{}}
}

// Series returns the series of a row, which are empty at first.
func (r *Rollup) Series(row RowKey) *[Placements]chunk.Series {
	series := r.Rows[row]
	if series == nil {
		series = new([Placements]chunk.Series)
		r.Rows[row] = series
	}
	return series
}

// Facts are equal in all that is counted.
type Facts struct {
	AccountID string
	Type      string // as email.sent
	At        [Placements]time.Time
	Count     int64 // how many; less than 0: they are taken off
	By        By
	Tags      []string // as name=value, each once

	Recipients   int64    // of the email
	Destinations []string // their domains, of email.sent
	Named        bool     // the facts name their recipient
	Domain       string   // of that one, or of all recipients
	Bin          int      // of the time to the delivery; less than 0: none

	Class, EnhancedCode, Host, EmailID string // of a refusal; Class is empty for what is none
}

// Add counts facts.
func (r *Rollup) Add(f *Facts) {
	r.add(f, Account, "", By{}, f.Recipients)
	r.add(f, Sender, "", f.By, f.Recipients)
	for _, tag := range f.Tags {
		r.add(f, SenderTag, tag, f.By, f.Recipients)
		r.add(f, Tag, tag, By{}, f.Recipients)
		r.add(f, SenderTags, "", f.By, f.Recipients)
	}
	for domain, recipients := range f.domains() {
		r.add(f, SenderDomain, domain, f.By, recipients)
		r.add(f, Domain, domain, By{}, recipients)
		r.add(f, SenderDomains, "", f.By, recipients)
	}
	if f.Class == "" {
		return
	}
	r.add(f, SenderClass, f.Class, f.By, 0)
	reason := Reason{f.AccountID, f.At[ByEvent].Truncate(time.Hour), f.By, f.Class, f.EnhancedCode, f.Host}
	refused := r.Reasons[reason]
	if refused == nil {
		refused = &Refused{}
		r.Reasons[reason] = refused
	}
	refused.Recipients += f.Count
	refused.EmailID = max(refused.EmailID, f.EmailID)
}

// domains are those that facts count for, with the recipients there.
func (f *Facts) domains() map[string]int64 {
	if f.Type != "email.sent" {
		return map[string]int64{f.Domain: f.Recipients}
	}
	out := map[string]int64{}
	for _, domain := range f.Destinations {
		out[domain]++
	}
	return out
}

// add counts facts in a row, for so many recipients where the facts do not name one.
func (r *Rollup) add(f *Facts, kind Kind, key string, by By, recipients int64) {
	var figures chunk.Counts
	switch f.Type {
	case "email.sent":
		figures[Accepted], figures[Recipients] = f.Count, f.Count*recipients
	case "email.delivered":
		figures[Delivered] = f.Count
	case "email.delivery_delayed":
		figures[Delayed] = f.Count
	case "email.bounced":
		figures[Bounced] = f.Count
	case "email.failed":
		if figures[Failed] = f.Count; !f.Named &&
			!slices.Contains([]Kind{SenderDomain, SenderClass, Domain, SenderDomains}, kind) {
			figures[Failed] = f.Count * recipients
		}
	case "email.complained":
		figures[Complained] = f.Count
	case "email.opened":
		figures[Opened] = f.Count
	case "email.clicked":
		figures[Clicked] = f.Count
	case "contact.unsubscribed":
		figures[Unsubscribed] = f.Count
	case "email.suppressed":
		figures[Suppressed] = f.Count
	}
	for placed, at := range f.At {
		day := DayOf(at)
		slot := int(at.Sub(day.Start()) / Quarter)
		series := &r.Series(RowKey{f.AccountID, kind, day, key, by})[placed]
		series.Add(slot, &figures)
		if f.Bin >= 0 {
			series.AddLatency(chunk.Latency{Slot: slot, Bin: f.Bin, Count: f.Count})
		}
	}
}
