package xliff

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"golang.org/x/net/html"

	"github.com/postrider/postrider/modules/templates/language"
)

// inlineTags are the elements within a sentence.
var inlineTags = []string{"a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "del", "dfn", "em",
	"font", "i", "img", "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt",
	"u", "var", "wbr"}

// unreadTags are the elements whose content is not read by people.
var unreadTags = []string{"script", "style", "noembed", "noframes", "iframe", "textarea", "xmp", "plaintext"}

var wordAttribute = regexp.MustCompile(`(?is)\s(?:alt|title|aria-label)\s*=\s*("[^"]*"|'[^']*')`)

// htmlCutter cuts HTML into units.
type htmlCutter struct {
	part
	masked string
	spans  []language.Span
	run    []item // of the unit that is being read; texts have positions only
	inside []unit // attributes within the run
}

func cutHTML(source string) (part, error) {
	masked, spans, err := mask(source)
	if err != nil {
		return part{}, err
	}
	c := &htmlCutter{part: part{source: source}, masked: masked, spans: spans}
	z := html.NewTokenizer(strings.NewReader(masked))
	unread := ""
	for at := 0; ; {
		kind := z.Next()
		start, end := at, at+len(z.Raw())
		at = end
		switch kind {
		case html.ErrorToken:
			c.endRun()
			for i := range c.units {
				c.units[i].id = fmt.Sprintf("html-%d", i+1)
			}
			return c.part, nil
		case html.TextToken:
			if unread == "" {
				c.run = append(c.run, item{start: start, end: end})
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			unread = ""
			if kind == html.StartTagToken && slices.Contains(unreadTags, string(name)) {
				unread = string(name)
			}
			if slices.Contains(inlineTags, string(name)) {
				c.run = append(c.run, item{isCode: true, start: start, end: end})
			} else {
				c.endRun()
			}
			c.addAttributes(start, end)
			if !slices.Contains(inlineTags, string(name)) {
				c.endRun()
			}
		case html.CommentToken, html.DoctypeToken:
			c.endRun()
		}
	}
}

// addAttributes adds a unit for each attribute with words. Those of inline tags come after the unit with the tag.
func (c *htmlCutter) addAttributes(start, end int) {
	for _, m := range wordAttribute.FindAllStringSubmatchIndex(c.masked[start:end], -1) {
		from, to := start+m[2]+1, start+m[3]-1
		if isTranslatable(c.masked[from:to], c.source[from:to]) {
			c.inside = append(c.inside, unit{start: from, end: to, items: []item{{text: c.decode(from, to)}},
				encode: encodeHTML})
		}
	}
}

// endRun ends the unit that is being read.
func (c *htmlCutter) endRun() {
	run, inside := c.run, c.inside
	c.run, c.inside = nil, nil
	if len(run) > 0 {
		start, end := trim(c.masked, run[0].start, run[len(run)-1].end)
		u := unit{start: start, end: end, encode: encodeHTML}
		words := false
		for _, i := range run {
			if i.isCode {
				u.items = append(u.items, i)
				continue
			}
			from, to := max(i.start, start), min(i.end, end)
			if from >= to {
				continue
			}
			words = words || isTranslatable(c.masked[from:to], c.source[from:to])
			u.items = append(u.items, item{text: c.decode(from, to)})
		}
		if words {
			c.units = append(c.units, u)
		}
	}
	c.units = append(c.units, inside...)
}

// decode returns a text without references to characters, except in Liquid.
func (c *htmlCutter) decode(start, end int) string {
	var b strings.Builder
	at := start
	first := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].Start >= start })
	for _, s := range c.spans[first:] {
		if s.End > end {
			break
		}
		b.WriteString(html.UnescapeString(c.source[at:s.Start]))
		b.WriteString(c.source[s.Start:s.End])
		at = s.End
	}
	b.WriteString(html.UnescapeString(c.source[at:end]))
	return b.String()
}

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\u00a0", "&nbsp;")

// encodeHTML writes a text as HTML, except for Liquid, which was scanned before.
func encodeHTML(text string) string {
	spans, err := language.Scan(text)
	if err != nil {
		return escapes.Replace(text)
	}
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(escapes.Replace(text[at:s.Start]))
		b.WriteString(text[s.Start:s.End])
		at = s.End
	}
	b.WriteString(escapes.Replace(text[at:]))
	return b.String()
}
