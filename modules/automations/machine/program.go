package machine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Program is a compiled definition. It is safe for concurrent use.
type Program struct {
	Definition definition.Definition

	start  *expression.Program       // nil: always true
	cancel map[string][]cancellation // keyed by event name
	steps  []compiledStep
}

// cancellation is one way for an event to cancel a run.
type cancellation struct {
	condition *expression.Program // nil: always true
	ofStep    string              // key of the step whose email the event must concern; empty: any
}

// compiledStep contains the compiled texts of a step.
type compiledStep struct {
	condition *expression.Program // condition of a wait or a condition step; nil: always true
	at        *expression.Program
	cases     []*expression.Program
	texts     map[string]*liquidText // keyed by the path within the step
}

// compiler collects errors.
type compiler struct {
	wrong fault.Fields
	known []string // keys of the steps before the current one
}

// Compile compiles a definition that Decode accepted. The fields name the expressions and the Liquid that do
// not compile, by path.
func Compile(d definition.Definition) (*Program, fault.Fields) {
	c := &compiler{wrong: fault.Fields{}}
	p := &Program{Definition: d, cancel: map[string][]cancellation{}}
	p.start = c.compileExpression("trigger.conditions", d.Trigger.Conditions, expression.Boolean)
	for i, cancel := range d.Trigger.Cancel {
		condition := c.compileExpression(fmt.Sprintf("trigger.cancel_on_events[%d].conditions", i), cancel.Conditions,
			expression.Boolean)
		p.cancel[cancel.Event] = append(p.cancel[cancel.Event], cancellation{condition, cancel.OfStep})
	}
	for i := range d.Steps {
		p.steps = append(p.steps, c.compileStep(fmt.Sprintf("steps[%d].", i), &d.Steps[i]))
		c.known = append(c.known, d.Steps[i].Key)
	}
	return p, c.wrong
}

// Parse decodes and compiles a stored definition.
func Parse(document []byte) (*Program, error) {
	var d definition.Definition
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("read a stored definition: %w", err)
	}
	p, wrong := Compile(d)
	if err := wrong.Err(); err != nil {
		return nil, fmt.Errorf("compile a stored definition: %w", err)
	}
	return p, nil
}

func (c *compiler) compileExpression(path, text string, kind expression.ValueType) *expression.Program {
	if text == "" {
		return nil
	}
	program, err := expression.Compile(text, kind)
	if err != nil {
		c.wrong.Add(path, "%s", err)
	}
	return program
}

func (c *compiler) compileStep(path string, s *definition.Step) compiledStep {
	out := compiledStep{texts: map[string]*liquidText{}}
	kind := typeOf(s)
	kind.compile(c, path, s, &out)
	for _, t := range kind.texts(s) {
		out.texts[t.path] = c.newLiquidText(path+t.path, t.source, t.html, t.json)
	}
	return out
}

// source is a text of a step that may contain Liquid.
type source struct {
	path, source string
	html         bool
	json         bool // a string that is a single output becomes a value with its type
}

func addText(list []source, path, text string) []source {
	if text == "" {
		return list
	}
	return append(list, source{path: path, source: text})
}

// findLiquid returns the strings of a JSON value that contain Liquid.
func findLiquid(path string, value any) (out []source) {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, "{{") || strings.Contains(v, "{%") {
			out = append(out, source{path: path, source: v, json: true})
		}
	case []any:
		for i, element := range v {
			out = append(out, findLiquid(fmt.Sprintf("%s[%d]", path, i), element)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, findLiquid(path+"."+name, v[name])...)
		}
	}
	return out
}

// EventNames returns the names of the events that start a run of the program, end its waits, cancel it or convert
// it.
func (p *Program) EventNames() map[string][]string {
	kinds := map[string][]string{}
	add := func(event, kind string) {
		if !slices.Contains(kinds[event], kind) {
			kinds[event] = append(kinds[event], kind)
		}
	}
	add(p.Definition.Trigger.Event, "start")
	for i := range p.Definition.Steps {
		for _, event := range p.Definition.Steps[i].Event {
			add(event, "wait")
		}
	}
	for event := range p.cancel {
		add(event, "cancel")
	}
	if goal := p.Definition.Goal; goal != nil {
		add(goal.Event, "convert")
	}
	return kinds
}
