package mailhtml

import (
	"regexp"
	"slices"
	"strings"

	"github.com/vanng822/css"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// stylesheet is the CSS of a document: rules to move into style attributes, and rules that only a mail program
// can evaluate.
type stylesheet struct {
	rules []rule
	rest  []*css.CSSRule
	stay  []keptDeclaration // the declarations of rest
	count int               // number of rules so far
}

// rule contains the declarations of one selector that have the same importance.
type rule struct {
	selector     string
	weight       weight
	declarations []*css.CSSStyleDeclaration
}

// weight orders declarations like the cascade: by importance, style attribute, specificity of the selector, and
// position in the document. A higher weight wins.
type weight []int

// dynamic matches selectors that depend on the state of an element or select a part of it.
var dynamic = regexp.MustCompile(`(?i):{1,2}(visited|active|hover|focus|link|root|in-range|invalid|valid|after|before|selection|target|first-(line|letter))|^@|:(checked|disabled|enabled|lang)|\*`)

var (
	typeSelector = regexp.MustCompile(`(^|[\s>+~])\w`)
	pseudoClass  = regexp.MustCompile(`(^|[^:]):[a-zA-Z]`)
)

// parse adds the rules of one <style>.
func (s *stylesheet) parse(text string) {
	for _, r := range css.Parse(text).GetCSSRuleList() {
		if r.Type != css.STYLE_RULE {
			s.keepRule(r)
			continue
		}
		for selector := range strings.SplitSeq(r.Style.Selector.Text(), ",") {
			if dynamic.MatchString(selector) {
				style := css.CSSStyleRule{Selector: css.NewCSSValue(selector), Styles: copyDeclarations(r.Style.Styles)}
				s.keepRule(&css.CSSRule{Type: r.Type, Style: style})
				continue
			}
			s.add(selector, 0, r.Style.Styles)
			s.add(selector, 1, r.Style.Styles)
		}
	}
}

func copyDeclarations(all []*css.CSSStyleDeclaration) []*css.CSSStyleDeclaration {
	copies := make([]*css.CSSStyleDeclaration, len(all))
	for i, d := range all {
		c := *d
		copies[i] = &c
	}
	return copies
}

// add adds the declarations of a selector that have an importance of 0 or 1.
func (s *stylesheet) add(selector string, importance int, all []*css.CSSStyleDeclaration) {
	declarations := slices.DeleteFunc(slices.Clone(all),
		func(d *css.CSSStyleDeclaration) bool { return d.Important != (importance == 1) })
	if len(declarations) == 0 {
		return
	}
	s.rules = append(s.rules, rule{selector, s.weightOf(selector, importance == 1), declarations})
}

// weightOf returns the weight of a selector at the current position.
func (s *stylesheet) weightOf(selector string, important bool) weight {
	importance := 0
	if important {
		importance = 1
	}
	s.count++
	return weight{importance, 0, strings.Count(selector, "#"),
		strings.Count(selector, ".") + strings.Count(selector, "[") + len(pseudoClass.FindAllString(selector, -1)),
		len(typeSelector.FindAllString(selector, -1)), s.count}
}

// attributeWeight is the weight of a declaration in a style attribute.
func attributeWeight(d *css.CSSStyleDeclaration) weight {
	if d.Important {
		return weight{1, 1}
	}
	return weight{0, 1}
}

// beats reports whether a declaration of this weight wins over one of another weight.
func (w weight) beats(other weight) bool { return slices.Compare(w, other) > 0 }

// formatKept returns the CSS of the rules that stay in <style>.
func (s *stylesheet) formatKept() string {
	var b strings.Builder
	for _, r := range s.rest {
		name, selector := r.Type.Text(), r.Style.Selector.Text()
		switch r.Type {
		case css.IMPORT_RULE, css.CHARSET_RULE:
			b.WriteString(name + " " + selector + ";\n")
		case css.FONT_FACE_RULE, css.PAGE_RULE, css.COUNTER_STYLE_RULE:
			b.WriteString(name + " " + r.Style.Text() + "\n")
		case css.MEDIA_RULE, css.KEYFRAMES_RULE, css.WEBKIT_KEYFRAMES_RULE:
			nested := make([]string, len(r.Rules))
			for i, inner := range r.Rules {
				nested[i] = inner.Style.Text()
			}
			b.WriteString(name + " " + selector + "{\n" + strings.Join(nested, "\n") + "\n}\n")
		default:
			b.WriteString(r.Style.Text())
		}
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
