package compose

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending/bodies"
	"github.com/postrider/postrider/modules/sending/handover"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/mime"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// StoredEmail is a stored email being delivered. It is composed and signed once for all recipients that share it,
// because no byte of it depends on the recipient.
type StoredEmail struct {
	DomainID     string
	OneRecipient bool
	Expires      bool
	Life         time.Duration // time until it expires, by the database clock when it was loaded
	Size         int           // size of bodies and attachments as stored, in bytes

	id, accountID       string
	from, first         string // first is the first recipient
	to, cc, replyTo     []string
	subject, html, text string
	noText              bool   // the caller disabled the text part
	relayed             bool   // submitted over SMTP
	bodyKey             string // key of the body in the object store; empty if the body is in the row
	mime                []byte // message of a relayed email, if loaded
	headers             []shape.Header
	tags                []shape.Tag
	messageID           string
	attachments         int
	createdAt           time.Time
	date                time.Time // when accepted, or when released if scheduled
	unsubscribe         bool
	category            string
	loaded              bool // html and text, or mime, are loaded and there are no attachments

	mutex  sync.Mutex // held while composing; other recipients wait for the result
	users  int        // number of deliveries using the composed message
	signed SignedMessage
	err    error
	held   contents // buffers of a heavy message
}

// inlineBody is the largest body that Load reads, in bytes. Larger bodies and attachments are read when the
// email is signed.
const inlineBody = handover.MaxSize

const loadSQL = `
SELECT id, account_id, domain_id, "from", "to", coalesce(cc, '[]'), coalesce(reply_to, '[]'), subject,
	coalesce(headers, '[]'), coalesce(tags, '[]'), message_id, attachment_count, created_at, coalesce(sent_at, created_at), unsubscribe, coalesce(category, ''),
	coalesce((extract(epoch FROM expires_at - now()) * 1000000)::bigint, 0), expires_at IS NOT NULL,
	coalesce("to"->>0, cc->>0, bcc->>0, ''), jsonb_array_length("to") + jsonb_array_length(coalesce(cc, '[]')) + jsonb_array_length(coalesce(bcc, '[]')) = 1,
	CASE WHEN small THEN coalesce(html, '') ELSE '' END, CASE WHEN small THEN coalesce(text, '') ELSE '' END, coalesce(text = '', false), mime IS NOT NULL, CASE WHEN small THEN mime END, small, coalesce(body_key, ''),
	body + CASE WHEN attachment_count = 0 THEN 0 ELSE (SELECT coalesce(sum(a.size), 0)::bigint FROM attachments a WHERE a.email_id = e.id) END
FROM (SELECT *, body <= $2 AND body_key IS NULL AND (attachment_count = 0 OR mime IS NOT NULL) AS small
	FROM (SELECT m.*, coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0) + coalesce(octet_length(mime), 0) + coalesce(body_size, 0) AS body
		FROM unnest($1::text[]) AS wanted (id), LATERAL (SELECT * FROM emails WHERE id = wanted.id LIMIT 1) m) b) e`

// Load reads stored emails, keyed by id, without large bodies and attachments. The result omits deleted emails.
// Each email is looked up separately, in its monthly partition.
func Load(ctx context.Context, tx db.Execer, ids []string) (map[string]*StoredEmail, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	emails, err := db.All(ctx, tx, func(o *StoredEmail) []any {
		return []any{&o.id, &o.accountID, &o.DomainID, &o.from, db.ScanJSON(&o.to), db.ScanJSON(&o.cc),
			db.ScanJSON(&o.replyTo), &o.subject,
			db.ScanJSON(&o.headers), db.ScanJSON(&o.tags), &o.messageID, &o.attachments, &o.createdAt, &o.date,
			&o.unsubscribe, &o.category, db.ScanMicroseconds(&o.Life), &o.Expires, &o.first, &o.OneRecipient, &o.html,
			&o.text, &o.noText, &o.relayed, &o.mime, &o.loaded, &o.bodyKey, &o.Size}
	}, loadSQL, db.Array(ids), inlineBody)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*StoredEmail, len(emails))
	for i := range emails {
		emails[i].relayed = emails[i].relayed || bodies.IsRelayed(emails[i].bodyKey)
		byID[emails[i].id] = &emails[i]
	}
	return byID, nil
}

// NewEmail returns the email that Load would return for the stored row. It copies the content, which may be in a buffer
// of the request.
func NewEmail(e *handover.Email) *StoredEmail {
	o := &StoredEmail{id: e.ID, accountID: e.AccountID, DomainID: e.DomainID, from: e.From, to: e.To, cc: e.Cc,
		replyTo: e.ReplyTo, subject: e.Subject, noText: e.Text != nil && *e.Text == "", headers: e.Headers, tags: e.Tags,
		messageID: e.MessageID, attachments: e.AttachmentCount, createdAt: e.CreatedAt, date: e.CreatedAt,
		unsubscribe: e.Unsubscribe, category: valueOf(e.Category), Size: e.Size}
	if e.Mime != nil {
		o.relayed, o.mime = true, bytes.Clone(*e.Mime)
	}
	o.OneRecipient = len(e.To)+len(e.Cc)+len(e.Bcc) == 1
	if o.loaded = e.AttachmentCount == 0 || o.relayed; o.loaded {
		o.html, o.text = strings.Clone(valueOf(e.HTML)), strings.Clone(valueOf(e.Text))
	}
	for _, list := range [][]string{e.To, e.Cc, e.Bcc} {
		if o.first == "" && len(list) > 0 {
			o.first = list[0]
		}
	}
	return o
}

// valueOf returns a nullable text, or "".
func valueOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// toMessage converts the stored columns into a message.
func (o *StoredEmail) toMessage() (mime.Message, error) {
	msg := mime.Message{Subject: o.subject, HTML: o.html, Text: o.text, MessageID: o.messageID, Date: o.date}
	for _, h := range o.headers {
		msg.Headers = append(msg.Headers, mime.Header{Name: h.Name, Value: h.Value})
	}
	var err error
	if msg.From, err = address.Parse(o.from); err != nil {
		return mime.Message{}, fmt.Errorf("from: %w", err)
	}
	for _, list := range []struct {
		name string
		from []string
		to   *[]address.Address
	}{{"to", o.to, &msg.To}, {"cc", o.cc, &msg.CC}, {"reply_to", o.replyTo, &msg.ReplyTo}} {
		if *list.to, err = parseStored(list.from); err != nil {
			return mime.Message{}, fmt.Errorf("%s: %w", list.name, err)
		}
	}
	return msg, nil
}

func parseStored(list []string) ([]address.Address, error) {
	out := make([]address.Address, 0, len(list))
	for _, text := range list {
		a, err := address.Parse(text)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// Payload returns the email part of a fact about the email with a status.
func (o *StoredEmail) Payload(status string) event.Email {
	return event.Email{EmailID: o.id, From: o.from, To: o.to, CC: o.cc, Subject: o.subject,
		EmailStatus: status, Tags: o.tags, CreatedAt: event.NewTime(o.createdAt)}
}
