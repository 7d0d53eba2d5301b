package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/automations/clock"
)

// Target is where a run continues. The zero Target means the default of its field, which Or fills in.
type Target struct {
	Kind string // continue, end, fail, goto
	Key  string // key of the step to go to
}

// Kinds of targets.
const (
	Continue = "continue"
	Ends     = "end"
	Fails    = "fail"
	Goto     = "goto"
)

// OrDefault returns the target, or the given default if the field was omitted.
func (t Target) OrDefault(kind string) Target {
	if t.Kind == "" {
		return Target{Kind: kind}
	}
	return t
}

// MarshalJSON returns the form that UnmarshalJSON accepts.
func (t Target) MarshalJSON() ([]byte, error) {
	if t.Kind == Goto {
		return json.Marshal(map[string]string{Goto: t.Key})
	}
	return json.Marshal(t.Kind)
}

// UnmarshalJSON accepts "continue", "end", "fail" or {"goto": key}.
func (t *Target) UnmarshalJSON(data []byte) error {
	var to struct {
		Goto string `json:"goto"`
	}
	if bytes.HasPrefix(data, []byte("{")) {
		err := json.Unmarshal(data, &to)
		*t = Target{Goto, to.Goto}
		return err
	}
	err := json.Unmarshal(data, &t.Kind)
	if err == nil && !slices.Contains([]string{Continue, Ends, Fails}, t.Kind) {
		err = errors.New("must be continue, end, fail or an object with goto")
	}
	return err
}

// StringList is one string or a list of strings.
type StringList []string

// UnmarshalJSON accepts a string or an array of strings.
func (t *StringList) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*[]string)(t))
	}
	var one string
	err := json.Unmarshal(data, &one)
	*t = StringList{one}
	return err
}

// MarshalJSON encodes a single text as a string.
func (t StringList) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// Headers are header fields, encoded in JSON as an object.
type Headers []shape.Header

// UnmarshalJSON accepts an object and sorts its fields by name.
func (h *Headers) UnmarshalJSON(data []byte) error {
	var members map[string]string
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	*h = nil
	for _, name := range sortedKeys(members) {
		*h = append(*h, shape.Header{Name: name, Value: members[name]})
	}
	return nil
}

// MarshalJSON returns an object.
func (h Headers) MarshalJSON() ([]byte, error) {
	members := make(map[string]string, len(h))
	for _, field := range h {
		members[field.Name] = field.Value
	}
	return json.Marshal(members)
}

// Cancel is an event that cancels a run.
type Cancel struct {
	Event      string `json:"event"`
	Conditions string `json:"conditions,omitempty"` // CEL
	OfStep     string `json:"step,omitempty"`       // match only built-in events about the email of this step
}

// UnmarshalJSON accepts an event name or an object.
func (c *Cancel) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &c.Event)
	}
	type object Cancel
	return json.Unmarshal(data, (*object)(c))
}

// MarshalJSON returns the event name if no other field is set.
func (c Cancel) MarshalJSON() ([]byte, error) {
	if c.Conditions == "" && c.OfStep == "" {
		return json.Marshal(c.Event)
	}
	type object Cancel
	return json.Marshal(object(c))
}

// Modes of ReEntry.
const (
	EveryTime       = "every_time"
	Once            = "once"
	AfterCompletion = "after_completion"
	AtMostEvery     = "at_most_every"
)

// ReEntry determines whether a person who has had a run may have another.
type ReEntry struct {
	Mode  string         // empty: every_time
	Every clock.Duration // with at_most_every
}

// UnmarshalJSON accepts a mode or {"at_most_every": duration}.
func (r *ReEntry) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("{")) {
		var object struct {
			Every clock.Duration `json:"at_most_every"`
		}
		err := json.Unmarshal(data, &object)
		*r = ReEntry{AtMostEvery, object.Every}
		return err
	}
	return json.Unmarshal(data, &r.Mode)
}

// MarshalJSON returns the form that UnmarshalJSON accepts.
func (r ReEntry) MarshalJSON() ([]byte, error) {
	if r.Mode == AtMostEvery {
		return json.Marshal(map[string]clock.Duration{AtMostEvery: r.Every})
	}
	return json.Marshal(r.Mode)
}
