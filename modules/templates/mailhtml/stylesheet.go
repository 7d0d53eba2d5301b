package mailhtml

import (
	"regexp"
	"slices"
	"strings"

	"github.com/vanng822/css"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// stylesheet is the CSS of a document: rules to move into style attributes, and rules that only
// a mail program can evaluate.
type stylesheet struct {
	rules []rule
	rest  []*css.CSSRule
}

// rule is the declarations of one selector that are equally important.
type rule struct {
	selector     string
	weight       []int // rules of a higher weight override those of a lower
	declarations []*css.CSSStyleDeclaration
}

// dynamic selectors depend on the state of an element or select a part of it.
var dynamic = regexp.MustCompile(`(?i):{1,2}(visited|active|hover|focus|link|root|in-range|invalid|valid|after|before|selection|target|first-(line|letter))|^@|:(checked|disabled|enabled|lang)|\*`)

var typeSelector = regexp.MustCompile(`(^|\s)\w`)

// parse adds the rules of one <style>.
func (s *stylesheet) parse(text string) {
	for _, r := range css.Parse(text).GetCSSRuleList() {
		if r.Type != css.STYLE_RULE {
			s.rest = append(s.rest, r)
			continue
		}
		for selector := range strings.SplitSeq(r.Style.Selector.Text(), ",") {
			if dynamic.MatchString(selector) {
				style := css.CSSStyleRule{Selector: css.NewCSSValue(selector), Styles: r.Style.Styles}
				s.rest = append(s.rest, &css.CSSRule{Type: r.Type, Style: style})
				continue
			}
			s.add(selector, 0, r.Style.Styles)
			s.add(selector, 1, r.Style.Styles)
		}
	}
}

// add adds the declarations of a selector that have an importance, 0 or 1.
func (s *stylesheet) add(selector string, importance int, all []*css.CSSStyleDeclaration) {
	declarations := slices.DeleteFunc(slices.Clone(all),
		func(d *css.CSSStyleDeclaration) bool { return d.Important != (importance == 1) })
	if len(declarations) == 0 {
		return
	}
	weight := []int{importance, strings.Count(selector, "#"), strings.Count(selector, "."),
		strings.Count(selector, "["),
		len(typeSelector.FindAllString(selector, -1)), len(s.rules)}
	s.rules = append(s.rules, rule{selector, weight, declarations})
}

// leftover returns the CSS of the rules that stay in <style>. Their declarations become important,
// to override the style attributes.
func (s *stylesheet) leftover() string {
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
				nested[i] = declare(inner, r.Type == css.MEDIA_RULE)
			}
			b.WriteString(name + " " + selector + "{\n" + strings.Join(nested, "\n") + "\n}\n")
		default:
			b.WriteString(declare(r, true))
		}
	}
	return b.String()
}

// declare returns the text of a rule, with important declarations only if asked.
func declare(r *css.CSSRule, important bool) string {
	styles := make([]*css.CSSStyleDeclaration, len(r.Style.Styles))
	for i, d := range r.Style.Styles {
		styles[i] = &css.CSSStyleDeclaration{Property: d.Property, Value: d.Value, Important: d.Important || important}
	}
	return (&css.CSSStyleRule{Selector: r.Style.Selector, Styles: styles}).Text()
}

// setStyle puts declarations into the style attribute of an element. Later ones override earlier
// ones, and the element's own declarations override them all.
func setStyle(n *html.Node, declarations []*css.CSSStyleDeclaration) {
	all := slices.Concat(declarations, css.ParseBlock(attribute(n, "style")))
	values := map[string]string{}
	var order []string // by the last declaration of each property
	for i, d := range slices.Backward(all) {
		if _, overridden := values[d.Property]; !overridden {
			values[d.Property] = all[i].Value.Text()
			order = append(order, d.Property)
		}
	}
	texts := make([]string, 0, len(order))
	for _, property := range slices.Backward(order) {
		texts = append(texts, property+":"+values[property])
	}
	if style := strings.Join(texts, ";"); style != "" {
		setAttribute(n, "style", style)
	}
	for _, property := range slices.Backward(order) { // Outlook ignores these two in style
		value := values[property]
		if size, isPixels := strings.CutSuffix(value, "px"); (isPixels || value == "0") &&
			(property == "width" || property == "height") {
			setAttribute(n, property, size)
		}
	}
}

func attribute(n *html.Node, name string) string {
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
