package mime

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/mail/address"
)

// Line lengths without CRLF (RFC 5322 section 2.1.1, RFC 2047 section 2).
const (
	lineWidth = 76
	lineLimit = 998
)

// field begins a header field.
func (w *writer) field(name string) *writer {
	if !w.inBody {
		w.names = append(w.names, name)
	}
	w.b.WriteString(name)
	w.b.WriteByte(':')
	w.column = len(name) + 1
	w.fresh = true
	return w
}

// word adds white space and a word that cannot be broken. The line is folded
// before it where it would get too long, but a first line with nothing beside
// the name only where nothing else helps: some software drops such fields.
func (w *writer) word(space, word string) *writer {
	next := w.column + len(space) + len(word)
	if next > lineLimit || (next > lineWidth && !w.fresh) {
		w.fold()
	}
	w.b.WriteString(space)
	w.b.WriteString(word)
	w.column += len(space) + len(word)
	w.fresh = false
	return w
}

func (w *writer) fold() {
	w.b.WriteString("\r\n")
	w.column = 0
	w.fresh = false
}

func (w *writer) end() {
	w.b.WriteString("\r\n")
}

// addresses writes an address field, or nothing for an empty list.
func (w *writer) addresses(name string, list []address.Address) {
	if len(list) == 0 {
		return
	}
	w.field(name)
	for i, a := range list {
		spec := a.AddrSpec()
		if a.Name != "" {
			w.phrase(a.Name)
			spec = "<" + spec + ">"
		}
		if i < len(list)-1 {
			spec += ","
		}
		w.word(" ", spec)
	}
	w.end()
}

// phrase writes a display name: atoms, a quoted string, or encoded words for
// everything that neither of them can say plainly.
func (w *writer) phrase(name string) {
	if needsEncoding(name) || strings.Contains(name, "=?") {
		w.encoded(" ", name)
		return
	}
	atoms := strings.Split(name, " ")
	for _, atom := range atoms {
		if !isAtom(atom) {
			quoted := `"` + quoteEscaper.Replace(name) + `"`
			if len(quoted) > lineWidth-2 {
				w.encoded(" ", name)
				return
			}
			w.word(" ", quoted)
			return
		}
	}
	for _, atom := range atoms {
		w.word(" ", atom)
	}
}

var quoteEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// isAtom is atom of RFC 5322 section 3.2.3, ASCII only.
func isAtom(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// text writes an unstructured field. Words in plain ASCII stay as they are; from
// the first to the last that is not, everything becomes encoded words, so that
// the receiver sees each character and each space of the value.
func (w *writer) text(name, value string) {
	w.field(name)
	defer w.end()
	if value == "" {
		// RFC 5322 allows an empty value; the space keeps old parsers content.
		w.b.WriteByte(' ')
		return
	}
	if structured(name) && !needsEncoding(value) {
		w.plain(value, " ")
		return
	}
	cut := splitEncoded(value)
	w.plain(cut.before, " ")
	if cut.middle != "" {
		w.encoded(cut.space, cut.middle)
	}
	w.plain(cut.after, "")
}

// structured are the fields in which an encoded word has no place, also where
// something in a URL or an id looks like one.
func structured(name string) bool {
	switch lower := strings.ToLower(name); lower {
	case "in-reply-to", "references", "feedback-id":
		return true
	default:
		return strings.HasPrefix(lower, "list-")
	}
}

// cut is a value in three: plain text, text to encode after one character of
// white space, plain text with its white space in front.
type cut struct{ before, space, middle, after string }

// splitEncoded finds the first and the last word that need encoding. Of the white
// space around them one character stays outside, where every reader keeps it.
func splitEncoded(value string) cut {
	if trimSpace(value) != value {
		return cut{space: " ", middle: value}
	}
	first, last := -1, -1
	for start := 0; start < len(value); {
		end := start + strings.IndexAny(value[start:], " \t")
		if end < start {
			end = len(value)
		}
		if word := value[start:end]; needsEncoding(word) || strings.Contains(word, "=?") || len(word) >= lineLimit {
			if first < 0 {
				first = start
			}
			last = end
		}
		start = end + 1
	}
	if first < 0 {
		return cut{before: value}
	}
	before, after := value[:first], value[last:]
	c := cut{before: strings.TrimRight(before, " \t"), space: " ", after: after}
	if len(c.before) < len(before) {
		c.space = before[len(c.before) : len(c.before)+1]
		c.middle = before[len(c.before)+1:]
	}
	c.middle += value[first:last]
	if run := len(after) - len(strings.TrimLeft(after, " \t")); run > 1 {
		c.middle += after[:run-1]
		c.after = after[run-1:]
	}
	return c
}

// plain writes words with the white space that stands between them.
func (w *writer) plain(s, space string) {
	for s != "" {
		wordStart := len(s) - len(strings.TrimLeft(s, " \t"))
		if wordStart > 0 {
			space = s[:wordStart]
		}
		s = s[wordStart:]
		end := strings.IndexAny(s, " \t")
		if end < 0 {
			end = len(s)
		}
		w.word(space, s[:end])
		s = s[end:]
	}
}

// encoded writes text as encoded words (RFC 2047), each with whole characters,
// in whichever of the two encodings is shorter.
func (w *writer) encoded(space, text string) {
	const around = len("=?utf-8?q?") + len("?=")
	useQ := 3*qLength(text) <= 4*len(text)
	for text != "" {
		room := lineWidth - w.column - len(space) - around
		if room < 24 {
			w.fold()
			room = lineWidth - len(space) - around
		}
		room = min(room, 75-around)
		n := 0
		for n < len(text) {
			_, size := utf8.DecodeRuneInString(text[n:])
			length := (n + size + 2) / 3 * 4
			if useQ {
				length = qLength(text[:n+size])
			}
			if length > room {
				break
			}
			n += size
		}
		if useQ {
			w.word(space, "=?utf-8?q?"+qEncode(text[:n])+"?=")
		} else {
			w.word(space, "=?utf-8?b?"+base64.StdEncoding.EncodeToString([]byte(text[:n]))+"?=")
		}
		text = text[n:]
		space = " "
	}
}

// needsEncoding says that a word is not printable ASCII.
func needsEncoding(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] > '~' {
			return true
		}
	}
	return false
}

func trimSpace(s string) string { return strings.Trim(s, " \t") }
