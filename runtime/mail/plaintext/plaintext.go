// Package plaintext creates the text part of a message from its HTML, for readers that show text. It
// processes HTML token by token without building a tree: time and memory are proportional to the length of
// the HTML.
//
// Words keep their order, white space becomes one space, blocks start a new line and paragraphs are
// separated by blank lines. A link is followed by its target in parentheses, a list item starts with a
// dash, and an image becomes its alternative text. Content that browsers do not show is omitted: elements that
// are hidden by an attribute, their own style or a rule of a style sheet for one class or id, text without size, and
// padding with invisible characters. Other rules of style sheets are not read.
package plaintext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// FromHTML returns the text of HTML, without leading or trailing white space.
func FromHTML(source string) string {
	w := &writer{}
	w.out.Grow(len(source) / 2)
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		switch z.Next() {
		case html.ErrorToken: // the end: no other error is possible
			return strings.TrimSpace(w.out.String())
		case html.TextToken:
			if w.inStyle {
				w.sheet.read(string(z.Text()))
				continue
			}
			w.writeText(string(z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			w.startElement(z.Token())
		case html.EndTagToken:
			name, _ := z.TagName()
			w.endElement(atom.Lookup(name))
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

// unseen lists the elements that a browser does not show.
var unseen = map[atom.Atom]bool{atom.Head: true, atom.Script: true, atom.Style: true, atom.Title: true,
	atom.Template: true, atom.Noscript: true,
	atom.Iframe: true, atom.Object: true, atom.Select: true, atom.Textarea: true}

// gap is the minimum number of line breaks before and after an element.
var gap = map[atom.Atom]int{
	atom.P: 2, atom.H1: 2, atom.H2: 2, atom.H3: 2, atom.H4: 2, atom.H5: 2, atom.H6: 2, atom.Table: 2, atom.Ul: 2,
	atom.Ol: 2, atom.Blockquote: 2, atom.Pre: 2,
	atom.Div: 1, atom.Tr: 1, atom.Li: 1, atom.Section: 1, atom.Article: 1, atom.Header: 1, atom.Footer: 1, atom.Main: 1,
	atom.Center: 1, atom.Dl: 2, atom.Dt: 1, atom.Dd: 1, atom.Address: 1, atom.Aside: 1, atom.Nav: 1, atom.Details: 1,
	atom.Summary: 1, atom.Figure: 1, atom.Figcaption: 1, atom.Form: 1, atom.Fieldset: 1, atom.Legend: 1,
}

// writer builds the text.
type writer struct {
	out    strings.Builder
	breaks int  // wanted before the next word
	space  bool // wanted before the next word
	begun  bool // a word was written

	hidden  atom.Atom // an element that is never shown, until it ends
	inStyle bool
	sheet   sheet
	frames  frames
	unseen  bool   // whether the frames hide the text
	href    string // of the open link
	label   strings.Builder
	pre     int
}

// hidesItself reports whether an element without content, such as an image, is hidden.
func (w *writer) hidesItself(t html.Token) bool {
	return void[t.DataAtom] && frameOf(t, w.sheet).hidden
}

func (w *writer) startElement(t html.Token) {
	w.inStyle = t.DataAtom == atom.Style
	if w.hidden != 0 {
		return
	}
	if unseen[t.DataAtom] && t.Type == html.StartTagToken {
		w.hidden = t.DataAtom
		return
	}
	w.frames = w.frames.openElement(t, w.sheet)
	if w.unseen = w.frames.hidesText(); w.unseen || w.hidesItself(t) {
		return
	}
	w.breaks = max(w.breaks, gap[t.DataAtom])
	switch t.DataAtom {
	case atom.Br:
		w.breaks = min(w.breaks+1, 2)
	case atom.Td, atom.Th:
		w.space = true
	case atom.Li:
		w.writeWord("- ")
	case atom.Hr:
		w.breaks = max(w.breaks, 1)
		w.writeWord("---")
		w.breaks = 1
	case atom.Pre:
		w.pre++
	case atom.Img:
		w.writeText(attributeValue(t, "alt"))
	case atom.A:
		w.closeLink()
		w.href = linkTarget(attributeValue(t, "href"))
	}
}

func (w *writer) endElement(name atom.Atom) {
	w.inStyle = false
	switch {
	case w.hidden == name:
		w.hidden = 0
		return
	case w.hidden != 0:
		return
	}
	before := w.unseen
	w.frames = w.frames.closeElement(name)
	if w.unseen = w.frames.hidesText(); before {
		return
	}
	switch name {
	case atom.A:
		w.closeLink()
	case atom.Pre:
		w.pre = max(w.pre-1, 0)
	}
	w.breaks = max(w.breaks, gap[name])
}

// writeText writes the words of a text, if it is visible.
func (w *writer) writeText(s string) {
	switch {
	case w.hidden != 0 || w.unseen || s == "":
		return
	case w.pre > 0:
		for i, line := range strings.Split(s, "\n") {
			if i > 0 {
				w.breaks = min(w.breaks+1, 2)
			}
			if strings.TrimSpace(line) != "" {
				w.writeWord(strings.TrimRight(line, " \t\r"))
			}
		}
		return
	}
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	w.space = w.space || unicode.IsSpace(first)
	for i, word := range strings.Fields(s) {
		w.space = w.space || i > 0
		if word = trimPadding(word); word != "" {
			w.writeWord(word)
		}
	}
	w.space = w.space || unicode.IsSpace(last)
}

// writeWord writes a word after the pending gap.
func (w *writer) writeWord(s string) {
	switch {
	case !w.begun:
	case w.breaks > 0:
		w.out.WriteString("\n\n"[:w.breaks])
	case w.space && !strings.HasSuffix(w.tailText(), " "):
		w.out.WriteByte(' ')
	}
	w.begun, w.breaks, w.space = true, 0, false
	w.out.WriteString(s)
	if w.href != "" {
		w.label.WriteString(s)
	}
}

// tailText returns the last byte written.
func (w *writer) tailText() string {
	s := w.out.String()
	return s[max(len(s)-1, 0):]
}

// closeLink writes the target of a link, unless its text already is the target.
func (w *writer) closeLink() {
	href, label := w.href, w.label.String()
	w.href = ""
	w.label.Reset()
	if href == "" || label == href || label == strings.TrimPrefix(strings.TrimPrefix(href, "https://"), "http://") {
		return
	}
	w.space = label != ""
	w.writeWord("(" + href + ")")
}

// linkTarget returns the address of a link, if it is useful to a reader of text.
func linkTarget(href string) string {
	href = strings.TrimSpace(href)
	lower := strings.ToLower(href)
	switch {
	case strings.HasPrefix(lower, "mailto:"):
		href, _, _ = strings.Cut(href[len("mailto:"):], "?")
		return href
	case strings.HasPrefix(lower, "http://"), strings.HasPrefix(lower, "https://"), strings.HasPrefix(lower, "tel:"):
		return strings.Join(strings.Fields(href), "")
	}
	return ""
}

func attributeValue(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
