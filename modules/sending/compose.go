package sending

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/mime"
)

// outgoing is a stored email on its way out. It is composed and signed once for
// all recipients of one claim: nothing in the bytes names a recipient.
type outgoing struct {
	id, accountID, domainID string
	from                    string
	to, cc, replyTo         []string
	subject, html, text     string
	headers                 []shape.Header
	tags                    []shape.Tag
	messageID               string
	attachments             int
	createdAt               time.Time
	loaded                  bool // html and text are here and there are no attachments

	once   sync.Once
	signed signedMessage
	err    error
}

// signedMessage is what goes over the wire, and under which identity.
type signedMessage struct {
	raw      []byte
	identity domains.Identity
	utf8     bool // an address in the header needs SMTPUTF8, RFC 6531
}

// sign gives the composed and signed message.
func (s *Service) sign(ctx context.Context, o *outgoing) (signedMessage, error) {
	o.once.Do(func() { o.signed, o.err = s.composeAndSign(ctx, o) })
	return o.signed, o.err
}

func (s *Service) composeAndSign(ctx context.Context, o *outgoing) (signedMessage, error) {
	files, err := s.loadRest(ctx, o)
	if err != nil {
		return signedMessage{}, fmt.Errorf("load email %s: %w", o.id, err)
	}
	msg, err := o.mime(files)
	if err != nil {
		return signedMessage{}, fmt.Errorf("read email %s: %w", o.id, err)
	}
	identity, err := s.domains.Identity(ctx, o.accountID, msg.From)
	if err != nil {
		return signedMessage{}, err
	}
	raw, err := mime.Compose(msg)
	if err != nil {
		return signedMessage{}, fmt.Errorf("compose email %s: %w", o.id, err)
	}
	signed, err := dkim.Sign(raw, identity.Signers()...)
	if err != nil {
		return signedMessage{}, fmt.Errorf("sign email %s: %w", o.id, err)
	}
	return signedMessage{raw: signed, identity: identity, utf8: msg.NeedsSMTPUTF8()}, nil
}

// mime turns the stored columns back into a message.
func (o *outgoing) mime(files []mime.Attachment) (mime.Message, error) {
	msg := mime.Message{Subject: o.subject, HTML: o.html, Text: o.text, MessageID: o.messageID, Date: o.createdAt, Attachments: files}
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

const (
	loadBodySQL  = `SELECT coalesce(html, ''), coalesce(text, '') FROM emails WHERE id = $1 AND account_id = $2`
	loadFilesSQL = `SELECT name, content_type, content_id, data FROM attachments WHERE email_id = $1 AND account_id = $2 ORDER BY position`
)

// loadRest loads what the claim left out because of its size.
func (s *Service) loadRest(ctx context.Context, o *outgoing) ([]mime.Attachment, error) {
	if o.loaded {
		return nil, nil
	}
	if err := s.db.Hot.QueryRowContext(ctx, loadBodySQL, o.id, o.accountID).Scan(&o.html, &o.text); err != nil {
		return nil, err
	}
	if o.attachments == 0 {
		return nil, nil
	}
	rows, err := s.db.Hot.QueryContext(ctx, loadFilesSQL, o.id, o.accountID)
	if err != nil {
		return nil, err
	}
	return scanAll(rows, func(f *mime.Attachment) []any {
		return []any{&f.Name, &f.ContentType, &f.ContentID, &f.Data}
	})
}

// payload is the email part of a fact about it.
func (o *outgoing) payload(status string) event.Email {
	return event.Email{EmailID: o.id, From: o.from, To: o.to, CC: o.cc, Subject: o.subject,
		Status: status, Tags: o.tags, CreatedAt: o.createdAt.UTC()}
}
