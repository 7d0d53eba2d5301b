package compose

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/unsubscribe"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/mime"
	"github.com/postrider/postrider/runtime/mail/verbatim"
)

// relayAndSign is composeAndSign for a message composed by its sender. Its fields stay in order, with missing
// ones appended. Its body stays byte for byte, except for texts changed by tracking or the unsubscribe link.
func (c *Composer) relayAndSign(ctx context.Context, o *StoredEmail, where bufferSource) (SignedMessage, error) {
	from, err := address.Parse(o.from)
	if err != nil {
		return SignedMessage{}, fmt.Errorf("read email %s: from: %w", o.id, err)
	}
	identity, err := c.domains.Identity(ctx, o.accountID, from)
	if err != nil {
		return SignedMessage{}, err
	}
	if !o.loaded && o.mime == nil { // larger than a claim loads, but not heavy
		in, err := c.loadMIME(ctx, o, composePatience)
		if err != nil {
			return SignedMessage{}, err
		}
		defer func() { o.mime = nil; in.Close() }()
	}
	raw, err := c.composeRelayed(ctx, o, identity, signatureRoom, where)
	if err == nil {
		raw, err = signAfterRoom(raw, identity)
	}
	if err != nil {
		return SignedMessage{}, fmt.Errorf("relay email %s: %w", o.id, err)
	}
	fields, body, err := verbatim.Split(raw)
	if err != nil {
		return SignedMessage{}, fmt.Errorf("relay email %s: %w", o.id, err)
	}
	signed := SignedMessage{Raw: raw, Identity: identity,
		UTF8: slices.ContainsFunc(fields, func(f verbatim.HeaderField) bool { return hasEightBit(f.Raw) })}
	if hasEightBit(body) {
		signed.SevenBit = func() ([]byte, error) { return inSevenBit(raw, identity) }
	}
	return signed, nil
}

func hasEightBit(b []byte) bool {
	return slices.ContainsFunc(b, func(c byte) bool { return c >= 0x80 })
}

// loadMIME reads the relayed message into a content, which the caller closes.
func (c *Composer) loadMIME(ctx context.Context, o *StoredEmail, patience time.Duration) (*intake.Content, error) {
	content, err := c.contents.Content(ctx, o.accountID, o.id, patience)
	if err == nil && content == nil {
		err = errors.New("content was deleted")
	}
	if err == nil {
		if o.mime, err = content.Bytes(); err != nil {
			content.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("load email %s: %w", o.id, err)
	}
	return content, nil
}

// composeRelayed returns the message after some space for its signatures.
func (c *Composer) composeRelayed(ctx context.Context, o *StoredEmail, identity domains.SigningIdentity, room int,
	where bufferSource) ([]byte, error) {
	m, err := verbatim.Read(o.mime)
	if err != nil {
		return nil, err
	}
	fields := slices.Clone(m.Fields)
	add := func(name, value string) {
		written, fieldErr := mime.Field(name, value)
		fields, err = append(fields, verbatim.HeaderField{Name: name, Raw: written}), errors.Join(err, fieldErr)
	}
	if !verbatim.HasField(fields, "Date") {
		add("Date", o.date.UTC().Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	}
	if !verbatim.HasField(fields, "Message-ID") {
		add("Message-ID", "<"+o.messageID+">")
	}
	add(feedbackField, o.feedbackID())
	link := ""
	if o.unsubscribe {
		if link, err = c.linkOf(o); err != nil {
			return nil, err
		}
		add(unsubscribe.Field, "<"+link+">")
		add(unsubscribe.FieldPost, unsubscribe.OneClick)
		if subject := unsubscribe.InText(o.subject, link); subject != o.subject {
			fields = slices.DeleteFunc(fields, func(f verbatim.HeaderField) bool { return f.Is("Subject") })
			add("Subject", subject)
		}
	}
	if err != nil {
		return nil, err
	}
	changed, err := c.changedTexts(ctx, o, identity, m.Texts, link)
	if err != nil {
		return nil, err
	}
	return m.WriteInto(room, fields, changed, where)
}

// changedTexts returns the new texts of the parts that change. Opens and clicks are tracked in the first part
// of each kind, which is the body.
func (c *Composer) changedTexts(ctx context.Context, o *StoredEmail, identity domains.SigningIdentity,
	texts []*verbatim.TextBody, link string) (map[*verbatim.TextBody]string, error) {
	changed := map[*verbatim.TextBody]string{}
	var firstHTML, firstText *verbatim.TextBody
	for _, t := range texts {
		content := t.Content
		switch {
		case link == "":
		case t.HTML:
			content = unsubscribe.InHTML(content, link)
		default:
			content = unsubscribe.InText(content, link)
		}
		if content != t.Content {
			changed[t] = content
		}
		if t.HTML && firstHTML == nil {
			firstHTML = t
		}
		if !t.HTML && firstText == nil {
			firstText = t
		}
	}
	if c.rewriter == nil || !identity.OpenTracking && !identity.ClickTracking {
		return changed, nil
	}
	now := func(t *verbatim.TextBody) string {
		if t == nil {
			return ""
		}
		if content, found := changed[t]; found {
			return content
		}
		return t.Content
	}
	track := tracking.TrackedEmail{AccountID: o.accountID, EmailID: o.id, DomainID: identity.DomainID,
		Opens: identity.OpenTracking, Clicks: identity.ClickTracking}
	newHTML, newText, err := c.rewriter.Rewrite(ctx, track, now(firstHTML), now(firstText))
	if err != nil {
		return nil, err
	}
	for t, content := range map[*verbatim.TextBody]string{firstHTML: newHTML, firstText: newText} {
		if t != nil && content != now(t) {
			changed[t] = content
		}
	}
	return changed, nil
}

// inSevenBit converts the message for a server without 8BITMIME. Its body changes, and therefore its signature.
func inSevenBit(signed []byte, identity domains.SigningIdentity) ([]byte, error) {
	fields, body, err := verbatim.Split(signed)
	if err != nil {
		return nil, err
	}
	unsigned := verbatim.Join(slices.DeleteFunc(fields,
		func(f verbatim.HeaderField) bool { return f.Is("DKIM-Signature") }), body)
	message, err := verbatim.SevenBit(unsigned)
	if err != nil {
		return nil, err
	}
	return dkim.Sign(message, identity.Signers()...)
}
