package plaintext

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// sheet contains the classes (.x) and ids (#x) that the style sheets of a document hide.
type sheet map[string]bool //nolint:recvcheck // read replaces the map

// maxHidden bounds the names that a document can hide.
const maxHidden = 1000

// oneName matches a selector of one class or id, with or without the name of an element.
var oneName = regexp.MustCompile(`^[a-zA-Z0-9]*([.#][\w-]+)$`)

var cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)

// read adds the rules of a style sheet. Rules inside of others, such as @media, apply to some screens only.
func (s *sheet) read(css string) {
	css = cssComment.ReplaceAllString(css, "")
	for {
		selectors, rest, more := strings.Cut(css, "{")
		if !more {
			return
		}
		selectors = strings.TrimSpace(selectors[strings.LastIndexByte(selectors, ';')+1:]) // after @import
		if strings.HasPrefix(selectors, "@") {
			css = skipBlock(rest)
			continue
		}
		var declarations string
		declarations, css, _ = strings.Cut(rest, "}")
		if !hidesContent(compactStyle(declarations)) {
			continue
		}
		for selector := range strings.SplitSeq(selectors, ",") {
			name := oneName.FindStringSubmatch(strings.TrimSpace(selector))
			if name == nil || len(*s) >= maxHidden {
				continue
			}
			if *s == nil {
				*s = sheet{}
			}
			(*s)[name[1]] = true
		}
	}
}

// skipBlock returns the text after the end of an open block.
func skipBlock(css string) string {
	depth := 1
	for i := range len(css) {
		switch css[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return css[i+1:]
			}
		}
	}
	return ""
}

// hidesElement reports whether a class or the id of an element is hidden, and its own style does not show it.
func (s sheet) hidesElement(t html.Token) bool {
	if len(s) == 0 {
		return false
	}
	hidden := false
	for _, a := range t.Attr {
		switch a.Key {
		case "class":
			for name := range strings.FieldsSeq(a.Val) {
				hidden = hidden || s["."+name]
			}
		case "id":
			hidden = hidden || s["#"+a.Val]
		case "style":
			if style := compactStyle(a.Val); strings.Contains(style, "display:") && !hidesContent(style) {
				return false
			}
		}
	}
	return hidden
}
