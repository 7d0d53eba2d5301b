package mailhtml

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// stylesheet is the CSS of a document: rules to move into style attributes, and rules that only a mail program
// can evaluate.
type stylesheet struct {
	rules []rule
	rest  []keptRule
	stay  []keptDeclaration // the declarations of rest
	count int               // number of rules so far
}

// rule contains the declarations of one selector that have the same importance.
type rule struct {
	selector     string
	weight       weight
	declarations []*declaration
}

// keptRule is a rule that stays in <style>.
type keptRule struct {
	*cssRule

	position int // in the order of the document; 0: before all other rules
}

// weight orders declarations like the cascade: by importance, style attribute, specificity of the selector, and
// position in the document. A higher weight wins.
type weight []int

// dynamic matches selectors that depend on the state of an element or select a part of it.
var dynamic = regexp.MustCompile(`(?i):{1,2}(visited|active|hover|focus|link|root|in-range|invalid|valid|after|before|selection|target|first-(line|letter))|::|:(checked|disabled|enabled|lang)|\*`)

var (
	typeSelector = regexp.MustCompile(`(^|[\s>+~(,])[a-zA-Z]`)
	pseudoClass  = regexp.MustCompile(`(^|[^:]):[a-zA-Z]`)
	attribute    = regexp.MustCompile(`\[(?:"[^"]*"|'[^']*'|[^\]"'])*\]`)
	escape       = regexp.MustCompile(`\\.`)
	weightless   = regexp.MustCompile(`(?i):where\([^)]*\)|:(not|is|has|matches)\b`)
	argument     = regexp.MustCompile(`(?i)(:(?:nth-[a-z-]+|lang|dir))\([^)]*\)`)
)

// parse adds the rules of one <style>. media is the value of its attribute, or "".
func (s *stylesheet) parse(text, media string) error {
	p := cssParser{text: text}
	rules := p.parseRules(0)
	if p.unknown != "" {
		return fmt.Errorf("%s is not supported", p.unknown)
	}
	if media != "" {
		rules = []*cssRule{{name: "@media", prelude: media, isBlock: true, rules: rules}}
	}
	leading := true // only then does @import apply
	for _, r := range rules {
		isStatement := r.name == "@import" || r.name == "@charset"
		leading = leading && isStatement
		switch {
		case isStatement && leading:
			s.rest = append(s.rest, keptRule{r, 0})
		case r.name != "":
			s.keepRule(r)
		default:
			s.addRule(r)
		}
	}
	return nil
}

// addRule adds a rule, by its selectors.
func (s *stylesheet) addRule(r *cssRule) {
	for _, selector := range splitSelectors(r.prelude) {
		if dynamic.MatchString(simplifySelector(selector)) {
			s.keepRule(&cssRule{prelude: selector, isBlock: true, declarations: copyDeclarations(r.declarations)})
			continue
		}
		s.add(selector, false, r.declarations)
		s.add(selector, true, r.declarations)
	}
}

func copyDeclarations(all []*declaration) []*declaration {
	copies := make([]*declaration, len(all))
	for i, d := range all {
		c := *d
		copies[i] = &c
	}
	return copies
}

// add adds the declarations of a selector that have an importance.
func (s *stylesheet) add(selector string, important bool, all []*declaration) {
	declarations := slices.DeleteFunc(slices.Clone(all),
		func(d *declaration) bool { return d.important != important })
	if len(declarations) == 0 {
		return
	}
	s.rules = append(s.rules, rule{selector, s.weightOf(selector, important), declarations})
}

// keepUnmatched keeps a rule that matches no element of the template, because classes and attributes may come from
// values or from the mail program, such as .ExternalClass.
func (s *stylesheet) keepUnmatched(r rule) {
	if !strings.ContainsAny(r.selector, ".#[:") || strings.Count(r.selector, "[") != strings.Count(r.selector, "]") ||
		strings.Count(r.selector, "(") != strings.Count(r.selector, ")") {
		return // nothing can come to match, or an invalid selector would break the rules after it
	}
	kept := &cssRule{prelude: r.selector, isBlock: true, declarations: copyDeclarations(r.declarations)}
	s.rest = append(s.rest, keptRule{kept, r.weight.position()})
	s.keepDeclarations(kept, r.selector, func(bool) weight { return r.weight })
}

// weightOf returns the weight of a selector at the current position.
func (s *stylesheet) weightOf(selector string, important bool) weight {
	importance := 0
	if important {
		importance = 1
	}
	s.count++
	plain := argument.ReplaceAllString(simplifySelector(selector), "$1")
	plain = weightless.ReplaceAllString(plain, "")
	return weight{importance, 0, strings.Count(plain, "#"),
		strings.Count(plain, ".") + strings.Count(plain, "[") + len(pseudoClass.FindAllString(plain, -1)),
		len(typeSelector.FindAllString(plain, -1)), s.count}
}

// simplifySelector returns a selector without escaped characters and without the content of attribute selectors.
func simplifySelector(selector string) string {
	return attribute.ReplaceAllString(escape.ReplaceAllString(selector, "x"), "[]")
}

// attributeWeight is the weight of a declaration in a style attribute.
func attributeWeight(d *declaration) weight {
	if d.important {
		return weight{1, 1}
	}
	return weight{0, 1}
}

// beats reports whether a declaration of this weight wins over one of another weight.
func (w weight) beats(other weight) bool { return slices.Compare(w, other) > 0 }

func (w weight) position() int { return w[len(w)-1] }

// formatKept returns the CSS of the rules that stay in <style>.
func (s *stylesheet) formatKept() string {
	slices.SortStableFunc(s.rest, func(a, b keptRule) int { return cmp.Compare(a.position, b.position) })
	var b strings.Builder
	for _, r := range s.rest {
		b.WriteString(r.format())
	}
	return b.String()
}

func attributeOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func setAttribute(n *html.Node, name, value string) {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			n.Attr[i].Val = value
			return
		}
	}
	n.Attr = append(n.Attr, html.Attribute{Key: name, Val: value})
}

// appendStyle adds a <style> to the head of a document.
func appendStyle(head *html.Node, text string) {
	style := &html.Node{Type: html.ElementNode, Data: "style", DataAtom: atom.Style,
		Attr: []html.Attribute{{Key: "type", Val: "text/css"}}}
	style.AppendChild(&html.Node{Type: html.TextNode, Data: text})
	head.AppendChild(style)
}
