package language

import (
	"fmt"
	"strings"
)

// A problem is what is wrong in a source, with its line for the author.
type problem struct {
	line int
	text string
}

func (p *problem) Error() string { return fmt.Sprintf("line %d: %s", p.line, p.text) }

// Span is one {{ }} or {% %} of a source.
type Span struct {
	Start, End int // with its braces
}

// Scan returns the tags of a source, in their order. The error is a sentence for the author:
// Scan refuses text that the author surely meant as a tag, as `{{ name` without an end. The
// scanner of the library is a regular expression that looks for the end of a tag behind
// every beginning of one, which takes quadratic time for a source without ends. Scan takes
// linear time.
func Scan(source string) ([]Span, error) {
	var spans []Span
	at, line := 0, 1
	for {
		open := nextOpening(source[at:])
		if open < 0 {
			return spans, nil
		}
		line += strings.Count(source[at:at+open], "\n")
		at += open
		if len(spans) == maxTags {
			return nil, &problem{line, fmt.Sprintf("there are more than %d tags", maxTags)}
		}
		object := source[at+1] == '{'
		closing := "%}"
		if object {
			closing = "}}"
		}
		length := strings.Index(source[at+2:min(len(source), at+2+maxExpression)], closing)
		if length < 0 {
			return nil, &problem{line, unclosed(source[at:], closing)}
		}
		inner := source[at+2 : at+2+length]
		if reason := misplaced(inner, object); reason != "" {
			return nil, &problem{line, reason}
		}
		end := at + 2 + length + 2
		spans = append(spans, Span{Start: at, End: end})
		line += strings.Count(source[at:end], "\n")
		at = end
	}
}

// nextOpening finds {{ or {%.
func nextOpening(s string) int {
	for from := 0; ; {
		brace := strings.IndexByte(s[from:], '{')
		if brace < 0 || from+brace+1 >= len(s) {
			return -1
		}
		brace += from
		if s[brace+1] == '{' || s[brace+1] == '%' {
			return brace
		}
		from = brace + 1
	}
}

func unclosed(rest, closing string) string {
	if strings.Contains(rest, closing) {
		return fmt.Sprintf("%s … %s is longer than %d characters, or %s is missing", rest[:2], closing, maxExpression, closing)
	}
	return fmt.Sprintf("%s has no %s", rest[:2], closing)
}

// misplaced judges what stands between the braces.
func misplaced(inner string, object bool) string {
	text := strings.Trim(inner, " \t\r\n\f\v")
	text = strings.Trim(strings.TrimSuffix(strings.TrimPrefix(text, "-"), "-"), " \t\r\n\f\v")
	switch {
	case strings.Contains(inner, "{{"), strings.Contains(inner, "{%"):
		return "a tag begins inside another one: }} or %} is missing"
	case text == "":
		return "a tag is empty"
	case object && strings.Contains(text, "\n"):
		return "{{ … }} has a line break inside"
	case !object && strings.HasSuffix(text, "%"):
		return "{% … %} ends with one % too many"
	case !object && !startsWithWord(text):
		return "{% must be followed by the name of a tag"
	}
	return ""
}

// startsWithWord holds a tag against what the library takes for one: a word, and
// white space behind it.
func startsWithWord(text string) bool {
	word := strings.IndexFunc(text, func(r rune) bool {
		return !(r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	})
	return word < 0 || word > 0 && strings.ContainsRune(" \t\r\n\f", rune(text[word]))
}
