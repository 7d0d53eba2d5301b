package mailhtml

import (
	"errors"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Limits on the cost of inlining: every selector is matched against every element.
const (
	maxStyle   = 200_000   // bytes of CSS
	maxMatches = 5_000_000 // rules and declarations, multiplied by elements
)

// InlineCSS returns a source with the rules of <style> moved into style attributes, for mail programs that
// ignore <style>. Rules that cannot be moved, such as media queries, stay in place. If inlining would change
// the structure of the document, InlineCSS returns the source unchanged, and kept contains the reason. It loads
// nothing from the network.
func InlineCSS(source string) (inlined, kept string) {
	if !strings.Contains(strings.ToLower(source), "<style") {
		return source, ""
	}
	out, err := inlineSource(source)
	if err != nil {
		return source, "CSS was not inlined: " + err.Error()
	}
	return out, ""
}

func inlineSource(source string) (out string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("it cannot be parsed")
		}
	}()
	hidden, err := hideLiquid(source)
	if err != nil {
		return "", err
	}
	before := hidden.readOutline(hidden.source)
	switch {
	case hidden.control:
		return "", errors.New("there are {% tags %} inside <style>")
	case before.style > maxStyle, before.rules*len(before.shape) > maxMatches:
		return "", errors.New("it is too large")
	}
	d, err := parseDocument(hidden.source)
	if err != nil {
		return "", err
	}
	made, err := d.inline()
	if err != nil {
		return "", err
	}
	if after := hidden.readOutline(made); !before.equals(after) {
		return "",
			errors.New("elements or Liquid tags would move; close every element in the branch or loop that opens it")
	}
	return hidden.restoreLiquid(removeTbody(hidden.source, made)), nil
}

// removeTbody removes the <tbody> that a parser adds to every table, because between a loop and its rows it
// would be repeated in every iteration.
func removeTbody(source, made string) string {
	if strings.Contains(strings.ToLower(source), "<tbody") || strings.Contains(made, "<tbody ") {
		return made
	}
	return strings.NewReplacer("<tbody>", "", "</tbody>", "").Replace(made)
}

// outline is the structure that inlining must not change: elements, comments and Liquid, in order, except for
// parser additions and the CSS itself.
type outline struct {
	shape        []string
	opened, ends map[string]int
	style, rules int
}

// implied lists the elements that a parser adds where they are missing.
var implied = []string{"html", "head", "body", "tbody", "colgroup", "style"}

// optional lists the elements that an author may leave open; a parser closes them.
var optional = []string{"p", "li", "td", "th", "tr", "dt", "dd", "option", "thead", "tfoot"}

func (o *opaqueSource) readOutline(source string) outline {
	out := outline{opened: map[string]int{}, ends: map[string]int{}}
	z := html.NewTokenizer(strings.NewReader(source))
	inStyle := false
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return out
		}
		raw := string(z.Raw())
		t := z.Token()
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			inStyle = t.Data == "style"
			if !slices.Contains(implied, t.Data) {
				out.opened[t.Data]++
				out.shape = append(out.shape, "<"+t.Data)
			}
		case html.EndTagToken:
			inStyle = false
			if !slices.Contains(implied, t.Data) && t.Data != "br" {
				out.ends[t.Data]++
				out.shape = append(out.shape, "/"+t.Data)
			}
		case html.TextToken:
			if inStyle {
				out.style += len(raw)
				out.rules += strings.Count(raw, "{") + strings.Count(raw, ",") + strings.Count(raw, ";")
				continue
			}
		case html.CommentToken:
			out.shape = append(out.shape, "!"+t.Data)
			continue
		case html.ErrorToken, html.DoctypeToken:
		}
		if !inStyle {
			for _, w := range o.words.FindAllString(removeStyle(t, raw), -1) {
				out.shape = append(out.shape, strings.TrimSuffix(w, `=""`))
			}
		}
	}
}

// removeStyle returns a token without the attributes that inlining writes, unless they contain Liquid control
// tags. Rules that contain {{ }} may apply to any number of elements.
func removeStyle(t html.Token, raw string) string {
	if t.Type != html.StartTagToken && t.Type != html.SelfClosingTagToken {
		return raw
	}
	var b strings.Builder
	for _, a := range t.Attr {
		if !slices.Contains([]string{"style", "bgcolor", "width", "height", "align", "valign", "background"}, a.Key) {
			b.WriteString(a.Key + " " + a.Val + " ")
		}
	}
	return b.String()
}

func (a outline) equals(b outline) bool {
	return slices.Equal(a.omitEndTags(a), b.omitEndTags(a))
}

// omitEndTags omits the end tags of optional elements that the author left open.
func (a outline) omitEndTags(author outline) []string {
	return slices.DeleteFunc(slices.Clone(a.shape), func(s string) bool {
		name, isEnd := strings.CutPrefix(s, "/")
		return isEnd && slices.Contains(optional, name) && author.opened[name] != author.ends[name]
	})
}
