package message

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// header is the raw header: unfolded, not decoded.
type header struct {
	fields   []Field
	received int // including those beyond the limit
}

// firstValue returns the first value of a field.
func (h header) firstValue(name string) string {
	for _, f := range h.fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

func (h header) allValues(name string) []string {
	var values []string
	for _, f := range h.fields {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return values
}

// decodeRaw decodes raw 8-bit values, and those of ISO-2022-JP, in place.
func (h header) decodeRaw(charset string) {
	if unicodeName(charset) {
		return
	}
	for i, f := range h.fields {
		if !utf8.ValidString(f.Value) || strings.Contains(f.Value, "\x1b$") {
			h.fields[i].Value = toUTF8([]byte(f.Value), charset)
		}
	}
}

// headerCharset returns the charset that raw values of a header most probably have: that of the message, or of the
// first text that was read in it.
func (p *parser) headerCharset(h header) string {
	if charset := readContentType(h.firstValue("Content-Type")).charset; charset != "" {
		return charset
	}
	for _, b := range append(p.text[:len(p.text):len(p.text)], p.html...) {
		if b.charset != "" {
			return b.charset
		}
	}
	return ""
}

// decodedFields returns the decoded header.
func (h header) decodedFields() []Field {
	fields := make([]Field, len(h.fields))
	for i, f := range h.fields {
		fields[i] = Field{Name: f.Name, Value: decodeWords(f.Value)}
	}
	return fields
}

// readHeader reads up to the empty line, or to a line that cannot be in a header: as in most readers such a
// line starts the body, so that a stray line does not lose the message. cut reports whether parts were
// dropped.
func (p *parser) readHeader(room int) (h header, cut bool) {
	r := headerReader{room: room}
	for first := true; ; first = false {
		piece, begins, ok := p.lines.nextLine()
		if !ok {
			return r.endHeader()
		}
		line := withoutLineEnd(piece)
		switch {
		case begins && len(line) == 0:
			return r.endHeader()
		case !begins:
			r.extendField(line)
		case line[0] == ' ' || line[0] == '\t':
			if r.open || r.skipping {
				r.extendField(line)
			} else if len(bytes.TrimSpace(line)) == 0 {
				return r.endHeader() // it looks like an empty line to a reader
			}
		case first && bytes.HasPrefix(line, []byte("From ")), bytes.HasPrefix(line, []byte(">From ")):
			// The envelope line of an mbox file, possibly forwarded.
		case len(fieldName(line)) > 0:
			r.beginField(line)
		default:
			p.lines.pushBack(piece)
			p.recordDefect("A header does not end in an empty line.")
			return r.endHeader()
		}
	}
}

// headerReader collects fields while there is room.
type headerReader struct {
	header  header
	room    int
	current strings.Builder
	// open: current is a field. skipping: the field did not fit.
	open, skipping, cut bool
}

func (r *headerReader) beginField(line []byte) {
	r.flushField()
	if bytes.EqualFold(fieldName(line), []byte("Received")) {
		r.header.received++
	}
	if len(line) > r.room {
		r.skipping, r.cut = true, true
		return
	}
	r.open, r.skipping = true, false
	r.addBytes(line)
}

func (r *headerReader) extendField(line []byte) {
	switch {
	case !r.open:
	case len(line) > r.room:
		r.addBytes(line[:r.room])
		r.flushField()
		r.skipping, r.cut = true, true
	default:
		r.addBytes(line)
	}
}

func (r *headerReader) addBytes(line []byte) {
	r.room -= len(line)
	r.current.Write(line)
}

func (r *headerReader) flushField() {
	if !r.open {
		return
	}
	name, value, _ := strings.Cut(r.current.String(), ":")
	r.header.fields = append(r.header.fields,
		Field{Name: strings.TrimRight(name, " \t"), Value: strings.Trim(value, " \t\r")})
	r.current.Reset()
	r.open = false
}

func (r *headerReader) endHeader() (header, bool) {
	r.flushField()
	return r.header, r.cut
}

// fieldName allows white space before the colon (RFC 5322, 4.5). It returns an empty name if the line is
// not a field.
func fieldName(line []byte) []byte {
	name, _, found := bytes.Cut(line, []byte(":"))
	name = bytes.TrimRight(name, " \t")
	if !found || len(name) > maxID {
		return nil
	}
	for _, c := range name {
		if c <= ' ' || c > '~' {
			return nil
		}
	}
	return name
}
