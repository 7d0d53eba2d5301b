package mime

import (
	"bufio"
	"errors"
	"io"
	"net/mail"
	"strings"
)

// fields are those of the message, raw and unfolded, in order and as spelled.
type fields []Header

// Get is the first value of a field; textproto.Header has the same method.
func (f fields) Get(name string) string {
	for _, h := range f {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// header reads the header block of the message. It is our own reader because a
// stray line must not cost the whole message: a line that cannot be a field ends
// the header and starts the body, as in Python's parser.
func (p *parser) header(r io.Reader) (fields, io.Reader) {
	br := bufio.NewReaderSize(r, 4096)
	var lines []*strings.Builder // one per field, folds joined
	total := 0
	for number := 0; ; number++ {
		line, err := readLine(br, p.limits.HeaderBytes-total)
		total += len(line)
		switch text := strings.TrimRight(line, "\r\n"); {
		case text == "" && (line != "" || err != nil):
			return splitFields(lines), br
		case number == 0 && strings.HasPrefix(text, "From "):
			// The envelope line of an mbox file.
		case (text[0] == ' ' || text[0] == '\t') && len(lines) > 0 && total < p.limits.HeaderBytes:
			lines[len(lines)-1].WriteString(text)
		case isField(text) && total < p.limits.HeaderBytes:
			lines = append(lines, new(strings.Builder))
			lines[len(lines)-1].WriteString(text)
		default:
			p.problem("header does not end in an empty line or is longer than %d octets", p.limits.HeaderBytes)
			return splitFields(lines), io.MultiReader(strings.NewReader(line), br)
		}
	}
}

// readLine reads a line, or as much of it as is within the limit.
func readLine(br *bufio.Reader, limit int) (string, error) {
	var line []byte
	for {
		piece, err := br.ReadSlice('\n')
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) >= limit {
			return string(line), err
		}
	}
}

// isField allows white space before the colon (RFC 5322 section 4.5).
func isField(line string) bool {
	name, _, ok := strings.Cut(line, ":")
	name = strings.TrimRight(name, " \t")
	for i := range len(name) {
		if name[i] <= ' ' || name[i] > '~' {
			return false
		}
	}
	return ok && name != ""
}

func splitFields(lines []*strings.Builder) fields {
	all := make(fields, 0, len(lines))
	for _, line := range lines {
		name, value, _ := strings.Cut(line.String(), ":")
		all = append(all, Header{Name: strings.TrimRight(name, " \t"), Value: strings.TrimSpace(value)})
	}
	return all
}

// maxList bounds what one address field or References may hold.
const (
	maxList      = 1000
	maxListValue = 64 << 10
)

// describe decodes the fields and picks out those that every reader wants.
func (p *parser) describe(all fields) {
	for _, h := range all {
		p.out.Headers = append(p.out.Headers, Header{Name: h.Name, Value: decodeWords(h.Value)})
	}
	p.out.Subject = decodeWords(all.Get("Subject"))
	p.out.From = p.mailboxes("From", all)
	p.out.To = p.mailboxes("To", all)
	p.out.CC = p.mailboxes("Cc", all)
	p.out.BCC = p.mailboxes("Bcc", all)
	p.out.ReplyTo = p.mailboxes("Reply-To", all)
	p.out.MessageID = messageID(all.Get("Message-ID"))
	p.out.InReplyTo = messageID(all.Get("In-Reply-To"))
	for id := range strings.FieldsSeq(all.Get("References")) {
		if id = messageID(id); id != "" && len(p.out.References) < maxList {
			p.out.References = append(p.out.References, id)
		}
	}
	if value := all.Get("Date"); value != "" {
		date, err := mail.ParseDate(value)
		if err != nil {
			p.problem("Date is not a date")
		} else {
			p.out.Date = date
		}
	}
}

// messageID takes the first id of a value out of its angle brackets.
func messageID(value string) string {
	if _, inner, ok := strings.Cut(value, "<"); ok {
		value, _, _ = strings.Cut(inner, ">")
	}
	return oneLine(strings.TrimSpace(value))
}

var addresses = mail.AddressParser{WordDecoder: &words}

// mailboxes reads an address field. One that does not parse is kept as a name:
// a person still sees who it claims to be from.
func (p *parser) mailboxes(name string, all fields) []Mailbox {
	value := strings.TrimSpace(all.Get(name))
	if value == "" {
		return nil
	}
	var list []*mail.Address
	var err error = errTooLong
	if len(value) <= maxListValue {
		list, err = addresses.ParseList(clean(value))
	}
	if err != nil {
		p.problem("%s is not a list of addresses", name)
		return []Mailbox{{Name: decodeWords(wholeString(value, 1000))}}
	}
	boxes := make([]Mailbox, 0, min(len(list), maxList))
	for _, a := range list[:min(len(list), maxList)] {
		boxes = append(boxes, Mailbox{Name: oneLine(a.Name), Address: oneLine(requote(a.Address))})
	}
	return boxes
}

// requote puts the quotes back that net/mail takes off a local part: without them
// the address is another one.
func requote(spec string) string {
	quoted := (&mail.Address{Address: spec}).String()
	return strings.TrimSuffix(strings.TrimPrefix(quoted, "<"), ">")
}

var errTooLong = errors.New("too long")

func wholeString(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return string(wholeRunes([]byte(s[:limit])))
}
