package diff

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/postrider/postrider/modules/automations/definition"
)

// Kinds of changes to a step.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
	Moved   = "moved" // only its place among the common steps changed
)

// FieldChange is a field that differs. A nil value means that the field was omitted.
type FieldChange struct {
	Path          string
	Before, After any
}

// StepChange compares the step with one key in both definitions.
type StepChange struct {
	Key, Type     string
	Change        string
	Before, After int           // indexes; -1 if absent
	Fields        []FieldChange // set if the step changed
}

// Difference is the difference between two definitions.
type Difference struct {
	Fields []FieldChange // outside the steps
	Steps  []StepChange  // in the order of the newer definition, then the removed steps
}

// Compare compares two definitions, step by step, using their keys.
func Compare(before, after *definition.Definition) Difference {
	out := Difference{Fields: []FieldChange{}, Steps: []StepChange{}}
	old, young := fieldsOf(before), fieldsOf(after)
	delete(old, "steps")
	delete(young, "steps")
	for _, name := range []string{"name", "description", "timezone"} {
		out.Fields = compareFields(out.Fields, name, old[name], young[name])
	}
	out.Fields = compareObjects(out.Fields, "trigger.", old["trigger"], young["trigger"])
	out.Fields = compareObjects(out.Fields, "goal.", old["goal"], young["goal"])
	order := placesOf(before, after)
	for i := range after.Steps {
		step := &after.Steps[i]
		c := StepChange{Key: step.Key, Type: step.Type, Before: before.Step(step.Key), After: i}
		if c.Before < 0 {
			c.Change = Added
			out.Steps = append(out.Steps, c)
			continue
		}
		c.Fields = compareObjects(nil, "", fieldsOf(&before.Steps[c.Before]), fieldsOf(step))
		switch {
		case len(c.Fields) > 0:
			c.Change = Changed
		case order[step.Key]:
			c.Change = Moved
		default:
			continue
		}
		out.Steps = append(out.Steps, c)
	}
	for i := range before.Steps {
		if step := &before.Steps[i]; after.Step(step.Key) < 0 {
			out.Steps = append(out.Steps, StepChange{Key: step.Key, Type: step.Type, Change: Removed, Before: i,
				After: -1})
		}
	}
	return out
}

// placesOf returns the common steps whose place among the common steps changed.
func placesOf(before, after *definition.Definition) map[string]bool {
	common := func(d, other *definition.Definition) (keys []string) {
		for i := range d.Steps {
			if other.Step(d.Steps[i].Key) >= 0 {
				keys = append(keys, d.Steps[i].Key)
			}
		}
		return keys
	}
	old, young := common(before, after), common(after, before)
	moved := map[string]bool{}
	for i, key := range young {
		moved[key] = old[i] != key
	}
	return moved
}

// fieldsOf returns the fields of a value's JSON object.
func fieldsOf(value any) map[string]any {
	encoded, err := json.Marshal(value)
	if err != nil {
		return map[string]any{}
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		return map[string]any{}
	}
	return members
}

func compareObjects(list []FieldChange, prefix string, before, after any) []FieldChange {
	old, _ := before.(map[string]any)
	young, _ := after.(map[string]any)
	names := map[string]bool{}
	for name := range old {
		names[name] = true
	}
	for name := range young {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		list = compareFields(list, prefix+name, old[name], young[name])
	}
	return list
}

func compareFields(list []FieldChange, path string, before, after any) []FieldChange {
	if reflect.DeepEqual(before, after) {
		return list
	}
	return append(list, FieldChange{path, before, after})
}
