package plaintext

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Snippet returns the first characters of a body on one line, for lists: of the text, or of the HTML if
// there is no text. The HTML may be truncated anywhere. Tags are removed, white space becomes one space,
// and characters that are invisible or change the direction of text are dropped, because mail is padded
// with them.
func Snippet(text, source string, most int) string {
	line := &line{most: most}
	for row := range strings.Lines(text) {
		if strings.ContainsFunc(row, isTextual) {
			line.writeText(row)
		}
	}
	if line.out.Len() == 0 && source != "" {
		line.writeHTML(source)
	}
	return line.out.String()
}

// isTextual reports whether a character is part of a word or an emoji, as opposed to line drawing.
func isTextual(c rune) bool {
	return unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.Is(unicode.So, c) && !('\u2500' <= c && c <= '\u259f')
}

// line collects characters until it is full.
type line struct {
	out   strings.Builder
	n     int // characters
	most  int
	space bool // wanted before the next character
	joint rune // likewise, if no space is pending
}

func (l *line) isFull() bool { return l.n >= l.most }

// writeHTML writes what a browser shows. It builds no tree: memory is limited by the line.
func (l *line) writeHTML(source string) {
	z := html.NewTokenizer(strings.NewReader(source))
	var hidden atom.Atom
	for !l.isFull() {
		kind := z.Next()
		switch kind {
		case html.ErrorToken: // the end, possibly within a tag
			return
		case html.TextToken:
			if hidden == 0 {
				l.writeText(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			tag, _ := z.TagName()
			name := atom.Lookup(tag)
			switch {
			case hidden == name && kind == html.EndTagToken, hidden == atom.Head && name == atom.Body:
				hidden = 0
			case hidden == 0 && kind == html.StartTagToken && unseen[name]:
				hidden = name
			case gap[name] > 0 || name == atom.Br || name == atom.Td || name == atom.Th:
				l.space = true
			}
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

// Characters that join their neighbors: in emoji, and in words in Persian or Hindi.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
	grapheme  = '\u034f' // always invisible
)

func (l *line) writeText(s string) {
	for _, c := range s {
		if l.isFull() {
			return
		}
		switch {
		case unicode.IsSpace(c):
			l.space, l.joint = true, 0
		case c == joiner || c == nonJoiner:
			l.joint = c
		case unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) || c == grapheme ||
			c == unicode.ReplacementChar:
		default:
			l.writeVisible(c)
		}
	}
}

// writeVisible writes a character after the pending space or joiner.
func (l *line) writeVisible(c rune) {
	if before := l.pendingRune(); before != 0 && l.n > 0 {
		if l.n++; l.isFull() { // the line is full after it
			return
		}
		l.out.WriteRune(before)
	}
	l.out.WriteRune(c)
	l.n++
	l.space, l.joint = false, 0
}

func (l *line) pendingRune() rune {
	if l.space {
		return ' '
	}
	return l.joint
}
