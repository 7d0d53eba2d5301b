package verbatim

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/quotedprintable"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/emersion/go-message/charset"
)

// TextBody is a body that mail programs show.
type TextBody struct {
	HTML    bool
	Content string // UTF-8, line ends unchanged
	at      part
}

// Message is a whole message with the texts in it.
type Message struct {
	Fields []HeaderField
	Texts  []*TextBody // readable bodies, in order; never attachments
	raw    *structure
}

// Read parses a message that Split accepts.
func Read(message []byte) (*Message, error) {
	s, err := parseMessage(message)
	if err != nil {
		return nil, err
	}
	m := &Message{Fields: s.fields, raw: s}
	for _, p := range s.leaves {
		if content, ok := p.decodeText(s.message); ok {
			m.Texts = append(m.Texts, &TextBody{HTML: p.contentType == "text/html", Content: content, at: p})
		}
	}
	return m, nil
}

// decodeText returns the content of a body. Content that cannot be decoded unambiguously is not a text, so it
// is never changed.
func (p part) decodeText(message []byte) (string, bool) {
	if p.contentType != "text/html" && p.contentType != "text/plain" || p.opaque || p.enclosed ||
		p.disposition == "attachment" || p.params["name"] != "" ||
		strings.Contains(strings.ToLower(Get(p.fields, "Content-Disposition")), "filename") {
		return "", false
	}
	data, err := p.decodeContent(message)
	if err != nil {
		return "", false
	}
	name := strings.ToLower(p.params["charset"])
	switch name {
	case "", "us-ascii", "ascii", "utf-8", "utf8":
	default:
		r, err := charset.Reader(name, bytes.NewReader(data))
		if err != nil {
			return "", false
		}
		if data, err = io.ReadAll(r); err != nil {
			return "", false
		}
	}
	return string(data), utf8.Valid(data)
}

func (p part) decodeContent(message []byte) ([]byte, error) {
	body := message[p.begin:p.end]
	switch p.encoding {
	case "", "7bit", "8bit", "binary":
		return body, nil
	case "quoted-printable":
		return io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
	case "base64":
		return io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(bytes.Map(func(r rune) rune {
			if r == ' ' || r == '\t' {
				return -1
			}
			return r
		}, body))))
	}
	return nil, errors.New("unknown encoding")
}

// Write returns the message with other fields and new contents for some texts. These become UTF-8 in
// quoted-printable or base64; everything else keeps its bytes.
func (m *Message) Write(fields []HeaderField, changed map[*TextBody]string) ([]byte, error) {
	return m.WriteInto(0, fields, changed, func(size int) ([]byte, error) { return make([]byte, 0, size), nil })
}

// WriteInto is like Write, but uses the memory that buffer returns for a size. The message starts at the offset
// room, which leaves space for fields computed from it. It returns the error of buffer unchanged.
func (m *Message) WriteInto(room int, fields []HeaderField, changed map[*TextBody]string,
	buffer func(size int) ([]byte, error)) ([]byte, error) {
	edits := make([]edit, 0, len(changed))
	for text, content := range changed {
		e, err := text.at.withText(content)
		if err != nil {
			return nil, err
		}
		edits = append(edits, e)
	}
	place, err := buffer(room + m.raw.maxSize(fields, edits))
	if err != nil {
		return nil, err
	}
	return m.raw.applyEdits(append(place[:0], make([]byte, room)...), fields, edits), nil
}

// edit is a part with another header and body.
type edit struct {
	at     part
	fields map[string]string // replacing existing ones, or added
	body   []byte
}

func (p part) withText(content string) (edit, error) {
	params := map[string]string{}
	maps.Copy(params, p.params)
	params["charset"] = "utf-8"
	contentType := mime.FormatMediaType(p.contentType, params)
	if contentType == "" {
		return edit{}, errors.New("the content type of a text cannot be written")
	}
	encoding, body := encodeText([]byte(content))
	return edit{at: p, body: body,
		fields: map[string]string{"Content-Type": contentType, "Content-Transfer-Encoding": encoding}}, nil
}

