package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/automations/clock"
)

// Target says where a run goes on. The zero Target is what the field means when it is left
// out, which Or fills in.
type Target struct {
	Kind string // continue, end, fail, goto
	Key  string // of the step, with goto
}

// The kinds of targets.
const (
	Continue = "continue"
	Ends     = "end"
	Fails    = "fail"
	Goto     = "goto"
)

// Or gives the target, or another one where it was left out.
func (t Target) Or(kind string) Target {
	if t.Kind == "" {
		return Target{Kind: kind}
	}
	return t
}

// MarshalJSON writes the form that UnmarshalJSON reads.
func (t Target) MarshalJSON() ([]byte, error) {
	if t.Kind == Goto {
		return json.Marshal(map[string]string{Goto: t.Key})
	}
	return json.Marshal(t.Kind)
}

// UnmarshalJSON reads "continue", "end", "fail" or {"goto": key}.
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
		err = errors.New("is no target")
	}
	return err
}

// Texts is one text or a list of them.
type Texts []string

// UnmarshalJSON reads a string or an array of strings.
func (t *Texts) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*[]string)(t))
	}
	var one string
	err := json.Unmarshal(data, &one)
	*t = Texts{one}
	return err
}

// MarshalJSON writes one text as a string.
func (t Texts) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// Headers are header fields, as an object.
type Headers []shape.Header

// UnmarshalJSON reads an object, whose members come in the order of their names.
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

// MarshalJSON writes an object.
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
	OfStep     string `json:"step,omitempty"`       // own events count that are about the mail of this step
}

// UnmarshalJSON reads a name or an object.
func (c *Cancel) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &c.Event)
	}
	type object Cancel
	return json.Unmarshal(data, (*object)(c))
}

// MarshalJSON writes a name where there is nothing else.
func (c Cancel) MarshalJSON() ([]byte, error) {
	if c.Conditions == "" && c.OfStep == "" {
		return json.Marshal(c.Event)
	}
	type object Cancel
	return json.Marshal(object(c))
}

// The modes of ReEntry.
const (
	EveryTime       = "every_time"
	Once            = "once"
	AfterCompletion = "after_completion"
	AtMostEvery     = "at_most_every"
)

// ReEntry says whether a person who had a run may have another one.
type ReEntry struct {
	Mode  string         // "": every_time
	Every clock.Duration // of at_most_every
}

// UnmarshalJSON reads a mode or {"at_most_every": duration}.
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

// MarshalJSON writes the form that UnmarshalJSON reads.
func (r ReEntry) MarshalJSON() ([]byte, error) {
	if r.Mode == AtMostEvery {
		return json.Marshal(map[string]clock.Duration{AtMostEvery: r.Every})
	}
	return json.Marshal(r.Mode)
}
