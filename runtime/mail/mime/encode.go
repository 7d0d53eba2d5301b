package mime

import (
	"bytes"
	"encoding/base64"
	"mime/quotedprintable"
	"strings"
)

// qSafe are the characters that need no encoding in a Q encoded word in any place, including phrases (RFC
// 2047 section 5, rule 3).
func qSafe(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!*+-/", c) >= 0
}

func qLength(s string) int {
	n := 0
	for i := range len(s) {
		if qSafe(s[i]) || s[i] == ' ' {
			n++
		} else {
			n += 3
		}
	}
	return n
}

const upperHex = "0123456789ABCDEF"

func qEncode(s string) string {
	b := make([]byte, 0, qLength(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			b = append(b, '_')
		case qSafe(c):
			b = append(b, c)
		default:
			b = append(b, '=', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(b)
}

// canonicalText converts all line ends to CRLF (RFC 2046 section 4.1.1) and terminates the last line.
func canonicalText(text string) []byte {
	b := make([]byte, 0, len(text)+len(text)/32+2)
	for text != "" {
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			b = append(b, text...)
			b = append(b, '\r', '\n')
			return b
		}
		b = append(b, text[:i]...)
		b = append(b, '\r', '\n')
		if strings.HasPrefix(text[i:], "\r\n") {
			i++
		}
		text = text[i+1:]
	}
	return b
}

// textEncoding selects quoted-printable if it is readable and shorter than base64. It also returns how many
// bytes quoted-printable would encode.
func textEncoding(text []byte) (encoding string, special int) {
	for _, c := range text {
		if c > '~' || c == '=' || c < ' ' && c != '\r' && c != '\n' && c != '\t' {
			special++
		}
	}
	if special*6 > len(text) {
		return "base64", special
	}
	return "quoted-printable", special
}

// writeEncoded writes a body and terminates its last line.
func writeEncoded(b *bytes.Buffer, encoding string, data []byte) {
	if encoding == "base64" {
		writeBase64(b, data)
		return
	}
	if encoding == "7bit" {
		writeLines(b, data)
		return
	}
	qp := quotedprintable.NewWriter(b)
	if _, err := qp.Write(data); err == nil {
		err = qp.Close()
		if err == nil {
			return
		}
	}
	panic("mime: write to a bytes.Buffer failed")
}

// base64Line is how many bytes fill a line of 76 characters (RFC 2045 section 6.8).
const base64Line = 57

func base64Size(n int) int { return (n + base64Line - 1) / base64Line * (lineWidth + 2) }

func writeBase64(b *bytes.Buffer, data []byte) {
	for len(data) > 0 {
		n := min(base64Line, len(data))
		line := base64.StdEncoding.AppendEncode(b.AvailableBuffer(), data[:n])
		b.Write(append(line, '\r', '\n'))
		data = data[n:]
	}
}