// encodeText uses the shorter of the two encodings that any server supports, without a line end after the last
// line, because that line end belongs to the next boundary.
func encodeText(data []byte) (string, []byte) {
	special := 0
	for _, c := range data {
		if c > '~' || c == '=' || c < ' ' && c != '\r' && c != '\n' && c != '\t' {
			special++
		}
	}
	if special*6 > len(data) {
		return "base64", encodeBase64(data)
	}
	return "quoted-printable", encodeQuoted(data)
}

func encodeQuoted(data []byte) []byte {
	var b bytes.Buffer
	w := quotedprintable.NewWriter(&b)
	_, err := w.Write(data)
	if err = errors.Join(err, w.Close()); err != nil {
		panic("verbatim: write to a bytes.Buffer failed: " + err.Error())
	}
	return b.Bytes()
}

func encodeBase64(data []byte) []byte {
	const line = 57 // bytes per 76 characters, RFC 2045 section 6.8
	out := make([]byte, 0, len(data)/line*78+80)
	for piece := range slices.Chunk(data, line) {
		if len(out) > 0 {
			out = append(out, '\r', '\n')
		}
		out = base64.StdEncoding.AppendEncode(out, piece)
	}
	return out
}

// maxSize returns the approximate maximum size of the edited message in bytes.
func (s *structure) maxSize(fields []HeaderField, edits []edit) int {
	size := len(s.message)
	for _, e := range edits {
		size += len(e.body) + 200
	}
	for _, f := range fields {
		size += len(f.Raw)
	}
	return size
}

// applyEdits appends the message with its edits to out. If an edit changes the content type or encoding of the
// message itself, the fields are updated.
func (s *structure) applyEdits(out []byte, fields []HeaderField, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return a.at.begin - b.at.begin })
	for _, e := range edits {
		if e.at.isTop() {
			fields = editFields(fields, e.fields)
		}
	}
	write := func(fields []HeaderField) {
		for _, f := range fields {
			out = append(out, f.Raw...)
		}
		out = append(out, '\r', '\n')
	}
	write(fields)
	done := s.body
	for _, e := range edits {
		if !e.at.isTop() {
			out = append(out, s.message[done:e.at.header]...)
			write(editFields(e.at.fields, e.fields))
		}
		if e.body == nil { // a part that contains others
			done = e.at.begin
			continue
		}
		out = append(out, e.body...)
		done = e.at.end
		if e.at.isTop() && !bytes.HasSuffix(out, []byte("\r\n")) {
			out = append(out, '\r', '\n')
		}
	}
	return append(out, s.message[done:]...)
}

// isTop reports whether the part is the message itself.
func (p part) isTop() bool { return p.header == 0 }

// editFields replaces fields by name, or appends them.
func editFields(fields []HeaderField, with map[string]string) []HeaderField {
	out := slices.Clone(fields)
	for _, name := range []string{"Content-Type", "Content-Transfer-Encoding"} {
		value, given := with[name]
		if !given {
			continue
		}
		written := HeaderField{Name: name, Raw: []byte(name + ": " + foldParameters(value) + "\r\n")}
		at := slices.IndexFunc(out, func(f HeaderField) bool { return f.Is(name) })
		if at < 0 {
			if !HasField(out, "Mime-Version") &&
				slices.ContainsFunc(out, func(f HeaderField) bool { return f.Is("From") }) {
				out = append(out, HeaderField{Name: "MIME-Version", Raw: []byte("MIME-Version: 1.0\r\n")})
			}
			out = append(out, written)
			continue
		}
		out[at] = written
	}
	return out
}

// foldParameters breaks before parameters.
func foldParameters(value string) string {
	if len(value) < 60 {
		return value
	}
	return strings.ReplaceAll(value, "; ", ";\r\n ")
}
