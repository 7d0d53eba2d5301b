package relay

import (
	gomime "mime"
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/mime"
	"github.com/postrider/postrider/runtime/mail/verbatim"
)

// Fields that only Postrider reads; they are removed before delivery.
const (
	headerPrefix      = "X-Postrider-"
	headerUnsubscribe = headerPrefix + "Unsubscribe"
	headerCategory    = headerPrefix + "Category"
	headerTag         = headerPrefix + "Tag"
	headerScheduledAt = headerPrefix + "Scheduled-At"
	headerExpiresAt   = headerPrefix + "Expires-At"
	headerKey         = headerPrefix + "Idempotency-Key"
)

// removed are the fields that are deleted: a submission server writes them itself, or later servers must
// not see them (RFC 6409 section 8, RFC 5321 section 4.4).
var removed = newSet("bcc", "sender", "return-path", "received", "dkim-signature")

// written are the fields that a program composes, and that API clients cannot set as custom headers.
var written = newSet("from", "to", "cc", "reply-to", "subject", "date", "message-id", "mime-version")

// once are the fields that may appear at most once in a message (RFC 5322 section 3.6, RFC 2045, RFC 8058).
// If there are two, some readers use the first and others the last.
var once = newSet("from", "to", "cc", "reply-to", "subject", "date", "message-id", "in-reply-to", "references",
	"mime-version",
	"content-type", "content-transfer-encoding", "content-disposition", "content-id", "list-unsubscribe",
	"list-unsubscribe-post",
	"x-postrider-unsubscribe", "x-postrider-category", "x-postrider-scheduled-at", "x-postrider-expires-at",
	"x-postrider-idempotency-key")

func newSet(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}

// header is the header of a message while it is processed.
type header struct {
	charset   func() string // charset of raw 8-bit values
	kept      []verbatim.HeaderField
	seen      map[string]bool
	from      *address.Address
	to, cc    []address.Address
	replyTo   []address.Address
	subject   string
	messageID string
	custom    []shape.Header
	options   options
}

// takeField checks one field and keeps it, or applies the option that it sets. Its error is the SMTP reply.
func (h *header) takeField(f verbatim.HeaderField) error {
	name := strings.ToLower(f.Name)
	if removed[name] {
		return nil
	}
	if once[name] && h.seen[name] {
		return badHeader(f.Name, "must appear only once")
	}
	h.seen[name] = true
	value := f.Value()
	switch {
	case strings.Contains(value, shiftSequence):
		value = message.Decode([]byte(value), "iso-2022-jp")
	case !utf8.ValidString(value):
		value = message.Decode([]byte(value), h.charset())
	}
	decoded := verbatim.Decode(value)
	if strings.ContainsFunc(decoded,
		func(r rune) bool { return r != '\t' && (unicode.IsControl(r) || r == 0x2028 || r == 0x2029) }) {
		return badHeader(f.Name, "cannot contain line breaks or other control characters")
	}
	if strings.HasPrefix(name, strings.ToLower(headerPrefix)) {
		return h.options.takeOption(f.Name, name, decoded)
	}
	if !written[name] && !strings.HasPrefix(name, "content-") {
		if err := address.ValidateHeader(f.Name, ""); err != nil {
			return forbiddenReply(f.Name + ": " + err.Error())
		}
		h.custom = customHeaders(h.custom, f.Name, decoded)
	}
	if err := h.parseField(name, &f, value, decoded); err != nil || f.Raw == nil {
		return err
	}
	if !isASCII(value) {
		if err := h.encode(name, &f, value); err != nil {
			return err
		}
	}
	if verbatim.HasLongLine(f.Raw) {
		if err := h.foldField(name, &f); err != nil {
			return err
		}
	}
	h.kept = append(h.kept, f)
	return nil
}

// shiftSequence begins text of ISO-2022-JP, a charset of 7-bit bytes.
const shiftSequence = "\x1b$"

// foldField folds a field with a line over 998 bytes.
func (h *header) foldField(name string, f *verbatim.HeaderField) error {
	folded, done := f.Fold()
	if list := h.listOf(name); !done && len(list) > 0 {
		folded.Raw, done = mime.AddressField(f.Name, list), true
	}
	if !done {
		return badHeader(f.Name, "has a word that does not fit on a line of 998 bytes")
	}
	*f = folded
	return nil
}

// listOf returns the addresses of a field that was already parsed, or nil for other fields.
func (h *header) listOf(name string) []address.Address {
	switch name {
	case "from":
		if h.from != nil {
			return []address.Address{*h.from}
		}
	case "to":
		return h.to
	case "cc":
		return h.cc
	case "reply-to":
		return h.replyTo
	}
	return nil
}

