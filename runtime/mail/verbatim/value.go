package verbatim

import (
	"mime"
	"net/mail"
	"strings"

	"github.com/emersion/go-message/charset"

	"github.com/postrider/postrider/runtime/mail/address"
)

var words = mime.WordDecoder{CharsetReader: charset.Reader}

// Decode returns a value with its encoded words (RFC 2047) in Unicode. Their content is not validated;
// undecodable words are unchanged.
func Decode(value string) string {
	if decoded, err := words.DecodeHeader(value); err == nil {
		return decoded
	}
	return value
}

// Mailboxes parses the value of an address field, with groups flattened. Invalid addresses are dropped; the
// result for an invalid list is empty.
func Mailboxes(value string) []address.Address {
	parsed, err := (&mail.AddressParser{WordDecoder: &words}).ParseList(value)
	if err != nil {
		return nil
	}
	var list []address.Address
	for _, a := range parsed {
		// net/mail removes the quotes of a local part, and adds them again.
		spec := strings.TrimSuffix(strings.TrimPrefix((&mail.Address{Address: a.Address}).String(), "<"), ">")
		if read, err := address.New(a.Name, spec); err == nil {
			list = append(list, read)
		}
	}
	return list
}
