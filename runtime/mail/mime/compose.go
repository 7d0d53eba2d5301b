package mime

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/mail/address"
)

// Compose writes a message. An error means that the message must not be sent. The validators of this package
// and of package address detect all such problems when the email is accepted.
func Compose(m Message) ([]byte, error) {
	return ComposeInto(m, 0, func(size int) ([]byte, error) { return make([]byte, 0, size), nil })
}

// ComposeInto writes a message into the memory that buffer returns for an approximate size. An error of buffer
// is returned unchanged. The message begins at the offset room, which leaves space for a field computed from
// the message, so a large message is never copied.
func ComposeInto(m Message, room int, buffer func(size int) ([]byte, error)) ([]byte, error) {
	top, err := buildStructure(m)
	if err != nil {
		return nil, fmt.Errorf("compose: %w", err)
	}
	place, err := buffer(room + 2048 + 2*len(m.Subject) + top.maxSize())
	if err != nil {
		return nil, fmt.Errorf("compose: %w", err)
	}
	w := &writer{b: *bytes.NewBuffer(place[:0])}
	w.b.Write(make([]byte, room))
	if err := w.writeHeader(m); err != nil {
		return nil, fmt.Errorf("compose: %w", err)
	}
	w.beginField("MIME-Version").writeWord(" ", "1.0").endLine()
	if err := w.writeEntity(top); err != nil {
		return nil, fmt.Errorf("compose: %w", err)
	}
	out := w.b.Bytes()
	if err := checkBytes(out[room:], w.names, m.NeedsSMTPUTF8()); err != nil {
		return nil, fmt.Errorf("compose: %w", err)
	}
	return out, nil
}

// Field returns one folded field, for a header composed elsewhere.
func Field(name, value string) ([]byte, error) {
	if err := address.CheckFieldName(name); err != nil {
		return nil, err
	}
	if err := address.CheckFieldValue(name, value); err != nil {
		return nil, err
	}
	w := &writer{}
	w.writeText(name, trimSpace(value))
	return w.b.Bytes(), nil
}

// AddressField is Field for addresses; an empty list returns nothing.
func AddressField(name string, list []address.Address) []byte {
	w := &writer{}
	w.writeAddresses(name, list)
	return w.b.Bytes()
}

