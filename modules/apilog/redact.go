package apilog

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxKept   = 4 << 10 // bytes of a body
	maxString = 1000    // bytes of a string in it
	maxName   = 200
	maxDepth  = 64

	redacted = "[redacted]"
	cutMark  = "…[cut]"
)

// Redacted is a redacted body.
type Redacted struct {
	Text    string // at most 4 KB; ends with …[cut] if the body was longer or stopped being valid JSON
	EmailID string // in a response: the email id in its top-level member `id`, if any
}

// Redact rewrites a JSON text without its secrets. raw may be the beginning of a longer text, as indicated
// by cut. A response may contain error codes. Text after a JSON syntax error is omitted, because its
// meaning is unknown.
func Redact(raw []byte, cut, answer bool) Redacted {
	s := scanner{in: raw, cut: cut, answer: answer, room: maxKept - len(cutMark)}
	whole := s.value(place{}) && s.atEnd()
	if !whole || cut {
		s.out = append(s.out, cutMark...)
	}
	return Redacted{Text: string(s.out), EmailID: s.emailID}
}

// place is the position of a value.
type place struct {
	secrecy secrecy
	name    string // name of the member
	level   int    // number of enclosing objects and arrays
	inFiles bool
	inField bool // inside of header fields
}

// scanner reads JSON byte by byte and writes the redacted text. Its methods report false if they cannot
// continue: at a syntax error, at the end of the input, or when the output is full.
type scanner struct {
	in      []byte
	at      int
	cut     bool
	answer  bool
	nested  bool // the text is the content of another string
	out     []byte
	room    int
	muted   int // if positive, no output is written
	emailID string
}

func (s *scanner) write(text string) bool {
	if s.muted > 0 {
		return true
	}
	if len(s.out)+len(text) > s.room {
		return false
	}
	s.out = append(s.out, text...)
	return true
}

// next skips white space and returns the next byte.
func (s *scanner) next() (byte, bool) {
	for s.at < len(s.in) {
		switch c := s.in[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c, true
		}
	}
	return 0, false
}

func (s *scanner) atEnd() bool {
	_, more := s.next()
	return !more
}

// take reads one byte of punctuation.
func (s *scanner) take(want byte) bool {
	c, ok := s.next()
	if !ok || c != want {
		return false
	}
	s.at++
	return true
}

func (s *scanner) value(p place) bool {
	c, ok := s.next()
	switch {
	case !ok || p.level > maxDepth:
		return false
	case c == '{' || c == '[':
		return s.container(p, c)
	case c == '"':
		return s.text(p)
	default:
		return s.word(p)
	}
}

// container reads an object or an array. It skips one that is entirely secret.
func (s *scanner) container(p place, c byte) bool {
	if p.secrecy == whole {
		s.muted++
		p.secrecy = open
		ok := s.container(p, c)
		s.muted--
		return ok && s.write(`"`+redacted+`"`)
	}
	p.level++
	p.inFiles, p.inField = p.inFiles || p.secrecy == files, p.inField || p.secrecy == headers
	s.at++
	if c == '[' {
		if p.secrecy == files || p.secrecy == headers {
			p.secrecy = open
		}
		return s.list('[', ']', func() bool { return s.value(p) })
	}
	return s.list('{', '}', func() bool { return s.member(p) })
}

// list reads comma-separated items between two brackets.
func (s *scanner) list(begin, end byte, item func() bool) bool {
	if !s.write(string(begin)) {
		return false
	}
	if c, ok := s.next(); ok && c == end {
		s.at++
		return s.write(string(end))
	}
	for {
		if !item() {
			return false
		}
		c, ok := s.next()
		if !ok || c != end && c != ',' {
			return false
		}
		s.at++
		if !s.write(string(c)) {
			return false
		}
		if c == end {
			return true
		}
	}
}

func (s *scanner) member(p place) bool {
	if c, ok := s.next(); !ok || c != '"' {
		return false
	}
	name, closed := s.readQuoted()
	if !closed {
		return false
	}
	shown := name
	if len(shown) > maxName {
		shown = strings.ToValidUTF8(shown[:maxName], "") + "…"
	}
	if !s.take(':') || !s.write(quoteJSON(withoutSecrets(shown))+":") {
		return false
	}
	p.name, p.secrecy = name, secrecyOf(name)
	return s.value(p)
}

