package plaintext

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Snippet gives the first characters of a body on one line, as a list shows them: of the text, or of
// the HTML where there is none. HTML may be cut anywhere. Tags are gone, white space is one space, and
// what shows nothing or turns the direction of writing is left out: mail is padded with it.
func Snippet(text, source string, most int) string {
	line := &line{most: most}
	for row := range strings.Lines(text) {
		if strings.ContainsFunc(row, speaks) {
			line.write(row)
		}
	}
	if line.out.Len() == 0 && source != "" {
		line.html(source)
	}
	return line.out.String()
}

// speaks tells a character of words, and of pictures, from those that lines are drawn with.
func speaks(c rune) bool {
	return unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.Is(unicode.So, c) && !('\u2500' <= c && c <= '\u259f')
}

// line takes characters until it is full.
type line struct {
	out   strings.Builder
	n     int // characters
	most  int
	space bool // wanted before the next character
	joint rune // likewise, where no space is
}

func (l *line) full() bool { return l.n >= l.most }

// html writes what a browser shows. It builds no tree: memory grows with the line alone.
func (l *line) html(source string) {
	z := html.NewTokenizer(strings.NewReader(source))
	var hidden atom.Atom
	for !l.full() {
		kind := z.Next()
		switch kind {
		case html.ErrorToken: // the end, also within a tag
			return
		case html.TextToken:
			if hidden == 0 {
				l.write(string(z.Text()))
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

// Characters that join their neighbours: of emoji, and of words in Persian or Hindi.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
	grapheme  = '\u034f' // shows nothing anywhere
)

func (l *line) write(s string) {
	for _, c := range s {
		if l.full() {
			return
		}
		switch {
		case unicode.IsSpace(c):
			l.space, l.joint = true, 0
		case c == joiner || c == nonJoiner:
			l.joint = c
		case unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) || c == grapheme || c == unicode.ReplacementChar:
		default:
			l.visible(c)
		}
	}
}

// visible writes a character behind the space or the joint that is wanted.
func (l *line) visible(c rune) {
	if before := l.before(); before != 0 && l.n > 0 {
		if l.n++; l.full() { // no room behind it
			return
		}
		l.out.WriteRune(before)
	}
	l.out.WriteRune(c)
	l.n++
	l.space, l.joint = false, 0
}

func (l *line) before() rune {
	if l.space {
		return ' '
	}
	return l.joint
}
