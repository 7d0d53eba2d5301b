package body

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// Base64 reads a file. Its data points into the body.
func Base64(to *[]byte) Type { return base64Type{to} }

type base64Type struct{ to *[]byte }

func (t base64Type) Read(d *Decoder, path string, v Value) { *t.to = d.Base64(path, v) }

func (base64Type) Schema(Components) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, ContentEncoding: "base64"}
}

// Base64 decodes a string in the standard or the URL alphabet, with or without
// padding and white space. It works inside the body, which is then no longer JSON.
func (d *Decoder) Base64(path string, v Value) []byte {
	if !d.Expect(path, v, KindString) {
		return nil
	}
	text, _ := v.innerText()
	n := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' { // some encoders escape every slash
			var r rune
			if r, i = unescape(text, i); r >= utf8.RuneSelf {
				r = 0 // outside the alphabet
			}
			c = byte(r)
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '-':
			c = '+'
		case '_':
			c = '/'
		}
		text[n] = c
		n++
	}
	text = text[:n]
	for range 2 {
		if n := len(text); n > 0 && text[n-1] == '=' {
			text = text[:n-1]
		}
	}
	// The decoder never writes past its read position, so both can share a buffer.
	n, err := base64.RawStdEncoding.Decode(text, text)
	if err != nil {
		d.Refuse(path, "must be valid base64")
		return nil
	}
	return text[:n]
}

// unescape returns the UTF-16 unit of the escape at pos, and the position of the escape's last byte. parseJSON has
// accepted the text.
func unescape(text []byte, pos int) (r rune, last int) {
	switch c := text[pos+1]; c {
	case 'n':
		return '\n', pos + 1
	case 'r':
		return '\r', pos + 1
	case 't':
		return '\t', pos + 1
	case 'b':
		return '\b', pos + 1
	case 'f':
		return '\f', pos + 1
	case 'u':
		unit, err := strconv.ParseUint(string(text[pos+2:pos+6]), 16, 16)
		if err != nil {
			unit = 0
		}
		return rune(unit), pos + 5
	default:
		return rune(c), pos + 1
	}
}
