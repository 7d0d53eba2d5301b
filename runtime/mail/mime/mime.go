// Package mime writes messages. Package message reads them.
//
// Compose is pure: the same Message gives the same bytes, so a message composed
// again after a crash carries the same signature. What it gives is fit for any
// mail server: CRLF line ends, 7-bit (quoted-printable or base64), lines of 76
// octets where possible and never over 998, no Bcc. The shape is the least that
// carries the content: html alone stays alone, text and html are alternatives,
// attachments with a content id are related to the html that shows them, all
// others are mixed in beside it.
//
// One thing cannot be 7-bit: an address whose local part is not ASCII. Such an
// address stands in its header field in UTF-8 (RFC 6532), nothing else does, and
// the message may then only go to servers with SMTPUTF8, to every recipient:
// Message.NeedsSMTPUTF8 says so.
//
// Compose writes directly and not with enmime or go-message. enmime sorts the
// header (callers' fields shall keep their order), puts encoded words into file
// names instead of RFC 2231, sends ASCII text unencoded so that it may meet the
// boundary, and lets line breaks in field names through. Here every octet that
// comes out passes one check at the end, and a message that fails it is an error
// instead of garbage on the wire.
package mime

import (
	"time"

	"github.com/postrider/postrider/runtime/mail/address"
)

// Header is one field beside those that Compose writes itself, its value in
// Unicode and unfolded.
type Header struct{ Name, Value string }

// Message is what Compose writes.
type Message struct {
	From        address.Address
	To          []address.Address
	CC          []address.Address
	ReplyTo     []address.Address
	Subject     string
	HTML        string
	Text        string
	Headers     []Header  // written in this order
	MessageID   string    // without angle brackets
	Date        time.Time // written in UTC
	Attachments []Attachment
}

// Attachment is a file. With a ContentID it is shown inside the html, where
// `cid:` and the id refer to it.
type Attachment struct {
	Name        string
	ContentType string // from the name when empty
	ContentID   string // with or without angle brackets
	Data        []byte

	// Read hands over the file in place of Data, when its turn has come, so that
	// large files need not be in memory together. What use is given is not kept.
	// Size is what it will be, in octets.
	Read func(use func(data []byte)) error
	Size int
}

// NeedsSMTPUTF8 says whether the header holds an address that only a server with
// SMTPUTF8 (RFC 6531) accepts. The envelope has its own recipients to ask.
func (m Message) NeedsSMTPUTF8() bool {
	for _, list := range [][]address.Address{{m.From}, m.To, m.CC, m.ReplyTo} {
		for _, a := range list {
			if a.NeedsSMTPUTF8() {
				return true
			}
		}
	}
	return false
}
