package message

import (
	"io"
	"strings"
)

// The decoders of transfer encodings decode as much as possible: those of the standard library stop at the
// first invalid byte. They fail only if their writer fails.

// base64Writer skips characters outside the alphabet. The data ends at its padding (RFC 2045, 6.8), or before a line
// that begins like the footer of a mailing list, as data of a multiple of three bytes has no padding. The rest is
// ignored.
type base64Writer struct {
	to      io.Writer
	bits    uint32
	have    int  // sextets in bits
	newLine bool // after a line end
	padded  bool
	ignored bool // characters of the alphabet after the padding
	out     []byte
	err     error
}

// sextet is the value of a byte of the base64 alphabet.
var sextet = func() (table [256]int8) {
	for i := range table {
		table[i] = -1
	}
	for i, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		table[c] = int8(i)
	}
	return table
}()

// footerMarks begin the line between a message and a footer.
const footerMarks = "_-*=#~"

func (d *base64Writer) Write(b []byte) (int, error) {
	d.out = d.out[:0]
	for _, c := range b {
		value := sextet[c]
		begins := d.newLine
		d.newLine = c == '\n'
		switch {
		case begins && d.have == 0 && strings.IndexByte(footerMarks, c) >= 0:
			d.padded = true
		case d.padded:
			d.ignored = d.ignored || value >= 0
		case value >= 0:
			d.bits = d.bits<<6 | uint32(value)
			if d.have++; d.have == 4 {
				d.out = append(d.out, byte(d.bits>>16), byte(d.bits>>8), byte(d.bits))
				d.bits, d.have = 0, 0
			}
		case c == '=' && d.have >= 2:
			d.writeGroup()
			d.padded = true
		}
	}
	return len(b), d.flush()
}

// writeGroup writes the bytes of an incomplete group.
func (d *base64Writer) writeGroup() {
	switch d.have {
	case 2:
		d.out = append(d.out, byte(d.bits>>4))
	case 3:
		d.out = append(d.out, byte(d.bits>>10), byte(d.bits>>2))
	}
	d.bits, d.have = 0, 0
}

func (d *base64Writer) flush() error {
	if d.err == nil {
		d.err = writeNonEmpty(d.to, d.out)
	}
	return d.err
}

func (d *base64Writer) end() {
	d.out = d.out[:0]
	d.writeGroup()
	d.flush() //nolint:errcheck // the writer remembers it
}

// quotedWriter leaves an equals sign unchanged if it starts nothing, and removes white space at line ends,
// which was added in transit (RFC 2045, 6.7).
type quotedWriter struct {
	to    io.Writer
	held  []byte // an equals sign and what follows, or white space, until its meaning is clear
	out   []byte
	total error
}

// maxHeld limits white space held back until a line end.
const maxHeld = 1024

func (d *quotedWriter) Write(b []byte) (int, error) {
	d.out = d.out[:0]
	for _, c := range b {
		d.writeByte(c)
	}
	if d.total == nil {
		d.total = writeNonEmpty(d.to, d.out)
	}
	return len(b), d.total
}

func (d *quotedWriter) writeByte(c byte) {
	switch {
	case len(d.held) == 0:
	case d.held[0] == '=':
		if d.afterEquals(c) {
			return
		}
	case c == '\r' || c == '\n':
		d.held = d.held[:0]
	case c != ' ' && c != '\t' || len(d.held) == maxHeld:
		d.releaseHeld()
	}
	switch c {
	case '=', ' ', '\t':
		d.held = append(d.held, c)
	default:
		d.out = append(d.out, c)
	}
}

// afterEquals reports whether it has consumed the byte. held is "=", then a digit, or white space that ends
// in a line end, then nothing.
func (d *quotedWriter) afterEquals(c byte) bool {
	last := d.held[len(d.held)-1]
	_, digit := hexValue(c)
	high, isHigh := hexValue(last)
	switch {
	case len(d.held) == 1 && digit:
		d.held = append(d.held, c)
		return true
	case len(d.held) == 2 && isHigh && digit:
		low, _ := hexValue(c)
		d.out = append(d.out, high<<4|low)
		d.held = d.held[:0]
		return true
	case isHigh && len(d.held) > 1: // a digit alone
	case c == '\n':
		d.held = d.held[:0]
		return true
	case last == '\r': // a soft line break of the carriage return alone
		d.held = d.held[:0]
		return false
	case (c == ' ' || c == '\t' || c == '\r') && len(d.held) < maxHeld:
		d.held = append(d.held, c)
		return true
	}
	d.releaseHeld()
	return false
}

func (d *quotedWriter) releaseHeld() {
	d.out = append(d.out, d.held...)
	d.held = d.held[:0]
}

// end handles the end: an equals sign at the very end is a soft line break, white space is padding.
func (d *quotedWriter) end() {
	d.out = d.out[:0]
	if len(d.held) > 1 && d.held[0] == '=' {
		if _, digit := hexValue(d.held[1]); digit {
			d.releaseHeld()
		}
	}
	if d.total == nil {
		d.total = writeNonEmpty(d.to, d.out)
	}
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
