package verbatim

import (
	"bytes"
	"fmt"
	"io"
	"mime/quotedprintable"
	"slices"
	"strings"
)

// HasLongLine reports whether a line has more than 998 bytes.
func HasLongLine(b []byte) bool {
	for len(b) > maxLine {
		end := bytes.IndexByte(b, '\n')
		if end < 0 || end-1 > maxLine {
			return true
		}
		b = b[end+1:]
	}
	return false
}

// Fold folds the long lines of a field at white space, which does not change its value. It reports false if a word
// is too long for a line.
func (f HeaderField) Fold() (HeaderField, bool) {
	const comfortable = 78 // RFC 5322 section 2.1.1
	var out bytes.Buffer
	for line := range bytes.Lines(f.Raw) {
		if !HasLongLine(line) {
			out.Write(line)
			continue
		}
		width := 0
		for word := range splitWords(bytes.TrimSuffix(line, []byte("\r\n"))) {
			if width > 0 && width+len(word) > comfortable {
				out.WriteString("\r\n")
				width = 0
			}
			if len(word) > maxLine {
				return f, false
			}
			out.Write(word)
			width += len(word)
		}
		out.WriteString("\r\n")
	}
	f.Raw = withoutBlankFolds(out.Bytes())
	return f, true
}

// splitWords yields the words of a line, each with the white space before it. The white space at the end belongs to
// the last word, and that after the colon to the name.
func splitWords(line []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		begin, inWord := 0, false
		for i, c := range line {
			blank := c == ' ' || c == '\t'
			if blank && inWord && len(bytes.TrimLeft(line[i:], " \t")) > 0 {
				if !yield(line[begin:i]) {
					return
				}
				begin = i
			}
			inWord = !blank
		}
		yield(line[begin:])
	}
}

// ShortenLines encodes the parts of a message whose bodies have lines of more than 998 bytes. Their decoded
// content and charset stay the same. It rejects signed and encrypted parts, whose signature covers the
// encoding, and attached messages, which may not be encoded (RFC 2046 section 5.2.1).
func ShortenLines(message []byte) ([]byte, error) {
	s, err := parseMessage(message)
	if err != nil {
		return nil, err
	}
	var edits []edit
	for _, p := range s.leaves {
		if !HasLongLine(message[p.begin:p.end]) {
			continue
		}
		e, reason := p.withShortLines(message)
		if s.broken && reason == "" {
			reason = "the structure of the message is damaged"
		}
		if reason != "" {
			line := findLongLine(message, p.begin)
			return nil, fmt.Errorf("line %d has more than %d bytes and cannot be encoded: %s", line, maxLine, reason)
		}
		edits = append(edits, e)
	}
	out := s.applyEdits(make([]byte, 0, s.maxSize(s.fields, edits)), s.fields, edits)
	return out, checkLines(out, maxLine)
}

// findLongLine returns the number of the first long line at or after a position.
func findLongLine(message []byte, from int) int {
	number := 1 + bytes.Count(message[:from], []byte("\n"))
	for line := range bytes.Lines(message[from:]) {
		if HasLongLine(line) {
			break
		}
		number++
	}
	return number
}

// withShortLines returns the part in another encoding, or the reason that it cannot be encoded.
func (p part) withShortLines(message []byte) (e edit, reason string) {
	body := message[p.begin:p.end]
	switch {
	case p.opaque:
		return e, "its part is signed or encrypted"
	case p.enclosed, strings.HasPrefix(p.contentType, "message/"):
		return e, "it is in an attached message"
	}
	var encoding string
	switch p.encoding {
	case "", "7bit", "8bit", "binary":
		if strings.HasPrefix(p.contentType, "text/") {
			encoding, e.body = encodeText(body)
		} else {
			encoding, e.body = "base64", encodeBase64(body)
		}
	case "quoted-printable":
		content, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
		if err != nil {
			return e, "its quoted-printable encoding is invalid"
		}
		encoding, e.body = encodeText(content)
	case "base64":
		encoding, e.body = "base64", wrapBase64(body)
	default:
		return e, "its encoding is unknown"
	}
	e.at, e.fields = p, map[string]string{"Content-Transfer-Encoding": encoding}
	return e, ""
}

// wrapBase64 breaks the lines of encoded content.
func wrapBase64(encoded []byte) []byte {
	const line = 76 // RFC 2045 section 6.8
	out := make([]byte, 0, len(encoded)+len(encoded)/line*2+2)
	whole := bytes.Join(bytes.Fields(encoded), nil)
	for piece := range slices.Chunk(whole, line) {
		if len(out) > 0 {
			out = append(out, '\r', '\n')
		}
		out = append(out, piece...)
	}
	return out
}
