// Package mime composes messages. Package message parses them.
//
// Compose is pure: the same Message yields the same bytes, so a message composed again after a crash has
// the same signature. Its output is fit for any mail server: CRLF line ends, 7-bit (quoted-printable or
// base64), lines of 76 bytes where possible and never over 998, no Bcc. The structure is as simple as the
// content allows: HTML alone is a single part, text and HTML are alternatives, attachments with a content
// id are related to the HTML that shows them, and all others are in an enclosing multipart/mixed. An invitation
// (text/calendar with a method, RFC 6047) is also the last alternative.
//
// One thing cannot be 7-bit: an address whose local part is not ASCII. Only such an address is written in UTF-8 in its
// header field (RFC 6532). Every server that receives the message must then support SMTPUTF8; Message.NeedsSMTPUTF8
// reports this.
//
// Compose does not use enmime or go-message. enmime sorts the header (clients' fields must keep their
// order), uses encoded words for file names instead of RFC 2231, sends ASCII text unencoded so that it may
// contain the boundary, and accepts line breaks in field names. Here all output passes one check at the
// end, and a message that fails it is an error instead of garbage on the wire.
package mime

import (
	"time"

	"github.com/postrider/postrider/runtime/mail/address"
)

// Header is an additional field, with its value in Unicode and unfolded.
type Header struct{ Name, Value string }

// Message is the input of Compose.
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

// Attachment is a file. With a ContentID it is shown inside the HTML, where `cid:` URLs refer to it.
type Attachment struct {
	Name        string
	ContentType string // derived from the name if empty
	ContentID   string // with or without angle brackets
	Data        []byte

	// Read passes the file to use instead of Data, when it is needed, so that large files need not be in
	// memory together. use must not keep the bytes. Size is the length in bytes.
	Read func(use func(data []byte)) error
	Size int
}

// NeedsSMTPUTF8 reports whether the header contains an address that only a server with SMTPUTF8 (RFC 6531)
// accepts. The recipients of the envelope must be checked separately.
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
