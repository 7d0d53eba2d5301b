package language

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// problem is an error in a source, with its position, for the author.
type problem struct {
	line   int
	text   string
	column int    // in characters, starting at 1; 0 if unknown
	near   string // a part of the tag with the error

	component string // such as "layout base"; empty: the source itself
}

func (p *problem) Error() string {
	place := Place{Component: p.component, Line: p.line}.String()
	if p.column == 0 {
		return fmt.Sprintf("%s: %s", place, p.text)
	}
	return fmt.Sprintf("%s, column %d: %s", place, p.column, p.text)
}

// locate adds the column of the tag to a problem of which only the line is known: the first tag of the line that
// contains the text of the problem, or the first tag.
func (p *problem) locate(source string, spans []Span) *problem {
	line, counted, found := 1, 0, -1
	for _, span := range spans {
		line += strings.Count(source[counted:span.Start], "\n")
		counted = span.Start
		if line > p.line {
			break
		}
		if line == p.line && (found < 0 || strings.Contains(source[span.Start:span.End], p.near)) {
			found = span.Start
			if strings.Contains(source[span.Start:span.End], p.near) {
				break
			}
		}
	}
	if found >= 0 && p.column == 0 {
		p.column = columnOf(source, found)
	}
	return p
}

// lookalikes are characters that editors insert into a tag in place of ASCII characters, where Liquid cannot
// read them.
var lookalikes = map[rune]string{'\u201c': "quotation mark", '\u201d': "quotation mark", '\u201e': "quotation mark",
	'\u2018': "quotation mark", '\u2019': "quotation mark", '\u201a': "quotation mark", '\u00ab': "quotation mark",
	'\u00bb': "quotation mark", '\u2013': "hyphen", '\u2014': "hyphen", '\u2212': "hyphen"}

// findLookalike returns the position and the description of the first such character in a tag, outside quoted
// text. The position is -1 if there is none.
func findLookalike(tag string) (at int, about string) {
	var quote rune
	for i, r := range tag {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r > unicode.MaxASCII && unicode.IsSpace(r), unicode.Is(unicode.Cf, r):
			return i, fmt.Sprintf("the tag contains U+%04X: use an ordinary space", r)
		case lookalikes[r] != "":
			return i, fmt.Sprintf("the tag contains U+%04X (%c): use an ASCII %s", r, r, lookalikes[r])
		}
	}
	return -1, ""
}

// columnOf returns the column of a position in the source, in characters, starting at 1.
func columnOf(source string, at int) int {
	return utf8.RuneCountInString(source[strings.LastIndexByte(source[:at], '\n')+1:at]) + 1
}

// Span is one {{ }} or {% %} tag in a source.
type Span struct {
	Start, End int // including the braces
}

// Scan returns the tags of a source, in order. The error is a sentence for the author: Scan rejects text that
// is almost certainly a broken tag, such as `{{ name` without an end. The library's scanner is a regular
// expression that searches for an end after every start, which takes quadratic time if there are no ends. Scan
// takes linear time.
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
			return nil, &problem{line: line, column: columnOf(source, at),
				text: fmt.Sprintf("there are more than %d tags", maxTags)}
		}
		object := source[at+1] == '{'
		closing := "%}"
		if object {
			closing = "}}"
		}
		length := strings.Index(source[at+2:min(len(source), at+2+maxExpression)], closing)
		if length < 0 {
			return nil, &problem{line: line, column: columnOf(source, at), text: explainUnclosed(source[at:], closing)}
		}
		inner := source[at+2 : at+2+length]
		if reason := checkInner(inner, object); reason != "" {
			return nil, &problem{line: line, column: columnOf(source, at), text: reason}
		}
		if i, about := findLookalike(inner); i >= 0 {
			i += at + 2
			return nil, &problem{line: line + strings.Count(source[at:i], "\n"), column: columnOf(source, i),
				text: about}
		}
		end := at + 2 + length + 2
		spans = append(spans, Span{Start: at, End: end})
		line += strings.Count(source[at:end], "\n")
		at = end
	}
}

// nextOpening finds the next {{ or {%.
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

func explainUnclosed(rest, closing string) string {
	if strings.Contains(rest, closing) {
		return fmt.Sprintf("%s … %s is longer than %d characters, or %s is missing", rest[:2], closing,
			maxExpression, closing)
	}
	return fmt.Sprintf("%s has no %s", rest[:2], closing)
}

// checkInner checks the text between the braces.
func checkInner(inner string, object bool) string {
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
		return "{% … %} ends with an extra %"
	case !object && !startsWithWord(text):
		return "{% must be followed by the name of a tag"
	}
	return ""
}

// startsWithWord reports whether the library treats the text as a tag: a word followed by white space.
func startsWithWord(text string) bool {
	word := strings.IndexFunc(text, func(r rune) bool {
		return !(r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	})
	return word < 0 || word > 0 && strings.ContainsRune(" \t\r\n\f", rune(text[word]))
}
