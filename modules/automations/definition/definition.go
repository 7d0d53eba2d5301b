package definition

import (
	"encoding/json"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/automations/clock"
)

// Limits of a definition.
const (
	MaxSteps   = 50
	MaxBytes   = 256 << 10 // bytes of the whole document
	MaxString  = 64 << 10  // bytes of a string
	MaxContent = 256 << 10 // bytes of html and text
	MaxName    = 200       // characters of a name
	MaxEvents  = 10        // events of a wait or a cancellation
	MaxCases   = 10
	MaxHeaders = 10

	MaxGoalDays = 90
)

// Definition is an automation as its author wrote it. After Decode, every step has a key.
type Definition struct {
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Trigger     Trigger `json:"trigger"`
	Steps       []Step  `json:"steps"`
	Timezone    string  `json:"timezone,omitempty"` // IANA name; empty: UTC
	Goal        *Goal   `json:"goal,omitempty"`     // nil: runs have no goal
}

// Goal is the event that the automation is meant to cause. A run converts if its person has the event within
// the days after the run started.
type Goal struct {
	Event      string `json:"event"`
	WithinDays int    `json:"within_days"`
}

// Until returns the time until which the event converts a run, or the zero time without a goal.
func (g *Goal) Until(started time.Time) time.Time {
	if g == nil {
		return time.Time{}
	}
	return started.Add(time.Duration(g.WithinDays) * 24 * time.Hour)
}

// Trigger selects the events that start a run and the events that cancel it.
type Trigger struct {
	Event      string   `json:"event"`
	Conditions string   `json:"conditions,omitempty"` // CEL; empty: always true
	Cancel     []Cancel `json:"cancel_on_events,omitempty"`
	ReEntry    ReEntry  `json:"re_entry,omitzero"`
}

// Step is one step. Its type determines which fields it may have (step_type.go).
type Step struct {
	Key  string `json:"key"`
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
	Next Target `json:"next,omitzero"`

	// for messages
	To           StringList     `json:"to,omitempty"`
	CC           StringList     `json:"cc,omitempty"`
	BCC          StringList     `json:"bcc,omitempty"`
	ReplyTo      StringList     `json:"reply_to,omitempty"`
	From         string         `json:"from,omitempty"`
	Subject      string         `json:"subject,omitempty"`
	HTML         string         `json:"html,omitempty"`
	Text         string         `json:"text,omitempty"`
	Template     *TemplateRef   `json:"template,omitempty"`
	Tags         []shape.Tag    `json:"tags,omitempty"`
	Headers      Headers        `json:"headers,omitempty"`
	Category     string         `json:"category,omitempty"`
	Unsubscribe  *bool          `json:"unsubscribe,omitempty"`
	ExpiresAfter clock.Duration `json:"expires_after,omitzero"`
	OnSuppressed Target         `json:"on_suppressed,omitzero"`
	OnError      Target         `json:"on_error,omitzero"`

	// for waits on time
	Duration clock.Duration `json:"duration,omitzero"`
	Window   *Window        `json:"window,omitempty"`
	At       string         `json:"at,omitempty"` // CEL
	Offset   clock.Duration `json:"offset,omitzero"`
	Timezone string         `json:"timezone,omitempty"`
	OnPast   Target         `json:"on_past,omitzero"`

	// for waits on events
	Event      StringList     `json:"event,omitempty"`
	Timeout    clock.Duration `json:"timeout,omitzero"`
	Conditions string         `json:"conditions,omitempty"` // CEL
	OfStep     string         `json:"step,omitempty"`       // match only built-in events about the email of this step
	Since      string         `json:"since,omitempty"`
	OnEvent    Target         `json:"on_event,omitzero"`
	OnTimeout  Target         `json:"on_timeout,omitzero"`

	// for decisions
	If        string    `json:"if,omitempty"` // CEL
	OnTrue    Target    `json:"on_true,omitzero"`
	OnFalse   Target    `json:"on_false,omitzero"`
	Cases     []Case    `json:"cases,omitempty"`
	Otherwise Target    `json:"otherwise,omitzero"`
	Variants  []Variant `json:"variants,omitempty"`

	// for requests
	URL     string          `json:"url,omitempty"`
	Method  string          `json:"method,omitempty"`
	Body    json.RawMessage `json:"body,omitempty"`
	Capture bool            `json:"capture,omitempty"`

	// for the end of a run
	Outcome string `json:"outcome,omitempty"`
}

// TemplateRef refers to a published template and supplies values for its variables.
type TemplateRef struct {
	ID        string         `json:"id,omitempty"`
	Alias     string         `json:"alias,omitempty"`
	Locale    string         `json:"locale,omitempty"`
	TimeZone  string         `json:"time_zone,omitempty"`
	Variables map[string]any `json:"variables,omitempty"`
}

// Window is a part of the day in a time zone. If To is before From, it ends on the next day.
type Window struct {
	From string   `json:"from"` // such as 09:00
	To   string   `json:"to"`
	Days []string `json:"days,omitempty"` // mon to sun; empty: every day
}

// Case is one path of a branch.
type Case struct {
	If   string `json:"if"`
	Goto string `json:"goto"`
}

// Variant is one path of a split.
type Variant struct {
	Key    string `json:"key"`
	Weight int    `json:"weight"`
	Goto   string `json:"goto,omitempty"`
}

// Step returns the index of the step with a key, or -1 if there is none.
func (d *Definition) Step(key string) int {
	for i := range d.Steps {
		if d.Steps[i].Key == key {
			return i
		}
	}
	return -1
}

// Values of Since, the time from which events end a wait.
const (
	SinceRun  = "run"  // from the start of the run; the default
	SinceStep = "step" // from the start of the wait
)

// Recipients returns the recipients of an email: To, or the person of the event.
func (s *Step) Recipients() StringList {
	if len(s.To) == 0 {
		return StringList{"{{event.email}}"}
	}
	return s.To
}
