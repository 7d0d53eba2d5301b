package mailhtml

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vanng822/css"
	"golang.org/x/net/html"
)

// keptDeclaration is a declaration of a rule that stays in <style>, for one of its selectors. Moved into style
// attributes, other declarations would win over it even where it won before. It is therefore written as
// !important, unless it lost against every moved declaration anyway.
type keptDeclaration struct {
	declaration *css.CSSStyleDeclaration
	selector    string // without the states that only a mail program can evaluate
	weight      weight

	wins, loses bool // against moved declarations of some element
}

// winningDeclaration is the declaration of a property that applies to an element, from the moved rules and its own
// style attribute.
type winningDeclaration struct {
	*css.CSSStyleDeclaration

	weight weight
}

// style is the resulting style of an element, in the order in which it is written.
type style []winningDeclaration

// keepRule adds a rule that stays in <style>.
func (s *stylesheet) keepRule(r *css.CSSRule) {
	s.rest = append(s.rest, r)
	rules := []*css.CSSRule{r}
	if r.Type == css.MEDIA_RULE {
		rules = r.Rules
	} else if r.Type != css.STYLE_RULE {
		return
	}
	for _, inner := range rules {
		for selector := range strings.SplitSeq(inner.Style.Selector.Text(), ",") {
			for _, d := range inner.Style.Styles {
				s.stay = append(s.stay, keptDeclaration{declaration: d, selector: removeState(selector),
					weight: s.weightOf(selector, d.Important)})
			}
		}
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
	for _, d := range css.ParseBlock(attributeOf(n, "style")) {
		moved = append(moved, winningDeclaration{d, attributeWeight(d)})
	}
	slices.SortStableFunc(moved, func(a, b winningDeclaration) int { return slices.Compare(a.weight, b.weight) })
	var out style
	decided := map[string]bool{}
	for _, w := range slices.Backward(moved) {
		if !decided[w.Property] {
			decided[w.Property] = true
			out = append(out, w)
		}
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
		if isRelated(w.Property, s.declaration.Property) {
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
	important := map[*css.CSSStyleDeclaration]bool{}
	for _, s := range stay { // a rule with several selectors has one declaration for each
		important[s.declaration] = important[s.declaration] || s.wins || !s.loses
	}
	for d, promoted := range important {
		d.Important = d.Important || promoted
	}
}

// adjustImportance makes the declarations !important that must win over a promoted one in <style>, and removes
// !important from those that must not win over another one there. It reports whether anything changed.
func (s style) adjustImportance(stay []*keptDeclaration) (changed bool) {
	for i, w := range s {
		var above, below bool
		for _, other := range stay {
			if other.declaration.Important && isRelated(w.Property, other.declaration.Property) {
				above = above || other.weight.beats(w.weight)
				below = below || w.weight.beats(other.weight)
			}
		}
		if important := !above && (w.Important || below); important != w.Important {
			raised := *w.CSSStyleDeclaration // shared by several elements
			raised.Important = important
			s[i].CSSStyleDeclaration, changed = &raised, true
		}
	}
	return changed
}

// write puts the style into the attributes of an element.
func (s style) write(n *html.Node) {
	texts := make([]string, len(s))
	for i, w := range s {
		texts[i] = w.Property + ":" + w.Value.Text()
		if w.Important {
			texts[i] += " !important"
		}
	}
	if len(texts) > 0 {
		setAttribute(n, "style", strings.Join(texts, ";"))
	}
	for _, w := range s { // Outlook ignores these two in style
		value := w.Value.Text()
		if size, isPixels := strings.CutSuffix(value, "px"); (isPixels || value == "0") &&
			(w.Property == "width" || w.Property == "height") {
			setAttribute(n, w.Property, size)
		}
	}
}
