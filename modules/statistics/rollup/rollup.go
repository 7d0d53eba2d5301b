package rollup

import (
	"slices"
	"time"

	"github.com/postrider/postrider/modules/statistics/chunk"
)

// RowKind is the subject of a row, which determines its key.
type RowKind int16

// The kinds. The numbers are stored.
const (
	Account       RowKind = iota // all mail of the account
	Sender                       // mail of a sender
	SenderTag                    // a tag of a sender's mail
	SenderDomain                 // a recipient's domain in a sender's mail
	SenderClass                  // the bounce classes of a sender's mail
	Domain                       // a recipient's domain, for any sender
	SenderDomains                // all recipients' domains of a sender's mail together
	Tag                          // a tag, for any sender
	SenderTags                   // all tags of a sender's mail together
	Runs                         // runs of an automation, whose id is the key
	kinds
)

// Kinds returns all kinds.
func Kinds() []RowKind {
	all := make([]RowKind, kinds)
	for i := range all {
		all[i] = RowKind(i)
	}
	return all
}

// TotalKind returns the kind whose rows contain the totals over all keys of a kind.
func (k RowKind) TotalKind() RowKind {
	switch k {
	case SenderTag, Tag:
		return SenderTags
	case SenderDomain, Domain:
		return SenderDomains
	}
	return k
}

// Placement is the time at which figures are counted.
type Placement int

// The placements.
const (
	ByEvent Placement = iota // when the result happened
	ByEmail                  // when its email was handed over, or its run started
	Placements
)

// The figures of a chunk, by index.
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

// The figures of a chunk about runs, by index.
const (
	RunsStarted  = iota
	RunsWithGoal // the part of RunsStarted whose version has a goal
	RunsCompleted
	RunsFailed
	RunsCancelled
	RunsConverted
)

// Size returns the figure by which rows are compared.
func Size(f *chunk.SlotCounts) (size int64) {
	for n, count := range f {
		if n != Delayed {
			size += count
		}
	}
	return size
}

// By is the sender. Unknown fields are empty.
type By struct{ DomainID, APIKeyID, TemplateID, AutomationID string }

// Day is a UTC day, counted from 1970-01-01.
type Day int32

// DayOf returns the day of a moment.
func DayOf(at time.Time) Day { return Day(floorDiv(at.Unix(), 24*60*60)) }

// Start returns the first moment of the day.
func (d Day) Start() time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }

func floorDiv(a, b int64) int64 {
	if q := a / b; a%b >= 0 {
		return q
	}
	return a/b - 1
}

// Quarter is the length of the slots of a day.
const Quarter = 15 * time.Minute

// RowKey identifies one row.
type RowKey struct {
	AccountID string
	Kind      RowKind
	Day       Day
	Key       string
	By
}

// Reason is a reason for rejections in one hour.
type Reason struct {
	AccountID string
	Hour      time.Time
	By
	Class, EnhancedCode, Host string
}

// Refused is the number of recipients rejected for a reason, with the newest email among them.
type Refused struct {
	Recipients int64
	EmailID    string
}

// Rollup collects rows of figures from facts. Use New to create one.
type Rollup struct {
	Rows    map[RowKey]*[Placements]chunk.Series
	Reasons map[Reason]*Refused
}

// New returns an empty Rollup.
func New() *Rollup {
	return &Rollup{Rows: map[RowKey]*[Placements]chunk.Series{}, Reasons: map[Reason]*Refused{}}
}

// Series returns the series of a row, creating empty ones if necessary.
func (r *Rollup) Series(row RowKey) *[Placements]chunk.Series {
	series := r.Rows[row]
	if series == nil {
		series = new([Placements]chunk.Series)
		r.Rows[row] = series
	}
	return series
}

// Facts represents several facts that are equal in every counted property.
type Facts struct {
	AccountID string
	Type      string // for example email.sent
	At        [Placements]time.Time
	Count     int64 // number of facts; negative to subtract them
	By        By
	Tags      []string // as name=value, each once

	Recipients   int64    // recipients of the email
	Destinations []string // their domains, of email.sent
	Named        bool     // the facts name their recipient
	Domain       string   // domain of the recipient, or of all recipients
	Bin          int      // bin of the latency; negative without one

	Class, EnhancedCode, Host, EmailID string // reason of a rejection; Class is empty for other facts
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

// RunFacts represents several facts about runs that are equal in every counted property.
type RunFacts struct {
	AccountID, AutomationID string
	Type                    string // for example automation.started
	At                      [Placements]time.Time
	Count                   int64 // negative to subtract them
	HasGoal                 bool  // the version of the run has a goal
}

// AddRuns counts facts about runs.
func (r *Rollup) AddRuns(f *RunFacts) {
	var figures chunk.SlotCounts
	switch f.Type {
	case "automation.started":
		if figures[RunsStarted] = f.Count; f.HasGoal {
			figures[RunsWithGoal] = f.Count
		}
	case "automation.completed":
		figures[RunsCompleted] = f.Count
	case "automation.failed":
		figures[RunsFailed] = f.Count
	case "automation.cancelled":
		figures[RunsCancelled] = f.Count
	case "automation.converted":
		figures[RunsConverted] = f.Count
	}
	for placed, at := range f.At {
		day := DayOf(at)
		row := RowKey{AccountID: f.AccountID, Kind: Runs, Day: day, Key: f.AutomationID}
		r.Series(row)[placed].Add(int(at.Sub(day.Start())/Quarter), &figures)
	}
}

// domains returns the recipient domains that facts count for, with their numbers of recipients.
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

// add counts facts in a row. recipients applies if the facts do not name their recipient.
func (r *Rollup) add(f *Facts, kind RowKind, key string, by By, recipients int64) {
	var figures chunk.SlotCounts
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
			!slices.Contains([]RowKind{SenderDomain, SenderClass, Domain, SenderDomains}, kind) {
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
