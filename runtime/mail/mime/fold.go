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

// beginField starts a header field.
func (w *writer) beginField(name string) *writer {
	if !w.inBody {
		w.names = append(w.names, name)
	}
	w.b.WriteString(name)
	w.b.WriteByte(':')
	w.column = len(name) + 1
	w.fresh = true
	return w
}

// writeWord writes white space and a word that cannot be broken. It folds the line before the word if the
// line would get too long. It avoids a first line that contains only the field's name if possible, because
// some software drops such fields.
func (w *writer) writeWord(space, word string) *writer {
	next := w.column + len(space) + len(word)
	if next > lineLimit || (next > lineWidth && !w.fresh) {
		w.foldLine()
	}
	w.b.WriteString(space)
	w.b.WriteString(word)
	w.column += len(space) + len(word)
	w.fresh = false
	return w
}

func (w *writer) foldLine() {
	w.b.WriteString("\r\n")
	w.column = 0
	w.fresh = false
}

func (w *writer) endLine() {
	w.b.WriteString("\r\n")
}

// writeAddresses writes an address field, or nothing for an empty list.
func (w *writer) writeAddresses(name string, list []address.Address) {
	if len(list) == 0 {
		return
	}
	w.beginField(name)
	for i, a := range list {
		spec := a.AddrSpec()
		if a.Name != "" {
			w.writePhrase(a.Name)
			spec = "<" + spec + ">"
		}
		if i < len(list)-1 {
			spec += ","
		}
		w.writeWord(" ", spec)
	}
	w.endLine()
}

// writePhrase writes a display name: as atoms, a quoted string, or encoded words if it can be neither.
func (w *writer) writePhrase(name string) {
	if needsEncoding(name) || strings.Contains(name, "=?") {
		w.writeEncoded(" ", name)
		return
	}
	atoms := strings.Split(name, " ")
	for _, atom := range atoms {
		if !isAtom(atom) {
			quoted := `"` + quoteEscaper.Replace(name) + `"`
			if len(quoted) > lineWidth-2 {
				w.writeEncoded(" ", name)
				return
			}
			w.writeWord(" ", quoted)
			return
		}
	}
	for _, atom := range atoms {
		w.writeWord(" ", atom)
	}
}

var quoteEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// isAtom matches atom of RFC 5322 section 3.2.3, ASCII only.
func isAtom(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') &&
			strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// writeText writes an unstructured field. Words in plain ASCII are unchanged. Everything from the first to
// the last word that needs it is encoded, so that the receiver sees each character and each space of the
// value.
func (w *writer) writeText(name, value string) {
	w.beginField(name)
	defer w.endLine()
	if value == "" {
		// RFC 5322 allows an empty value; the space is for old parsers.
		w.b.WriteByte(' ')
		return
	}
	if isStructured(name) && !needsEncoding(value) {
		w.writePlain(value, " ")
		return
	}
	cut := splitEncoded(value)
	w.writePlain(cut.before, " ")
	if cut.middle != "" {
		w.writeEncoded(cut.space, cut.middle)
	}
	w.writePlain(cut.after, "")
}

// isStructured reports whether encoded words are not allowed in a field, even if something in a URL or an id
// looks like one.
func isStructured(name string) bool {
	switch lower := strings.ToLower(name); lower {
	case "in-reply-to", "references", "feedback-id":
		return true
	default:
		return strings.HasPrefix(lower, "list-")
	}
}

// splitValue splits a value in three: plain text, text to encode after one white space character, and plain
// text with leading white space.
type splitValue struct{ before, space, middle, after string }

// splitEncoded finds the first and the last word that need encoding. One character of the surrounding white
// space stays outside, where every reader keeps it.
func splitEncoded(value string) splitValue {
	if trimSpace(value) != value {
		return splitValue{space: " ", middle: value}
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
		return splitValue{before: value}
	}
	before, after := value[:first], value[last:]
	c := splitValue{before: strings.TrimRight(before, " \t"), space: " ", after: after}
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

// writePlain writes words with the white space between them.
func (w *writer) writePlain(s, space string) {
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
		w.writeWord(space, s[:end])
		s = s[end:]
	}
}

// writeEncoded writes text as encoded words (RFC 2047), each with whole characters, in the shorter of the
// two encodings.
func (w *writer) writeEncoded(space, text string) {
	const around = len("=?utf-8?q?") + len("?=")
	useQ := 3*qLength(text) <= 4*len(text)
	for text != "" {
		room := lineWidth - w.column - len(space) - around
		if room < 24 {
			w.foldLine()
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
			w.writeWord(space, "=?utf-8?q?"+qEncode(text[:n])+"?=")
		} else {
			w.writeWord(space, "=?utf-8?b?"+base64.StdEncoding.EncodeToString([]byte(text[:n]))+"?=")
		}
		text = text[n:]
		space = " "
	}
}

// needsEncoding reports whether a word contains anything except printable ASCII.
func needsEncoding(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] > '~' {
			return true
		}
	}
	return false
}

func trimSpace(s string) string { return strings.Trim(s, " \t") }
