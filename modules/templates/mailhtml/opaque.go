package mailhtml

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/postrider/postrider/modules/templates/language"
)

// opaqueSource is an HTML source whose Liquid is replaced with placeholder words, so that HTML tools can process it.
// To them, `{% if a < b %}` begins an element, and a loop around table rows is misplaced text.
type opaqueSource struct {
	source string
	stood  []string       // the text that each word replaces
	words  *regexp.Regexp // in every form that the HTML tools may produce
	prefix string
	// control is set if Liquid other than output appears inside <style>.
	control bool
}

// liquidPrefix begins the placeholder words, followed by as many q as make it unique.
const liquidPrefix = "zqliquid"

// hideLiquid replaces Liquid with words: with comments in text, where they are allowed anywhere, and with bare words
// inside tags, style and title.
func hideLiquid(source string) (*opaqueSource, error) {
	spans, err := language.Scan(source)
	if err != nil {
		return nil, err
	}
	o := &opaqueSource{prefix: liquidPrefix}
	for strings.Contains(strings.ToLower(source), o.prefix) {
		o.prefix += "q"
	}
	known := map[string]string{}
	var b strings.Builder
	at := 0
	for i := 0; i < len(spans); i++ {
		end := i + pairLength(source, spans[i:])
		b.WriteString(source[at:spans[i].Start])
		b.WriteString(o.wordFor(known, source[spans[i].Start:spans[end].End]))
		at, i = spans[end].End, end
	}
	b.WriteString(source[at:])
	o.words = regexp.MustCompile(`<!--` + o.prefix + `\d+z-->|` + o.prefix + `\d+z=""|` + o.prefix + `\d+z`)
	o.source = o.placeWords(b.String(), known)
	return o, nil
}

// pairLength returns the number of spans up to the end of a raw or comment block, whose content is ignored.
func pairLength(source string, spans []language.Span) int {
	name := tagName(source[spans[0].Start:spans[0].End])
	if name != "raw" && name != "comment" {
		return 0
	}
	for i, s := range spans {
		if tagName(source[s.Start:s.End]) == "end"+name {
			return i
		}
	}
	return 0
}

func tagName(tag string) string {
	if !strings.HasPrefix(tag, "{%") {
		return ""
	}
	inner := strings.TrimLeft(strings.TrimPrefix(tag[2:], "-"), " \t\r\n")
	end := strings.IndexFunc(inner, func(r rune) bool { return r == '-' || r == '%' || r <= ' ' })
	if end < 0 {
		return inner
	}
	return inner[:end]
}

// wordFor returns the word for a text. The same text always gets the same word.
func (o *opaqueSource) wordFor(known map[string]string, stands string) string {
	w, found := known[stands]
	if !found {
		w = fmt.Sprintf("%s%dz", o.prefix, len(o.stood))
		o.stood = append(o.stood, stands)
		known[stands] = w
	}
	return w
}

// rawText lists the elements whose entire content is text.
var rawText = []string{"iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "textarea",
	"title", "xmp"}

// placeWords writes each word in the form that its position requires.
func (o *opaqueSource) placeWords(source string, known map[string]string) string {
	z := html.NewTokenizer(strings.NewReader(source))
	var b strings.Builder
	raw := ""
	for {
		kind := z.Next()
		text := string(z.Raw())
		switch kind {
		case html.ErrorToken:
			b.WriteString(text)
			return b.String()
		case html.TextToken:
			if raw == "" {
				text = o.words.ReplaceAllString(text, "<!--$0-->")
			} else if raw == "style" && o.hasControl(text) {
				o.control = true
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			raw = ""
			if slices.Contains(rawText, string(name)) && kind == html.StartTagToken {
				raw = string(name)
			}
			text = o.separateWords(text)
		case html.EndTagToken:
			raw = ""
		case html.CommentToken:
			if !strings.HasPrefix(text, "<!--") { // the parser would return <![if !mso]> as a comment
				text = "<!--" + o.wordFor(known, o.restoreLiquid(text)) + "-->"
			}
		case html.DoctypeToken:
		}
		b.WriteString(text)
	}
}

func (o *opaqueSource) hasControl(text string) bool {
	return slices.ContainsFunc(o.words.FindAllString(text, -1),
		func(w string) bool { return strings.HasPrefix(o.restoreLiquid(w), "{%") })
}

// separateWords puts spaces around the words between a tag's attributes, so that a parser reads each as an attribute.
func (o *opaqueSource) separateWords(tag string) string {
	if !strings.Contains(tag, o.prefix) {
		return tag
	}
	var b strings.Builder
	quote := byte(0)
	inName := true
	for i := 0; i < len(tag); {
		c := tag[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case inName:
			inName = c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '/'
		case c == '"' || c == '\'':
			quote = c
		case strings.HasPrefix(tag[i:], o.prefix):
			word := o.words.FindString(tag[i:])
			b.WriteString(" " + strings.TrimSuffix(word, `=""`) + " ")
			i += len(strings.TrimSuffix(word, `=""`))
			continue
		}
		b.WriteByte(c)
		i++
	}
	return b.String()
}

// restoreLiquid restores the Liquid.
func (o *opaqueSource) restoreLiquid(text string) string {
	return o.words.ReplaceAllStringFunc(text, func(found string) string {
		var i int
		digits := strings.TrimPrefix(strings.TrimPrefix(found, "<!--"), o.prefix)
		if _, err := fmt.Sscanf(digits, "%d", &i); err != nil || i >= len(o.stood) {
			return found
		}
		return o.stood[i]
	})
}
