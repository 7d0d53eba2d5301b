package language

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/currency"
)

// refusal returns why a filter cannot be used with its arguments, as far as they are literals, or "" if it can.
func (f filterUse) refusal() string {
	literal, isLiteral := f.literal()
	switch f.name {
	case "money":
		if len(f.arguments) == 0 {
			return errCurrency.Error()
		}
		if _, err := currency.ParseISO(literal); isLiteral && (err != nil || len(literal) != 3) {
			return errCurrency.Error()
		}
	case "datetime":
		if isLiteral && !slices.Contains(dateStyles, literal) {
			return errStyle.Error()
		}
	case "pluralize":
		return f.pluralRefusal()
	}
	return ""
}

// literal returns the text of the first argument, if the argument is the only one and a quoted text.
func (f filterUse) literal() (string, bool) {
	if a := f.arguments; len(a) == 2 && a[0] == (token{tokenSymbol, ":"}) || len(a) == 1 {
		last := a[len(a)-1]
		return last.text, last.kind == tokenString
	}
	return "", false
}

func (f filterUse) pluralRefusal() string {
	for _, t := range f.arguments {
		if _, known := pluralCategories[t.text]; t.kind == tokenKeyword && !known {
			return fmt.Sprintf("has no further plural category %s; the categories are %s", t.text,
				strings.Join(slices.Sorted(maps.Keys(pluralCategories)), ", "))
		}
	}
	return ""
}

// checkMarkdownPlaces returns an error if an output with the filter markdown is not in the text of an element. There,
// its markup would be read as attributes or code.
func checkMarkdownPlaces(source string, spans []Span) error {
	var b strings.Builder
	at := 0
	for i, s := range spans {
		b.WriteString(source[at:s.Start])
		if at = s.End; usesMarkdown(source[s.Start:s.End]) {
			fmt.Fprintf(&b, "zqmarkdown%dz", i)
		}
	}
	b.WriteString(source[at:])
	z := html.NewTokenizer(strings.NewReader(b.String()))
	isCode := false
	for {
		kind := z.Next()
		if kind != html.TextToken || isCode {
			if i := markdownSpan(z.Raw()); i >= 0 && i < len(spans) {
				start := spans[i].Start
				return &problem{line: 1 + strings.Count(source[:start], "\n"), column: columnOf(source, start),
					text: "markdown must be in the text of an element, not in a tag, a comment, style or title"}
			}
		}
		switch kind {
		case html.ErrorToken:
			return nil
		case html.StartTagToken:
			name, _ := z.TagName()
			isCode = slices.Contains(codeElements, string(name))
		case html.EndTagToken:
			isCode = false
		case html.TextToken, html.SelfClosingTagToken, html.CommentToken, html.DoctypeToken:
		}
	}
}

var markdownWord = regexp.MustCompile(`zqmarkdown(\d+)z`)

// markdownSpan returns the number of the output that a word replaces, or -1 if there is none.
func markdownSpan(raw []byte) int {
	if found := markdownWord.FindSubmatch(raw); found != nil {
		if i, err := strconv.Atoi(string(found[1])); err == nil {
			return i
		}
	}
	return -1
}

// codeElements are the elements whose content is not markup.
var codeElements = []string{"iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "textarea",
	"title", "xmp"}

// usesMarkdown reports whether a tag is an output with the filter markdown.
func usesMarkdown(tag string) bool {
	if !strings.HasPrefix(tag, "{{") || !strings.Contains(tag, markdown) {
		return false
	}
	u, ok := parseUsage(strings.Trim(tag, "{}-"), false)
	return ok && slices.ContainsFunc(u.filters, func(f filterUse) bool { return f.name == markdown })
}
