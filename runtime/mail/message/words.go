package message

import (
	"encoding/base64"
	"strings"
)

// decodeWords decodes a header value: encoded words (RFC 2047) anywhere, also inside quotes and without
// white space around them, on one line. Adjacent words in one charset are joined before decoding, because
// many programs split characters.
func decodeWords(s string) string {
	if !strings.Contains(s, "=?") {
		return oneLine(toUTF8([]byte(s), ""))
	}
	var out strings.Builder
	plain := 0      // start of text that is not an encoded word
	var run []byte  // bytes of adjacent words
	var name string // their charset
	flush := func() {
		out.WriteString(toUTF8(run, name))
		run = run[:0]
	}
	for i := 0; i < len(s); {
		next := strings.Index(s[i:], "=?")
		if next < 0 {
			break
		}
		i += next
		word, size := encodedWord(s[i:])
		if size == 0 {
			i += 2
			continue
		}
		between := s[plain:i]
		if len(run) > 0 && strings.Trim(between, " \t") == "" {
			between = "" // white space between encoded words is not shown
		}
		if between != "" || name != word.charset {
			flush()
			out.WriteString(toUTF8([]byte(between), ""))
		}
		name = word.charset
		run = append(run, word.octets...)
		i += size
		plain = i
	}
	flush()
	out.WriteString(toUTF8([]byte(s[plain:]), ""))
	return oneLine(out.String())
}

// word is an encoded word after transfer decoding.
type word struct {
	charset string
	octets  []byte
}

// maxCharset is the maximum length of a charset name in an encoded word.
const maxCharset = 60

// encodedWord parses an encoded word at the start of s: =?charset?encoding?text?=. Its size is 0 if there
// is none. Unlike in RFC 2047 it may be long and contain spaces.
func encodedWord(s string) (word, int) {
	head := s[2:min(len(s), 2+maxCharset+3)]
	charset, rest, found := strings.Cut(head, "?")
	if !found || len(rest) < 2 || rest[1] != '?' || charset == "" || strings.ContainsAny(charset, " \t\"") {
		return word{}, 0
	}
	begin := 2 + len(charset) + 3
	length := strings.IndexByte(s[begin:], '?')
	for marks := 0; length >= 0 && !strings.HasPrefix(s[begin+length:], "?="); marks++ {
		more := strings.IndexByte(s[begin+length+1:], '?')
		if more < 0 || marks == maxMarks {
			return word{}, 0
		}
		length += 1 + more
	}
	if length < 0 {
		return word{}, 0
	}
	text := s[begin : begin+length]
	charset, _, _ = strings.Cut(charset, "*") // the language of RFC 2231, 5
	w := word{charset: strings.ToLower(charset)}
	switch rest[0] {
	case 'b', 'B':
		w.octets = lenientBase64(text)
	case 'q', 'Q':
		w.octets = quotedWord(text)
	default:
		return word{}, 0
	}
	return w, begin + length + len("?=")
}

// maxMarks is how many unencoded question marks a word may contain. It limits the search for its end, so
// that many starts are cheap.
const maxMarks = 8

func quotedWord(s string) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '_':
			out = append(out, ' ')
		case c == '=' && i+2 < len(s):
			high, ok := hexValue(s[i+1])
			low, ok2 := hexValue(s[i+2])
			if !ok || !ok2 {
				out = append(out, c)
				continue
			}
			out = append(out, high<<4|low)
			i += 2
		default:
			out = append(out, c)
		}
	}
	return out
}

func lenientBase64(s string) []byte {
	if out, err := base64.StdEncoding.DecodeString(s); err == nil {
		return out
	}
	var out buffer
	out.limit = len(s)
	d := &base64Writer{to: &out}
	d.Write([]byte(s)) //nolint:errcheck // a buffer takes everything
	d.end()
	return out.data
}
