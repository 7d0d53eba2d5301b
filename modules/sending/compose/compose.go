package compose

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/unsubscribe"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/mime"
	"github.com/postrider/postrider/runtime/mail/plaintext"
)

// SignedMessage is the message as sent, with the identity of its sender.
type SignedMessage struct {
	Raw      []byte
	Identity domains.SigningIdentity
	UTF8     bool                   // an address in the header requires SMTPUTF8 (RFC 6531)
	SevenBit func() ([]byte, error) // returns the message for servers without 8BITMIME; nil if it is 7-bit
}

// Sign returns the composed and signed message, and a function to call after its last use. It returns the error
// of the identity (kind Forbidden: it may not send), Unavailable if there is no room or no database, or an
// error of another kind if the message cannot be composed.
func (c *Composer) Sign(ctx context.Context, o *StoredEmail) (msg SignedMessage, done func(), err error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if !o.IsHeavy() {
		if o.users++; o.users == 1 {
			o.signed, o.err = c.composeAndSign(ctx, o, inMemory)
		}
		return o.signed, func() {}, o.err
	}
	if o.users == 0 {
		if o.signed, err = c.signHeavy(ctx, o); err != nil {
			return SignedMessage{}, nil, err
		}
	}
	o.users++
	return o.signed, func() { o.releaseBuffers() }, nil
}

// bufferSource returns a buffer for a message of about the given size.
type bufferSource func(size int) ([]byte, error)

func inMemory(size int) ([]byte, error) { return make([]byte, 0, size), nil }

// signatureRoom is the space in front of a composed message for its DKIM-Signatures, which take about 1,000
// bytes each.
const signatureRoom = 8 << 10

func (c *Composer) composeAndSign(ctx context.Context, o *StoredEmail, where bufferSource) (SignedMessage, error) {
	if o.relayed {
		return c.relayAndSign(ctx, o, where)
	}
	from, err := address.Parse(o.from)
	if err != nil {
		return SignedMessage{}, fmt.Errorf("read email %s: from: %w", o.id, err)
	}
	identity, err := c.domains.Identity(ctx, o.accountID, from)
	if err != nil {
		return SignedMessage{}, err
	}
	msg, err := c.loadMessage(ctx, o, identity)
	if err != nil {
		return SignedMessage{}, err
	}
	raw, err := mime.ComposeInto(msg, signatureRoom, where)
	if err != nil {
		return SignedMessage{}, fmt.Errorf("compose email %s: %w", o.id, err)
	}
	if raw, err = signAfterRoom(raw, identity); err != nil {
		return SignedMessage{}, fmt.Errorf("sign email %s: %w", o.id, err)
	}
	return SignedMessage{Raw: raw, Identity: identity, UTF8: msg.NeedsSMTPUTF8()}, nil
}

// loadMessage returns the complete message of an email.
func (c *Composer) loadMessage(ctx context.Context, o *StoredEmail,
	identity domains.SigningIdentity) (mime.Message, error) {
	msg, err := o.toMessage()
	if err != nil {
		return msg, fmt.Errorf("read email %s: %w", o.id, err)
	}
	if !o.loaded {
		if err := c.loadRest(ctx, o, &msg); err != nil {
			return msg, fmt.Errorf("load email %s: %w", o.id, err)
		}
	}
	if err := c.addDerivedParts(ctx, o, identity, &msg); err != nil {
		return msg, fmt.Errorf("finish email %s: %w", o.id, err)
	}
	return msg, nil
}

// signAfterRoom writes the signatures into the space in front of the message.
func signAfterRoom(raw []byte, identity domains.SigningIdentity) ([]byte, error) {
	field, err := dkim.Fields(raw[signatureRoom:], identity.Signers()...)
	if err != nil {
		return nil, err
	}
	if len(field) > signatureRoom {
		return nil, fmt.Errorf("signature too long: %d bytes", len(field))
	}
	raw = raw[signatureRoom-len(field):]
	copy(raw, field)
	return raw, nil
}

// addDerivedParts adds the parts that are not stored because they depend on the message's id: the unsubscribe
// link, then tracking, which does not change that link. An HTML-only message gets a text part, unless the
// caller disabled it.
func (c *Composer) addDerivedParts(ctx context.Context, o *StoredEmail, identity domains.SigningIdentity,
	msg *mime.Message) (err error) {
	msg.Headers = append(msg.Headers, mime.Header{Name: feedbackField, Value: o.feedbackID()})
	if o.unsubscribe {
		link, err := c.linkOf(o)
		if err != nil {
			return err
		}
		addUnsubscribe(link, msg)
	}
	if msg.Text == "" && msg.HTML != "" && !o.noText {
		msg.Text = plaintext.FromHTML(msg.HTML)
	}
	if c.rewriter == nil || !identity.OpenTracking && !identity.ClickTracking {
		return nil
	}
	track := tracking.TrackedEmail{AccountID: o.accountID, EmailID: o.id, DomainID: identity.DomainID,
		Opens: identity.OpenTracking, Clicks: identity.ClickTracking}
	msg.HTML, msg.Text, err = c.rewriter.Rewrite(ctx, track, msg.HTML, msg.Text)
	return err
}

// linkOf returns the unsubscribe link of an email.
func (c *Composer) linkOf(o *StoredEmail) (string, error) {
	first, err := address.Parse(o.first)
	if err != nil {
		return "", fmt.Errorf("first recipient: %w", err)
	}
	return unsubscribe.Link(c.links, o.accountID, o.id, first, o.category), nil
}

// addUnsubscribe adds the header fields and inserts the link.
func addUnsubscribe(link string, msg *mime.Message) {
	msg.Headers = append(msg.Headers,
		mime.Header{Name: unsubscribe.Field, Value: "<" + link + ">"},
		mime.Header{Name: unsubscribe.FieldPost, Value: unsubscribe.OneClick})
	msg.Subject = unsubscribe.InText(msg.Subject, link)
	msg.Text = unsubscribe.InText(msg.Text, link)
	msg.HTML = unsubscribe.InHTML(msg.HTML, link)
}
