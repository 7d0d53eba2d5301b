package mime

import (
	"bufio"
	"io"
	stdmime "mime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/emersion/go-message/charset"
	"golang.org/x/text/encoding/charmap"
)

// decodeTransfer undoes the transfer encoding. The decoders are our own because
// those of the standard library stop at the first octet out of place.
func (p *parser) decodeTransfer(encoding string, r io.Reader) io.Reader {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "7bit", "8bit", "binary":
		return r
	case "base64":
		return &stepReader{in: bufio.NewReader(r), step: new(base64Decoder).step}
	case "quoted-printable":
		return &stepReader{in: bufio.NewReader(r), step: new(quotedDecoder).step}
	}
	p.problem("unknown transfer encoding %.40q", encoding)
	return r
}

// stepReader turns a function that decodes some input into a reader.
type stepReader struct {
	in      *bufio.Reader
	step    func(in *bufio.Reader, out []byte) ([]byte, error)
	pending []byte
	buf     [4096]byte
	err     error
}

func (s *stepReader) Read(out []byte) (int, error) {
	for len(s.pending) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.pending, s.err = s.step(s.in, s.buf[:0])
	}
	n := copy(out, s.pending)
	s.pending = s.pending[n:]
	return n, nil
}

// stepInput is how many octets one step reads.
const stepInput = 3072

// base64Decoder skips what is not in the alphabet and starts anew after padding,
// so that pieces encoded one by one and then joined decode too.
type base64Decoder struct {
	bits uint32
	have int // sextets in bits
}

func (d *base64Decoder) step(in *bufio.Reader, out []byte) ([]byte, error) {
	for range stepInput {
		c, err := in.ReadByte()
		if err != nil {
			return d.flush(out), err
		}
		if c == '=' {
			out = d.flush(out)
			continue
		}
		sextet, ok := base64Value(c)
		if !ok {
			continue
		}
		d.bits = d.bits<<6 | sextet
		if d.have++; d.have == 4 {
			out = append(out, byte(d.bits>>16), byte(d.bits>>8), byte(d.bits))
			d.bits, d.have = 0, 0
		}
	}
	return out, nil
}

// flush writes the octets of an incomplete group.
func (d *base64Decoder) flush(out []byte) []byte {
	bits, have := d.bits, d.have
	d.bits, d.have = 0, 0
	switch have {
	case 2:
		return append(out, byte(bits>>4))
	case 3:
		return append(out, byte(bits>>10), byte(bits>>2))
	}
	return out
}

func base64Value(c byte) (uint32, bool) {
	switch {
	case c >= 'A' && c <= 'Z':
		return uint32(c - 'A'), true
	case c >= 'a' && c <= 'z':
		return uint32(c-'a') + 26, true
	case c >= '0' && c <= '9':
		return uint32(c-'0') + 52, true
	case c == '+':
		return 62, true
	case c == '/':
		return 63, true
	}
	return 0, false
}

// quotedDecoder leaves an equals sign alone that starts nothing, and takes off
// white space at line ends, which was added on the way (RFC 2045 section 6.7).
type quotedDecoder struct{ space []byte }

// maxSpace bounds a run that is held back until the line end is seen.
const maxSpace = 1024

func (d *quotedDecoder) step(in *bufio.Reader, out []byte) ([]byte, error) {
	for range stepInput / 2 {
		c, err := in.ReadByte()
		if err != nil {
			return out, err
		}
		switch c {
		case ' ', '\t':
			if d.space = append(d.space, c); len(d.space) == maxSpace {
				return d.release(out), nil
			}
		case '\r', '\n':
			d.space = d.space[:0]
			out = append(out, c)
		case '=':
			out = d.release(out)
			var octet byte
			var ok bool
			if octet, ok, err = equals(in); err != nil {
				return out, err
			} else if ok {
				out = append(out, octet)
			}
		default:
			out = append(d.release(out), c)
		}
	}
	return out, nil
}

func (d *quotedDecoder) release(out []byte) []byte {
	out = append(out, d.space...)
	d.space = d.space[:0]
	return out
}

// equals reads what follows an equals sign: an octet, or nothing for a soft line
// break. Anything else is not consumed and the sign stands for itself.
func equals(in *bufio.Reader) (octet byte, ok bool, err error) {
	next, _ := in.Peek(80) // less at the end of the part, which is fine
	if len(next) >= 2 {
		high, okHigh := hexValue(next[0])
		low, okLow := hexValue(next[1])
		if okHigh && okLow {
			_, err := in.Discard(2)
			return high<<4 | low, true, err
		}
	}
	i := 0
	for i < len(next) && (next[i] == ' ' || next[i] == '\t') {
		i++
	}
	switch rest := string(next[i:]); {
	case rest == "" && len(next) < 80, rest == "\r":
		_, err := in.Discard(len(next))
		return 0, false, err
	case strings.HasPrefix(rest, "\r\n"):
		_, err := in.Discard(i + 2)
		return 0, false, err
	case strings.HasPrefix(rest, "\n"):
		_, err := in.Discard(i + 1)
		return 0, false, err
	}
	return '=', true, nil
}

func hexValue(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}

// decodeText reads at most room octets of text as UTF-8 and drains the rest.
func (p *parser) decodeText(r io.Reader, name string, room int) (text string, more bool, err error) {
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
	default:
		if converted, err := charset.Reader(name, r); err == nil {
			r = converted
		} else {
			p.problem("unknown charset %.40q", name)
		}
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(max(room, 0))))
	if err == nil {
		var rest int64
		rest, err = io.Copy(io.Discard, r)
		more = rest > 0
	}
	if more {
		data = wholeRunes(data)
	}
	return clean(string(data)), more, err
}

// wholeRunes cuts off a character that a limit has cut in two.
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

// clean makes a string fit for JSON and Postgres: valid UTF-8 without NUL. Octets
// that are not UTF-8 are read as windows-1252, which is what undeclared 8-bit
// text most often is.
func clean(s string) string {
	if !utf8.ValidString(s) {
		if decoded, err := charmap.Windows1252.NewDecoder().String(s); err == nil {
			s = decoded
		} else {
			s = strings.ToValidUTF8(s, "\ufffd")
		}
	}
	return strings.ReplaceAll(s, "\x00", "\ufffd")
}

var words = stdmime.WordDecoder{CharsetReader: charset.Reader}

// decodeWords decodes a header value for reading: one line, no controls, whatever
// the encoded words held.
func decodeWords(s string) string {
	if decoded, err := words.DecodeHeader(clean(s)); err == nil {
		s = decoded
	}
	return oneLine(s)
}

// oneLine is for what is decoded already: a second decoding would turn text that
// only looks like an encoded word into something that was never written.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, clean(s))
}