// writeHeader writes the fields of the message itself.
func (w *writer) writeHeader(m Message) error {
	for _, a := range slices.Concat([]address.Address{m.From}, m.ReplyTo, m.To, m.CC) {
		// An Address may have been constructed by hand.
		if again, err := address.New(a.Name, a.AddrSpec()); err != nil {
			return fmt.Errorf("address %q: %w", a.AddrSpec(), err)
		} else if again != a {
			return fmt.Errorf("address %q is not in its normal form", a.AddrSpec())
		}
	}
	if err := address.ValidateMessageID(m.MessageID); err != nil {
		return err
	}
	if m.Date.IsZero() {
		return errors.New("date: is not set")
	}
	if err := address.ValidateSubject(m.Subject); err != nil {
		return fmt.Errorf("subject: %w", err)
	}
	w.writeAddresses("From", []address.Address{m.From})
	w.writeAddresses("Reply-To", m.ReplyTo)
	w.writeAddresses("To", m.To)
	w.writeAddresses("Cc", m.CC)
	w.writeText("Subject", m.Subject)
	// RFC 5322 section 3.3, with a numeric zone.
	w.writeText("Date", m.Date.UTC().Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	w.beginField("Message-ID").writeWord(" ", "<"+m.MessageID+">").endLine()
	for _, h := range m.Headers {
		if err := checkCustom(h); err != nil {
			return fmt.Errorf("headers[%s]: %w", h.Name, err)
		}
		w.writeText(h.Name, trimSpace(h.Value))
	}
	return nil
}

// entity is a node of the message: a leaf with data or a multipart with children.
type entity struct {
	contentType string
	params      []param // in order, including the boundary
	disposition string
	name        string
	contentID   string
	encoding    string
	data        []byte                            // leaf, before encoding
	read        func(use func(data []byte)) error // instead of data
	length      int                               // of data or of the bytes from read
	escapes     int                               // bytes of data that quoted-printable encodes
	boundary    string
	children    []entity
}

// buildStructure determines the structure of the message.
func buildStructure(m Message) (entity, error) {
	if !utf8.ValidString(m.HTML) || !utf8.ValidString(m.Text) {
		return entity{}, errors.New("html or text is not valid UTF-8")
	}
	seed := sha256.Sum256([]byte(m.MessageID))
	inline, attached, err := sortAttachments(m, seed)
	if err != nil {
		return entity{}, err
	}
	var alternatives []entity // the last is the richest
	if m.Text != "" || m.HTML == "" {
		alternatives = append(alternatives, textEntity("text/plain", m.Text))
	}
	if m.HTML != "" {
		shown := textEntity("text/html", m.HTML)
		if len(inline) > 0 {
			// RFC 2387 section 3.1: the type parameter is required.
			shown = newMultipart("related", seed, append([]entity{shown}, inline...), param{"type", "text/html"})
		}
		alternatives = append(alternatives, shown)
	}
	invited := false
	for i, file := range attached {
		var event entity
		var ok bool
		if attached[i], event, ok = completeInvitation(file); ok && !invited {
			alternatives, invited = append(alternatives, event), true
		}
	}
	top := alternatives[0]
	if len(alternatives) > 1 {
		top = newMultipart("alternative", seed, alternatives)
	}
	if len(attached) > 0 {
		top = newMultipart("mixed", seed, append([]entity{top}, attached...))
	}
	return top, nil
}

// sortAttachments separates attachments that the HTML displays from the rest. Without HTML, all are in the
// rest.
func sortAttachments(m Message, seed [sha256.Size]byte) (inline, attached []entity, err error) {
	for i, a := range m.Attachments {
		e, err := attachmentEntity(a)
		if err != nil {
			return nil, nil, fmt.Errorf("attachments[%d]: %w", i, err)
		}
		if e.contentType == messageType {
			if e, err = attachMessage(e, seed); err != nil {
				return nil, nil, fmt.Errorf("attachments[%d]: %w", i, err)
			}
		}
		if a.ContentID != "" && m.HTML != "" {
			e.disposition = "inline"
			inline = append(inline, e)
		} else {
			attached = append(attached, e)
		}
	}
	return inline, attached, nil
}

func attachmentEntity(a Attachment) (entity, error) {
	if err := ValidateFileName(a.Name); err != nil {
		return entity{}, fmt.Errorf("name: %w", err)
	}
	id, err := ParseContentID(a.ContentID)
	if err != nil {
		return entity{}, fmt.Errorf("content_id: %w", err)
	}
	declared := a.ContentType
	if declared == "" {
		declared = TypeByName(a.Name)
	}
	contentType, params, err := parseContentType(declared)
	if err != nil {
		return entity{}, fmt.Errorf("content_type: %w", err)
	}
	return entity{contentType: contentType, params: params, disposition: "attachment", name: a.Name, contentID: id,
		encoding: "base64", data: a.Data, read: a.Read, length: max(len(a.Data), a.Size)}, nil
}

// textEntity returns a body in UTF-8, with CRLF line ends and a terminated last line.
func textEntity(contentType, text string) entity {
	data := canonicalText(text)
	encoding, escapes := textEncoding(data)
	return entity{contentType: contentType, params: []param{{"charset", "utf-8"}}, encoding: encoding, data: data,
		length: len(data), escapes: escapes}
}

// boundaryText returns the text that ends every boundary of a message.
func boundaryText(seed [sha256.Size]byte) string { return hex.EncodeToString(seed[:10]) }

// newMultipart derives the boundary from the message id. It cannot occur in a part: "=_" is impossible in
// quoted-printable and in base64, and attachMessage checks the only parts without an encoding.
func newMultipart(kind string, seed [sha256.Size]byte, children []entity, params ...param) entity {
	boundary := "=_" + kind + "_" + boundaryText(seed)
	return entity{contentType: "multipart/" + kind, boundary: boundary, children: children,
		params: append([]param{{"boundary", boundary}}, params...)}
}

// maxSize estimates the maximum size of the encoded entity. It is rarely too low: a buffer that has to grow for
// the last byte temporarily uses three times as much memory.
func (e entity) maxSize() int {
	n := 500 + 8*len(e.name)
	switch e.encoding {
	case "base64":
		n += base64Size(e.length)
	case "7bit":
		n += e.length + e.escapes + len("\r\n")
	default:
		encoded := e.length + 2*e.escapes
		n += encoded + encoded/20 // soft line breaks
	}
	for _, child := range e.children {
		n += child.maxSize()
	}
	return n
}

// writeEntity writes the Content fields and the content. At the top level, the fields complete the header of
// the message.
func (w *writer) writeEntity(e entity) error {
	w.beginField("Content-Type").writeWord(" ", e.contentType).writeParams(e.params)
	// RFC 2183 requires file names in Content-Disposition; this copy is for programs that read only
	// Content-Type, and is omitted if the name is not plain ASCII.
	if e.name != "" && plainParam(e.name) {
		w.writeParams([]param{{"name", e.name}})
	}
	w.endLine()
	if e.encoding != "" {
		w.beginField("Content-Transfer-Encoding").writeWord(" ", e.encoding).endLine()
	}
	if e.disposition != "" {
		w.beginField("Content-Disposition").writeWord(" ", e.disposition)
		if e.name != "" {
			w.writeParams([]param{{"filename", e.name}})
		}
		w.endLine()
	}
	if e.contentID != "" {
		w.beginField("Content-ID").writeWord(" ", "<"+e.contentID+">").endLine()
	}
	w.b.WriteString("\r\n")
	w.inBody = true
	switch {
	case e.read != nil:
		return e.read(func(data []byte) { writeEncoded(&w.b, e.encoding, data) })
	case e.boundary == "":
		writeEncoded(&w.b, e.encoding, e.data)
		return nil
	}
	for i, child := range e.children {
		if i > 0 {
			w.b.WriteString("\r\n")
		}
		w.b.WriteString("--" + e.boundary + "\r\n")
		if err := w.writeEntity(child); err != nil {
			return err
		}
	}
	w.b.WriteString("\r\n--" + e.boundary + "--\r\n")
	return nil
}

// writer collects the message. names are the fields of the message header, for the final check.
type writer struct {
	b      bytes.Buffer
	column int
	fresh  bool // only the field's name is on the line
	names  []string
	inBody bool
}
