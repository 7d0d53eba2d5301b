package plaintext

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// frame is an open element that changes whether its text is shown.
type frame struct {
	name   atom.Atom
	nested int // elements of the same name that are open inside it
	hidden bool
	zero   bool // its text has no size, unless an element inside sets one
	sized  bool // it sets the size of its text
}

// maxFrames bounds the frames. More elements that hide text are never nested.
const maxFrames = 100

// frames are the open elements that change whether text is shown, outermost first.
type frames []frame

// openElement adds a start tag.
func (f frames) openElement(t html.Token, s sheet) frames {
	if n := len(f); n > 0 && f[n-1].name == atom.P && gap[t.DataAtom] > 0 {
		f = f[:n-1] // a block ends a paragraph
	}
	if t.Type == html.SelfClosingTagToken || void[t.DataAtom] {
		return f
	}
	next := frameOf(t, s)
	if (next.hidden || next.sized) && len(f) < maxFrames {
		return append(f, next)
	}
	if i := f.findInnermost(t.DataAtom); i >= 0 {
		f[i].nested++
	}
	return f
}

// closeElement removes the frames that an end tag closes.
func (f frames) closeElement(name atom.Atom) frames {
	i := f.findInnermost(name)
	switch {
	case i < 0:
		return f
	case f[i].nested > 0:
		f[i].nested--
		return f
	}
	return f[:i]
}

func (f frames) findInnermost(name atom.Atom) int {
	for i := len(f) - 1; i >= 0; i-- {
		if f[i].name == name {
			return i
		}
	}
	return -1
}

// hidesText reports whether text is not shown.
func (f frames) hidesText() bool {
	zero := false
	for _, frame := range f {
		if frame.hidden {
			return true
		}
		if frame.sized {
			zero = frame.zero
		}
	}
	return zero
}

// void lists the elements without an end tag.
var void = map[atom.Atom]bool{atom.Area: true, atom.Base: true, atom.Br: true, atom.Col: true, atom.Embed: true,
	atom.Hr: true, atom.Img: true,
	atom.Input: true, atom.Link: true, atom.Meta: true, atom.Source: true, atom.Track: true, atom.Wbr: true}

var (
	hidingStyle = regexp.MustCompile(`(?:^|;)(?:mso-hide:all|opacity:0*\.?0+|max-(?:height|width):0(?:px|em|pt|%)?|(?:left|top|text-indent):-[0-9]{4,}(?:px)?)(?:!important)?(?:;|$)`)
	noSize      = regexp.MustCompile(`(?:^|;)(?:height|width):0(?:px|em|pt|%)?(?:!important)?(?:;|$)`)
	fontSize    = regexp.MustCompile(`(?:^|;)font-size:([^;]*)`)
	zeroSize    = regexp.MustCompile(`^(?:0*\.?0*(?:px|em|rem|pt|%)?|0*\.[0-9]+(?:px|pt))(?:!important)?$`)
)

// frameOf returns how a start tag affects its text. React Email marks its preview text with data-skip-in-text.
func frameOf(t html.Token, s sheet) frame {
	f := frame{name: t.DataAtom, hidden: s.hidesElement(t)}
	for _, a := range t.Attr {
		switch a.Key {
		case "hidden":
			f.hidden = true
		case "aria-hidden", "data-skip-in-text":
			f.hidden = f.hidden || strings.EqualFold(strings.TrimSpace(a.Val), "true")
		case "style":
			style := compactStyle(a.Val)
			f.hidden = f.hidden || hidesContent(style)
			if size := fontSize.FindStringSubmatch(style); size != nil {
				f.sized, f.zero = true, zeroSize.MatchString(size[1])
			}
		}
	}
	return f
}

// hidesContent reports whether a compact style hides the content of an element.
func hidesContent(style string) bool {
	return valueOf(style, "display") == "none" || valueOf(style, "visibility") == "hidden" || hidingStyle.MatchString(style) || strings.Contains(style, "overflow:hidden") && noSize.MatchString(style)
}

// valueOf returns the value that applies of a property in a compact style: the last important one, or else the last.
func valueOf(style, property string) (value string) {
	isImportant := false
	for declaration := range strings.SplitSeq(style, ";") {
		given, found := strings.CutPrefix(declaration, property+":")
		given, important := strings.CutSuffix(given, "!important")
		if found && (important || !isImportant) {
			value, isImportant = given, important
		}
	}
	return value
}

// maxStyle bounds how much of a style is read.
const maxStyle = 10_000

// compactStyle returns a style in lower case without white space.
func compactStyle(style string) string {
	return strings.ToLower(strings.Join(strings.Fields(style[:min(len(style), maxStyle)]), ""))
}

// trimPadding removes zero-width characters from the end of a word, or the whole word if it consists of them.
// Templates pad their preview text with such characters. One or two are kept, because some scripts end words
// with them.
func trimPadding(word string) string {
	const most = 2
	trimmed := strings.TrimRightFunc(word, isInvisible)
	if trimmed == "" || utf8.RuneCountInString(word[len(trimmed):]) > most {
		return trimmed
	}
	return word
}

// isInvisible reports whether a character has no width.
func isInvisible(r rune) bool {
	return r == 0xAD || r == 0x34F || r == 0x61C || r == 0x180E || r >= 0x200B && r <= 0x200F ||
		r >= 0x2060 && r <= 0x2064 || r == 0xFEFF
}