// readQuoted reads a string. For an unterminated string it returns the bytes read so far, with closed false.
func (s *scanner) readQuoted() (text string, closed bool) {
	begin := s.at + 1
	plain := true
	for i := begin; i < len(s.in); i++ {
		switch c := s.in[i]; {
		case c == '\\':
			plain = false
			i++
		case c == '"':
			s.at = i + 1
			raw := s.in[begin:i]
			if plain && utf8.Valid(raw) {
				return string(raw), true
			}
			return text, json.Unmarshal(s.in[begin-1:i+1], &text) == nil
		case c < ' ':
			return "", false
		}
	}
	s.at = len(s.in)
	return "", false
}

// text reads a string value.
func (s *scanner) text(p place) bool {
	begin := s.at
	text, closed := s.readQuoted()
	if s.isContent(p) {
		if !closed {
			s.write(`"[redacted: more than ` + strconv.Itoa(s.at-begin-1) + ` characters]"`)
			return false
		}
		return s.write(`"[redacted: ` + strconv.Itoa(len(text)) + ` characters]"`)
	}
	if !closed {
		return false
	}
	if s.isSecret(p, text) {
		return s.write(`"` + redacted + `"`)
	}
	if s.answer && p.level == 1 && p.name == "id" && !s.nested {
		s.emailID = emailOf(text)
	}
	return s.write(quoteJSON(s.loggedPart(text)))
}

// isContent reports whether a string is the content of a file.
func (s *scanner) isContent(p place) bool {
	return p.secrecy == content || p.inFiles && (p.name == "data" || p.secrecy != open)
}

func (s *scanner) isSecret(p place, text string) bool {
	switch p.secrecy {
	case whole, scalar:
		return true
	case code:
		return !s.answer || !errorCode.MatchString(text)
	case headers:
		return true
	}
	return p.inField && p.name != "name"
}

// loggedPart returns the part of a string to log.
func (s *scanner) loggedPart(text string) string {
	if trimmed := strings.TrimSpace(text); !s.nested && trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') &&
		json.Valid([]byte(trimmed)) {
		inner := scanner{in: []byte(trimmed), answer: s.answer, nested: true, room: maxString}
		if !inner.value(place{}) {
			inner.out = append(inner.out, cutMark...)
		}
		return string(inner.out)
	}
	left := 0
	if len(text) > maxString {
		end := wordEnd(text)
		text, left = text[:end], len(text)-end
	}
	text = withoutSecrets(text)
	if left > 0 {
		text += "…[" + strconv.Itoa(left) + " more]"
	}
	return text
}

// longestWord is longer than any address, because an erasure would not find a truncated address.
const longestWord = 330

// wordEnd returns where to truncate a long text: between words, or inside a word that is too long to contain
// an address.
func wordEnd(text string) int {
	end := strings.LastIndexAny(text[:maxString], " \t\r\n<>\"'(),;&")
	if end < maxString-longestWord {
		end = maxString
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
	}
	return end
}

// word reads a number, true, false or null. The last three are never secret.
func (s *scanner) word(p place) bool {
	begin := s.at
	for s.at < len(s.in) && strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
		s.in[s.at]) >= 0 {
		s.at++
	}
	word := string(s.in[begin:s.at])
	switch {
	case s.at == len(s.in) && s.cut, !json.Valid([]byte(word)):
		return false
	case word == "true" || word == "false" || word == "null":
		return s.write(word)
	case s.isContent(p) && p.name != "size", s.isSecret(p, word):
		return s.write(`"` + redacted + `"`)
	case len(word) > longestWord:
		return false
	}
	return s.write(word)
}

// quoteJSON writes a string as readable JSON that the database accepts.
func quoteJSON(text string) string {
	var out strings.Builder
	out.Grow(len(text) + 2)
	out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t':
			out.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			out.WriteString(`\u00` + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]))
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}
