package verbatim

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// ErrNotSevenBit means that a message cannot be made 7-bit, because the 8-bit bytes are signed, already
// encoded, or not content.
var ErrNotSevenBit = errors.New("the message has 8-bit content that cannot be encoded")

// SevenBit returns the message with its 8-bit bodies encoded, for a server without 8BITMIME (RFC 6152
// section 3). The header of the message is unchanged.
func SevenBit(message []byte) ([]byte, error) {
	s, err := parseMessage(message)
	if err != nil {
		return nil, err
	}
	if isSevenBit(message[s.body:]) {
		return message, nil
	}
	if s.broken {
		return nil, ErrNotSevenBit
	}
	var edits []edit
	for _, p := range s.leaves {
		body := message[p.begin:p.end]
		if isSevenBit(body) {
			if p.encoding == "8bit" || p.encoding == "binary" { // correct, but such a server does not accept it
				edits = append(edits, edit{at: p, body: body,
					fields: map[string]string{"Content-Transfer-Encoding": "7bit"}})
			}
			continue
		}
		switch {
		case p.opaque, p.enclosed, p.contentType == "message/rfc822", p.encoding == "quoted-printable",
			p.encoding == "base64":
			return nil, ErrNotSevenBit
		case p.contentType == "text/plain", p.contentType == "text/html":
			encoding, encoded := encodeText(body)
			edits = append(edits, edit{at: p, body: encoded,
				fields: map[string]string{"Content-Transfer-Encoding": encoding}})
		default:
			edits = append(edits, edit{at: p, body: encodeBase64(body),
				fields: map[string]string{"Content-Transfer-Encoding": "base64"}})
		}
	}
	for _, p := range s.holders {
		if p.encoding == "8bit" || p.encoding == "binary" { // RFC 2045 section 6.4
			edits = append(edits, edit{at: p, fields: map[string]string{"Content-Transfer-Encoding": "7bit"}})
		}
	}
	out := s.applyEdits(make([]byte, 0, s.maxSize(s.fields, edits)), s.fields, edits)
	if _, body, err := splitFields(out); err != nil || !isSevenBit(body) {
		return nil, ErrNotSevenBit // in the header of a part, or between parts
	}
	return out, nil
}

func isSevenBit(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
