package machine

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/templates/language"
)

// roots are the variables that Liquid may use.
var roots = []string{"event", "run", "steps", "automation"}

// liquidText is a text that contains Liquid.
type liquidText struct {
	literal string // true if the text has no Liquid
	part    *language.CompiledSource
	path    []string // path of the value, if the text is exactly one output without a filter
}

// oneOutput matches a text that is a single output of a path.
var oneOutput = regexp.MustCompile(`^\{\{-?\s*([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)\s*-?\}\}$`)

func (c *compiler) newLiquidText(path, text string, html, typed bool) *liquidText {
	if !strings.Contains(text, "{{") && !strings.Contains(text, "{%") {
		return &liquidText{literal: text}
	}
	engine := language.Text
	if html {
		engine = language.HTML
	}
	part, err := engine.Compile("text", text)
	if err != nil {
		c.wrong.Add(path, "%s", err)
		return nil
	}
	for _, variable := range part.Variables() {
		if reason := c.refusalOf(variable); reason != "" {
			c.wrong.Add(path, "line %d: %s", part.Place(variable).Line, reason)
			return nil
		}
	}
	g := &liquidText{part: part}
	if m := oneOutput.FindStringSubmatch(strings.TrimSpace(text)); typed && m != nil && m[1] != "unsubscribe_url" {
		g.path = strings.Split(m[1], ".")
	}
	return g
}

// refusalOf returns why Liquid may not use a variable, or "" if it may.
func (c *compiler) refusalOf(variable string) string {
	parts := strings.Split(variable, ".")
	if !slices.Contains(roots, parts[0]) {
		return fmt.Sprintf("unknown variable %s; must be one of %s", parts[0], strings.Join(roots, ", "))
	}
	if parts[0] == "steps" && len(parts) > 1 && !slices.Contains(c.known, parts[1]) {
		return fmt.Sprintf("steps.%s must be an earlier step", parts[1])
	}
	return ""
}

// liquidValues returns the values of the roots. Values that Liquid does not support are omitted and render
// empty.
func liquidValues(scope expression.Scope, name, id string) map[string]any {
	return map[string]any{
		"event": liquidObject(scope.Trigger), "run": liquidObject(scope.Run), "steps": liquidObject(scope.Steps),
		"automation": language.Object{"id": id, "name": name},
	}
}

// liquidObject converts each field separately, because the limits apply to each.
func liquidObject(values map[string]any) language.Object {
	out := language.Object{}
	for name, value := range values {
		if taken, err := language.Value(value); err == nil && taken != nil {
			out[name] = taken
		}
	}
	return out
}

// render returns the text with its outputs rendered.
func (g *liquidText) render(budget *language.Budget, values map[string]any) (string, error) {
	if g.part == nil {
		return g.literal, nil
	}
	return g.part.Render(budget, values)
}

// renderValue returns the JSON value of a text that is a single output, or else the rendered text.
func (g *liquidText) renderValue(budget *language.Budget, values map[string]any, scope expression.Scope) (any, error) {
	if g.path == nil {
		return g.render(budget, values)
	}
	var at any = map[string]any{"event": scope.Trigger, "run": scope.Run, "steps": scope.Steps, "automation": map[string]any(values["automation"].(language.Object))} //nolint:forcetypeassert // created by liquidValues
	for _, part := range g.path {
		object, is := at.(map[string]any)
		if !is {
			return nil, nil
		}
		at = object[part]
	}
	return at, nil
}

// texts renders the texts of one step.
type texts struct {
	step   *compiledStep
	budget *language.Budget
	values map[string]any
	scope  expression.Scope
}

func (p *Program) textsOf(ctx context.Context, step int, run Run, scope expression.Scope) *texts {
	return &texts{&p.steps[step], language.NewBudget(ctx, language.Locale{}), liquidValues(scope, p.Definition.Name, run.AutomationID),
		scope}
}

// renderPath renders the text at a path. It returns "" if the step has none.
func (t *texts) renderPath(path string) (string, error) {
	g := t.step.texts[path]
	if g == nil {
		return "", nil
	}
	text, err := g.render(t.budget, t.values)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// fillValue renders the strings in a JSON value.
func (t *texts) fillValue(path string, value any) (any, error) {
	switch v := value.(type) {
	case string:
		g := t.step.texts[path]
		if g == nil {
			return v, nil
		}
		filled, err := g.renderValue(t.budget, t.values, t.scope)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return filled, nil
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			filled, err := t.fillValue(fmt.Sprintf("%s[%d]", path, i), element)
			if err != nil {
				return nil, err
			}
			out[i] = filled
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			filled, err := t.fillValue(path+"."+name, v[name])
			if err != nil {
				return nil, err
			}
			out[name] = filled
		}
		return out, nil
	default:
		return v, nil
	}
}
