package xliff

import (
	"fmt"
	"regexp"
	"sort"
	"strings"

	"github.com/postrider/postrider/modules/templates/language"
)

// Parts are the texts of a template in one language. Empty ones are absent.
type Parts struct{ Subject, HTML, Text string }

// item is a text of a unit, as a reader sees it, or a code: a tag of the source.
type item struct {
	text       string
	isCode     bool
	start, end int // of a code in the source
}

// unit is a text that is translated as a whole.
type unit struct {
	id         string
	start, end int // in the source of the part
	items      []item
	encode     func(string) string // writes a text in the form of the part
}

func (u unit) codes() (n int) {
	for _, i := range u.items {
		if i.isCode {
			n++
		}
	}
	return n
}

// part is a text of a template, cut into units. Units are sorted by their beginning; those of attributes can be within
// codes of others.
type part struct {
	source string
	units  []unit
}

// document is a template, cut into units.
type document struct{ subject, html, text part }

// cut cuts the parts of a template into units.
func cut(p Parts) (d document, err error) {
	if d.subject, err = cutPlain("subject", p.Subject); err != nil {
		return d, err
	}
	if d.html, err = cutHTML(p.HTML); err != nil {
		return d, err
	}
	d.text, err = cutPlain("text", p.Text)
	return d, err
}

func (d document) parts() []part { return []part{d.subject, d.html, d.text} }

// mask replaces Liquid with as many underscores, so that positions stay.
func mask(source string) (string, []language.Span, error) {
	spans, err := language.Scan(source)
	if err != nil {
		return "", nil, fmt.Errorf("scan: %w", err)
	}
	b := []byte(source)
	for _, s := range spans {
		for i := s.Start; i < s.End; i++ {
			b[i] = '_'
		}
	}
	return string(b), spans, nil
}

// liquidWithWords are filters whose arguments are words of the language.
var liquidWithWords = regexp.MustCompile(`\|\s*(pluralize|default|append|prepend)\s*:\s*["']`)

// isTranslatable reports whether a text contains a letter outside of Liquid, or words in Liquid.
func isTranslatable(masked, source string) bool {
	return letter.MatchString(entity.ReplaceAllString(masked, " ")) || liquidWithWords.MatchString(source)
}

var (
	letter = regexp.MustCompile(`\p{L}`)
	entity = regexp.MustCompile(`&(?:#\w+|\w+);`)
)

// trim returns the range without white space at both ends.
func trim(source string, start, end int) (int, int) {
	text := source[start:end]
	start += len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	return start, max(start, end-(len(text)-len(strings.TrimRight(text, " \t\r\n"))))
}

// cutPlain cuts a plain text into lines. A subject is one line.
func cutPlain(name, source string) (part, error) {
	p := part{source: source}
	masked, _, err := mask(source)
	if err != nil {
		return p, err
	}
	for start := 0; start < len(masked); {
		end := start + strings.IndexByte(masked[start:]+"\n", '\n')
		if from, to := trim(masked, start, end); isTranslatable(masked[from:to], source[from:to]) {
			u := unit{id: name, start: from, end: to, items: []item{{text: source[from:to]}}, encode: encodePlain}
			if name == "text" {
				u.id = fmt.Sprintf("text-%d", len(p.units)+1)
			}
			p.units = append(p.units, u)
		}
		start = end + 1
	}
	return p, nil
}

// encodePlain keeps a translation on one line.
func encodePlain(text string) string { return strings.Join(strings.FieldsFunc(text, isLineBreak), " ") }

func isLineBreak(r rune) bool { return r == '\n' || r == '\r' }

// write returns the part with translations of units by ID. A unit without one keeps its text.
func (p part) write(translated map[string][]item) string {
	return p.writeRange(0, len(p.source), translated)
}

func (p part) writeRange(start, end int, translated map[string][]item) string {
	var b strings.Builder
	at := start
	first := sort.Search(len(p.units), func(i int) bool { return p.units[i].start >= start })
	for _, u := range p.units[first:] {
		if u.start >= end {
			break
		}
		items, found := translated[u.id]
		if !found || u.start < at || u.end > end {
			continue
		}
		b.WriteString(p.source[at:u.start])
		for _, i := range items {
			if i.isCode {
				b.WriteString(p.writeRange(i.start, i.end, translated))
			} else {
				b.WriteString(u.encode(i.text))
			}
		}
		at = u.end
	}
	b.WriteString(p.source[at:end])
	return b.String()
}
