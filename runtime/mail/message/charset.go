package message

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/transform"
)

// encodingOf returns a charset by the names used in mail; nil if it is unknown, or a superset only of
// UTF-8.
func encodingOf(name string) encoding.Encoding {
	if enc, found := charset.Lookup(name); enc != nil && found != "replacement" {
		return enc
	}
	if enc, err := ianaindex.MIME.Encoding(name); err == nil && enc != nil {
		return enc
	}
	if number, ok := strings.CutPrefix(name, "cp"); ok { // the names of code pages in Java and Python
		if enc, _ := charset.Lookup("windows-" + number); enc != nil {
			return enc
		}
		if enc, err := ianaindex.MIME.Encoding("ibm" + number); err == nil && enc != nil {
			return enc
		}
	}
	return nil
}

// unicodeName reports whether the bytes should already be UTF-8.
func unicodeName(name string) bool {
	switch name {
	case "", "utf-8", "utf8", "us-ascii", "ascii", "unknown-8bit", "default", "binary", "utf8mb4":
		return true
	}
	return false
}

// toUTF8 decodes a charset.
func toUTF8(octets []byte, name string) string {
	if len(octets) == 0 {
		return ""
	}
	if name = strings.ToLower(name); !unicodeName(name) {
		if enc := encodingOf(name); enc != nil {
			if decoded, err := enc.NewDecoder().Bytes(octets); err == nil {
				octets = decoded
			}
		}
	}
	return cleanText(octets)
}

// cleanText returns valid UTF-8 without NUL. Bytes that are not UTF-8 are read as windows-1252, which is what
// undeclared 8-bit text most often is, unless the text contains UTF-8 characters.
func cleanText(octets []byte) string {
	text, _ := cleanUpTo(octets, 3*len(octets))
	return text
}

// cleanUpTo returns at most a number of bytes; more reports whether there were more.
func cleanUpTo(octets []byte, limit int) (text string, more bool) {
	valid := utf8.Valid(octets)
	if valid && bytes.IndexByte(octets, 0) < 0 && len(octets) <= limit {
		return string(octets), false
	}
	latin := !valid && !hasWideRune(octets)
	var out strings.Builder
	out.Grow(min(limit, len(octets)+len(octets)/8+8))
	for len(octets) > 0 {
		r, size := utf8.DecodeRune(octets)
		switch {
		case r == 0:
			r = utf8.RuneError
		case r == utf8.RuneError && size == 1 && latin:
			r = charmap.Windows1252.DecodeByte(octets[0])
		}
		if out.Len()+utf8.RuneLen(r) > limit {
			return out.String(), true
		}
		out.WriteRune(r)
		octets = octets[size:]
	}
	return out.String(), false
}

func hasWideRune(octets []byte) bool {
	for len(octets) > 0 {
		r, size := utf8.DecodeRune(octets)
		if size > 1 && r != utf8.RuneError {
			return true
		}
		octets = octets[size:]
	}
	return false
}

// decodeBody decodes the charset of a body, up to the limit.
func (p *parser) decodeBody(b *body, which string) string {
	data, over := b.data, b.over
	b.data = nil
	if over {
		data = wholeRunes(data)
	}
	var enc encoding.Encoding
	switch name := b.charset; {
	case name == "" && b.html && !utf8.Valid(data):
		// it may declare its charset itself
		enc, _, _ = charset.DetermineEncoding(data[:min(len(data), 1024)], "text/html")
	case unicodeName(name):
	default:
		if enc = encodingOf(name); enc == nil {
			p.recordDefect("%s has the unknown charset %s.", which, quoteText(name))
		}
	}
	if enc != nil {
		out := buffer{limit: p.maxText}
		w := transform.NewWriter(&out, enc.NewDecoder())
		if _, err := w.Write(data); err == nil && w.Close() == nil {
			data, over = out.data, over || out.over
		}
	} else if !utf8.Valid(data) {
		p.recordDefect("%s is not in the charset that it names.", which)
	}
	if over {
		data = wholeRunes(data)
	}
	text, more := cleanUpTo(data, p.maxText)
	if strings.Contains(text, "begin ") && uuencoded.MatchString(text) {
		p.recordDefect("%s contains a uuencoded file, which was not decoded.", which)
	}
	if over || more {
		p.recordDefect("%s is longer than %d bytes, the rest was omitted.", which, p.maxText)
	}
	return text
}

// uuencoded matches the first lines of a uuencoded file.
var uuencoded = regexp.MustCompile(`(?m)^begin [0-7]{3,4} \S.*\r?\n[!-M][!-\x60]*\r?$`)

// wholeRunes drops a character that a limit has cut in two.
func wholeRunes(data []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(data)); i++ {
		if tail := data[len(data)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return data[:len(data)-i]
			}
			return data
		}
	}
	return data
}

// oneLine is for text that is already UTF-8.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 0x2028 || r == 0x2029 || r != '\t' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// truncateText truncates a string to a number of bytes.
func truncateText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return string(wholeRunes([]byte(s[:limit])))
}

// quoteText quotes an untrusted text in a sentence.
func quoteText(s string) string { return strconv.Quote(truncateText(decodeWords(s), 60)) }
