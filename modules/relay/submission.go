package relay

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/verbatim"
)

// submission is a message in the form passed to sending.
type submission struct {
	message sending.Message
	key     string // idempotency key, if any
}

// newSubmission checks a message, and corrects common mistakes of programs: see the package comment. It is a
// pure function; its error is the SMTP reply.
func newSubmission(raw []byte, envelope []address.Address) (submission, error) {
	if !bytes.HasSuffix(raw, []byte("\r\n")) {
		raw = append(raw, '\r', '\n') // a BDAT message may lack the final line break
	}
	fields, body, err := verbatim.SplitLongLines(raw)
	if err != nil {
		return submission{}, badFormat(err)
	}
	h := header{seen: map[string]bool{}, charset: sync.OnceValue(func() string { return verbatim.Charset(raw) })}
	for _, f := range fields {
		if err := h.takeField(f); err != nil {
			return submission{}, err
		}
	}
	if h.from == nil {
		return submission{}, badHeader("From", "is required")
	}
	sub := submission{key: h.options.key}
	m := &sub.message
	*m = h.options.message
	m.From, m.Subject, m.Headers, m.ReplyTo = mailbox(*h.from), h.subject, h.custom, mailboxes(h.replyTo)
	for _, a := range envelope {
		switch to, cc := findMailbox(h.to, a), findMailbox(h.cc, a); {
		case to != nil:
			m.To = append(m.To, mailbox(*to))
		case cc != nil:
			m.CC = append(m.CC, mailbox(*cc))
		default:
			m.BCC = append(m.BCC, mailbox(a))
		}
	}
	m.Relayed = &sending.RelayedMessage{MIME: verbatim.Join(h.kept, body), MessageID: h.messageID}
	if verbatim.HasLongLine(body) {
		if m.Relayed.MIME, err = verbatim.ShortenLines(m.Relayed.MIME); err != nil {
			return sub, badFormat(err)
		}
	}
	changed := m.Unsubscribe != nil && *m.Unsubscribe
	if m.Relayed.Places, err = countPlaces(m.Relayed.MIME, changed); err != nil {
		return sub, err
	}
	err = readFiles(m.Relayed, h.kept)
	return sub, err
}

// countPlaces counts {{unsubscribe_url}} in the texts of a message: in the texts that the link is inserted
// into, if it is inserted, and otherwise in those that a reader sees. It decodes only encoded texts, and only
// those that contain the placeholder.
func countPlaces(raw []byte, changed bool) (n int, err error) {
	if !encodedText.Match(raw) && !bytes.Contains(raw, []byte("unsubscribe_url")) {
		return 0, nil
	}
	if !changed {
		read, err := message.Read(bytes.NewReader(raw))
		if err != nil {
			return 0, err
		}
		return sending.Places(read.HTML, read.Text), nil
	}
	read, err := verbatim.Read(raw)
	if err != nil {
		return 0, err
	}
	for _, text := range read.Texts {
		if text.HTML {
			n += sending.Places(text.Content, "")
		} else {
			n += sending.Places("", text.Content)
		}
	}
	return n, nil
}

var encodedText = regexp.MustCompile(`(?i)content-transfer-encoding:\s*(base64|quoted-printable)`)

// readFiles returns the attachments as the recipient's mail client sees them.
func readFiles(r *sending.RelayedMessage, fields []verbatim.HeaderField) error {
	contentType := strings.ToLower(verbatim.Get(fields, "Content-Type"))
	simple := contentType == "" || strings.HasPrefix(contentType, "text/")
	if simple && !strings.Contains(contentType, "name") && !verbatim.HasField(fields, "Content-Disposition") {
		return nil
	}
	read, err := message.Read(bytes.NewReader(r.MIME))
	if err != nil {
		return err
	}
	r.Files, r.Names = read.Files, verbatim.Names(r.MIME)
	return nil
}

// findMailbox finds an envelope address in a field, which may add a display name.
func findMailbox(list []address.Address, a address.Address) *address.Address {
	i := slices.IndexFunc(list, func(other address.Address) bool {
		return strings.EqualFold(other.AddrSpec(),
			a.AddrSpec())
	})
	if i < 0 {
		return nil
	}
	found := address.Address{Name: list[i].Name, Local: a.Local, Domain: a.Domain}
	return &found
}

func mailbox(a address.Address) sending.Mailbox { return sending.Mailbox{Text: a.String()} }

func mailboxes(list []address.Address) []sending.Mailbox {
	var out []sending.Mailbox
	for _, a := range list {
		out = append(out, mailbox(a))
	}
	return out
}

// options are the values of the X-Postrider-* fields.
type options struct {
	message sending.Message
	key     string
}

// customHeaders appends a field that an API client could have set as a custom header, each one once.
func customHeaders(list []shape.Header, name, value string) []shape.Header {
	if len(list) >= sending.MaxHeaders || address.ValidateHeader(name, value) != nil ||
		slices.ContainsFunc(list, func(h shape.Header) bool { return strings.EqualFold(h.Name, name) }) {
		return list
	}
	return append(list, shape.Header{Name: name, Value: value})
}
