package delivery

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/unsubscribe"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/mime"
	"github.com/postrider/postrider/runtime/mail/plaintext"
)

// outgoing is a stored email on its way out. It is composed and signed once for
// all recipients of one claim: nothing in the bytes names a recipient.
type outgoing struct {
	id, accountID, domainID string
	from, first             string // first is the first recipient
	to, cc, replyTo         []string
	subject, html, text     string
	noText                  bool   // the caller wants no text part
	relayed                 bool   // its sender composed it
	mime                    []byte // then, where loaded
	headers                 []shape.Header
	tags                    []shape.Tag
	messageID               string
	attachments             int
	lonely                  bool // has one recipient
	createdAt               time.Time
	date                    time.Time // accepted, or released at its time
	unsubscribe             bool
	category                string
	expires                 bool
	life                    time.Duration // until it expires, by the database clock, when it was claimed
	loaded                  bool          // html and text, or mime, are here and there are no attachments
	size                    int           // octets of bodies and attachments as stored

	mutex  sync.Mutex // held while composing: the other recipients wait for the result
	users  int        // deliveries that use the composed message
	signed signedMessage
	err    error
	held   contents // what a heavy message lies in
}

// signedMessage is what goes over the wire, and under which identity.
type signedMessage struct {
	raw      []byte
	identity domains.Identity
	utf8     bool                   // an address in the header needs SMTPUTF8, RFC 6531
	sevenBit func() ([]byte, error) // for servers without 8BITMIME; nil: it is 7-bit
}

// sign gives the composed and signed message; done is called after its use.
func (c *composer) sign(ctx context.Context, o *outgoing) (msg signedMessage, done func(), err error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if !o.heavy() {
		if o.users++; o.users == 1 {
			o.signed, o.err = c.composeAndSign(ctx, o, inMemory)
		}
		return o.signed, func() {}, o.err
	}
	if o.users == 0 {
		if o.signed, err = c.signHeavy(ctx, o); err != nil {
			return signedMessage{}, nil, err
		}
	}
	o.users++
	return o.signed, func() { o.forget() }, nil
}

// place gives where a message of about a size is written.
type place func(size int) ([]byte, error)

func inMemory(size int) ([]byte, error) { return make([]byte, 0, size), nil }

// signatureRoom is left in front of a composed message for its DKIM-Signatures,
// which are about 1,000 octets each.
const signatureRoom = 8 << 10

func (c *composer) composeAndSign(ctx context.Context, o *outgoing, where place) (signedMessage, error) {
	if o.relayed {
		return c.relayAndSign(ctx, o, where)
	}
	msg, err := o.composed()
	if err != nil {
		return signedMessage{}, fmt.Errorf("read email %s: %w", o.id, err)
	}
	identity, err := c.domains.Identity(ctx, o.accountID, msg.From)
	if err != nil {
		return signedMessage{}, err
	}
	if !o.loaded {
		if err := c.loadRest(ctx, o, &msg); err != nil {
			return signedMessage{}, fmt.Errorf("load email %s: %w", o.id, err)
		}
	}
	if err := c.finish(ctx, o, identity, &msg); err != nil {
		return signedMessage{}, fmt.Errorf("finish email %s: %w", o.id, err)
	}
	raw, err := mime.ComposeInto(msg, signatureRoom, where)
	if err != nil {
		return signedMessage{}, fmt.Errorf("compose email %s: %w", o.id, err)
	}
	if raw, err = signAfterRoom(raw, identity); err != nil {
		return signedMessage{}, fmt.Errorf("sign email %s: %w", o.id, err)
	}
	return signedMessage{raw: raw, identity: identity, utf8: msg.NeedsSMTPUTF8()}, nil
}

// signAfterRoom puts the signatures into the room in front of the message.
func signAfterRoom(raw []byte, identity domains.Identity) ([]byte, error) {
	field, err := dkim.Fields(raw[signatureRoom:], identity.Signers()...)
	if err != nil {
		return nil, err
	}
	if len(field) > signatureRoom {
		return nil, fmt.Errorf("signature of %d octets", len(field))
	}
	raw = raw[signatureRoom-len(field):]
	copy(raw, field)
	return raw, nil
}

// finish puts in what is not stored because it comes from the message's id: the
// link to unsubscribe with, and then tracking, which leaves that link alone.
// HTML alone gets a text part, unless the caller wants none.
func (c *composer) finish(ctx context.Context, o *outgoing, identity domains.Identity, msg *mime.Message) (err error) {
	msg.Headers = append(msg.Headers, mime.Header{Name: feedbackField, Value: o.feedbackID()})
	if o.unsubscribe {
		link, err := c.linkOf(o)
		if err != nil {
			return err
		}
		unsubscribable(link, msg)
	}
	if msg.Text == "" && msg.HTML != "" && !o.noText {
		msg.Text = plaintext.Of(msg.HTML)
	}
	if c.rewriter == nil || !identity.OpenTracking && !identity.ClickTracking {
		return nil
	}
	track := tracking.Message{AccountID: o.accountID, EmailID: o.id, DomainID: identity.DomainID, Opens: identity.OpenTracking, Clicks: identity.ClickTracking}
	msg.HTML, msg.Text, err = c.rewriter.Rewrite(ctx, track, msg.HTML, msg.Text)
	return err
}

// composed turns the stored columns back into a message.
func (o *outgoing) composed() (mime.Message, error) {
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

// payload is the email part of a fact about it.
func (o *outgoing) payload(status string) event.Email {
	return event.Email{EmailID: o.id, From: o.from, To: o.to, CC: o.cc, Subject: o.subject,
		EmailStatus: status, Tags: o.tags, CreatedAt: event.At(o.createdAt)}
}

// linkOf gives the link to unsubscribe from an email with.
func (c *composer) linkOf(o *outgoing) (string, error) {
	first, err := address.Parse(o.first)
	if err != nil {
		return "", fmt.Errorf("first recipient: %w", err)
	}
	return unsubscribe.Link(c.links, o.accountID, o.id, first, o.category), nil
}

// unsubscribable adds the header fields and puts the link in.
func unsubscribable(link string, msg *mime.Message) {
	msg.Headers = append(msg.Headers,
		mime.Header{Name: unsubscribe.Field, Value: "<" + link + ">"}, mime.Header{Name: unsubscribe.FieldPost, Value: unsubscribe.OneClick})
	msg.Subject = unsubscribe.InText(msg.Subject, link)
	msg.Text = unsubscribe.InText(msg.Text, link)
	msg.HTML = unsubscribe.InHTML(msg.HTML, link)
}