// parseField parses the fields needed for the record and the rules.
func (h *header) parseField(name string, f *verbatim.HeaderField, value, decoded string) error {
	switch name {
	case "from":
		from, err := address.Parse(value)
		if err != nil {
			return badHeader("From", err.Error()+"; it must be one address")
		}
		if hasRoute(from.Local) {
			return replyRouting
		}
		h.from = &from
	case "to":
		return takeList(f, value, &h.to)
	case "cc":
		return takeList(f, value, &h.cc)
	case "reply-to":
		return takeList(f, value, &h.replyTo)
	case "date":
		if _, err := mail.ParseDate(value); err != nil {
			f.Raw = nil // replaced by our own
		}
	case "subject":
		if err := address.ValidateSubject(decoded); err != nil {
			return badHeader("Subject", err.Error())
		}
		h.subject = decoded
	case "message-id":
		inner, found := strings.CutPrefix(value, "<")
		inner, ended := strings.CutSuffix(inner, ">")
		if found && ended && address.ValidateMessageID(inner) == nil {
			h.messageID = inner
		} else {
			f.Raw = nil // replaced by our own
		}
	}
	return nil
}

// takeList parses a list of addresses. It removes an empty list, because RFC 5322 section 3.6.3 does not
// allow it, and rewrites a list with common mistakes.
func takeList(f *verbatim.HeaderField, value string, list *[]address.Address) error {
	if strings.Trim(value, " \t,;<>") == "" {
		f.Raw = nil
		return nil
	}
	read, repaired, err := verbatim.RepairMailboxes(value)
	switch {
	case err != nil && f.Is("To") && !strings.Contains(value, "@"): // such as "undisclosed-recipients"
		f.Raw = []byte(f.Name + ": undisclosed-recipients:;\r\n")
		return nil
	case err != nil:
		return badHeader(f.Name, "must be a list of addresses")
	case repaired:
		f.Raw = mime.AddressField(f.Name, read)
	}
	*list = read
	return nil
}

// encode writes a field of raw UTF-8 (RFC 6532) as encoded words, so that it does not require SMTPUTF8.
// Fields that cannot contain encoded words are rejected.
func (h *header) encode(name string, f *verbatim.HeaderField, value string) error {
	list := h.listOf(name)
	isList := slices.Contains([]string{"from", "to", "cc", "reply-to"}, name)
	switch {
	case isList && len(list) > 0:
		f.Raw = mime.AddressField(f.Name, list)
		return nil
	case isList && isASCII(string(f.Raw)): // corrected
		return nil
	case name == "content-type", name == "content-disposition":
		kind, params, err := gomime.ParseMediaType(value)
		if written := gomime.FormatMediaType(kind, params); err == nil && written != "" { // as required by RFC 2231
			f.Raw = []byte(f.Name + ": " + written + "\r\n")
			return nil
		}
	}
	switch {
	case isList, once[name] && name != "subject", strings.HasPrefix(name, "content-"), strings.HasPrefix(name, "list-"):
		return badHeader(f.Name, "contains non-ASCII characters that cannot be encoded in this field")
	}
	raw, err := mime.Field(f.Name, value)
	if err != nil {
		return badHeader(f.Name, err.Error())
	}
	f.Raw = raw
	return nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// takeOption parses one of the X-Postrider-* fields.
func (o *options) takeOption(shown, name, value string) error {
	moment := func() (*time.Time, error) {
		at, err := time.Parse(time.RFC3339, value)
		if err != nil {
			return nil, badHeader(shown, "must be a time such as 2026-01-15T09:30:00Z")
		}
		return &at, nil
	}
	var err error
	switch name {
	case strings.ToLower(headerUnsubscribe):
		yes := strings.EqualFold(value, "true")
		if !yes && !strings.EqualFold(value, "false") {
			return badHeader(shown, "must be true or false")
		}
		o.message.Unsubscribe = &yes
	case strings.ToLower(headerCategory):
		o.message.Category = value
	case strings.ToLower(headerTag):
		tag, content, found := strings.Cut(value, "=")
		if !found {
			return badHeader(shown, "must be name=value")
		}
		o.message.Tags = append(o.message.Tags,
			shape.Tag{Name: strings.TrimSpace(tag), Value: strings.TrimSpace(content)})
	case strings.ToLower(headerScheduledAt):
		o.message.ScheduledAt, err = moment()
	case strings.ToLower(headerExpiresAt):
		o.message.ExpiresAt, err = moment()
	case strings.ToLower(headerKey):
		if o.key = value; value == "" {
			return badHeader(shown, "must be 1 to 255 printable ASCII characters")
		}
	default:
		return badHeader(shown, "is not a known Postrider field")
	}
	return err
}
