package mailhtml

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// keptDeclaration is a declaration of a rule that stays in <style>, for one of its selectors. Moved into style
// attributes, other declarations would win over it even where it won before. It is therefore written as
// !important, unless it lost against every moved declaration anyway.
type keptDeclaration struct {
	declaration *declaration
	selector    string // without the states that only a mail program can evaluate
	weight      weight

	wins, loses bool // against moved declarations of some element
}

// winningDeclaration is the declaration of a property that applies to an element, from the moved rules and its own
// style attribute.
type winningDeclaration struct {
	*declaration

	weight weight
}

// style is the resulting style of an element, in the order in which it is written.
type style []winningDeclaration

// keepRule adds a rule that stays in <style>.
func (s *stylesheet) keepRule(r *cssRule) {
	s.count++
	s.rest = append(s.rest, keptRule{r, s.count})
	s.keepRanks(r)
}

// keepRanks adds the declarations of a rule that stays, or of the rules in it.
func (s *stylesheet) keepRanks(r *cssRule) {
	for _, inner := range r.rules {
		s.keepRanks(inner)
	}
	for _, selector := range splitSelectors(r.prelude) {
		if r.name == "" {
			s.keepDeclarations(r, selector, func(important bool) weight { return s.weightOf(selector, important) })
		}
	}
}

func (s *stylesheet) keepDeclarations(r *cssRule, selector string, weigh func(important bool) weight) {
	for _, d := range r.declarations {
		s.stay = append(s.stay, keptDeclaration{declaration: d, selector: removeState(selector),
			weight: weigh(d.important)})
	}
}

// state matches the parts of a selector that depend on the state of an element or select a part of it.
var state = regexp.MustCompile(`(?i)::?(visited|active|hover|focus|link|root|in-range|invalid|valid|after|before|` +
	`selection|target|first-(line|letter)|checked|disabled|enabled|lang\([^)]*\))`)

func removeState(selector string) string {
	plain := strings.TrimSpace(state.ReplaceAllString(selector, ""))
	if plain == "" || strings.HasSuffix(plain, ">") || strings.HasSuffix(plain, "+") || strings.HasSuffix(plain, "~") {
		plain += "*"
	}
	return plain
}

// resolveStyle returns the declarations that win for an element. The given declarations are in ascending
// weight.
func resolveStyle(n *html.Node, moved []winningDeclaration) style {
	for _, d := range parseDeclarations(attributeOf(n, "style")) {
		moved = append(moved, winningDeclaration{d, attributeWeight(d)})
	}
	slices.SortStableFunc(moved, func(a, b winningDeclaration) int { return slices.Compare(a.weight, b.weight) })
	var out style
	decided := map[string]winningDeclaration{}
	for _, w := range slices.Backward(moved) {
		later, isDecided := decided[w.property]
		if isDecided && (slices.Compare(w.weight, later.weight) != 0 || w.value == later.value) {
			continue
		}
		// Several values in one rule are fallbacks for mail programs that do not know the last one.
		decided[w.property] = w
		out = append(out, w)
	}
	slices.Reverse(out)
	return out
}

// compareRanks determines which of the kept declarations win and lose against styles, and returns the ones that
// apply to each element.
func (d *document) compareRanks(stay []keptDeclaration, styles map[*html.Node]style,
	until time.Time) (map[*html.Node][]*keptDeclaration, error) {
	applies := map[*html.Node][]*keptDeclaration{}
	matched := map[string][]*html.Node{} // keyed by selector
	for i := range stay {
		s := &stay[i]
		nodes, known := matched[s.selector]
		if !known {
			var err error
			if nodes, err = d.findElements(s.selector, until); err != nil {
				return nil, err
			}
			matched[s.selector] = nodes
		}
		for _, n := range nodes {
			if _, known := styles[n]; !known {
				styles[n] = resolveStyle(n, nil) // from its own style attribute
			}
			s.compareWith(styles[n])
			if len(styles[n]) > 0 {
				applies[n] = append(applies[n], s)
			}
			if time.Now().After(until) {
				return nil, errSlow
			}
		}
	}
	return applies, nil
}

// compareWith records whether the declaration wins or loses against those of an element.
func (s *keptDeclaration) compareWith(element style) {
	for _, w := range element {
		if isRelated(w.property, s.declaration.property) {
			s.wins = s.wins || s.weight.beats(w.weight)
			s.loses = s.loses || w.weight.beats(s.weight)
		}
	}
}

// isRelated reports whether two properties set the same thing: equal properties, or a shorthand such as margin
// and margin-top.
func isRelated(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || strings.HasPrefix(b, a+"-") || a == "font" && b == "line-height" ||
		borderSide.MatchString(a) && borderSide.MatchString(b)
}

// borderSide matches the properties that set color, style or width of one or all borders.
var borderSide = regexp.MustCompile(`^border(-(top|right|bottom|left))?(-(color|style|width))?$`)

// promoteDeclarations writes the kept declarations as !important, unless they lose everywhere.
func promoteDeclarations(stay []keptDeclaration) {
	promoted := map[*declaration]bool{}
	for _, s := range stay { // a rule with several selectors has one declaration for each
		promoted[s.declaration] = promoted[s.declaration] || s.wins || !s.loses
	}
	for d, isPromoted := range promoted {
		d.important = d.important || isPromoted
	}
}

// adjustImportance makes the declarations !important that must win over a promoted one in <style>, and removes
// !important from those that must not win over another one there. It reports whether anything changed.
func (s style) adjustImportance(stay []*keptDeclaration) (changed bool) {
	for i, w := range s {
		var above, below bool
		for _, other := range stay {
			if other.declaration.important && isRelated(w.property, other.declaration.property) {
				above = above || other.weight.beats(w.weight)
				below = below || w.weight.beats(other.weight)
			}
		}
		if important := !above && (w.important || below); important != w.important {
			raised := *w.declaration // shared by several elements
			raised.important = important
			s[i].declaration, changed = &raised, true
		}
	}
	return changed
}

// write puts the style into the attributes of an element.
func (s style) write(n *html.Node) {
	texts := make([]string, len(s))
	for i, w := range s {
		texts[i] = w.format(":")
	}
	if len(texts) > 0 {
		setAttribute(n, "style", strings.Join(texts, ";"))
	}
	for _, w := range s { // Outlook ignores these two in style
		value := w.value
		if size, isPixels := strings.CutSuffix(value, "px"); (isPixels || value == "0") &&
			(w.property == "width" || w.property == "height") {
			setAttribute(n, w.property, size)
		}
	}
}
