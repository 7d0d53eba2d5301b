package verbatim

import (
	"mime"
	"net/mail"
	"strings"

	"github.com/emersion/go-message/charset"

	"github.com/postrider/postrider/runtime/mail/address"
)

var words = mime.WordDecoder{CharsetReader: charset.Reader}

// Decode gives a value with its encoded words (RFC 2047) in Unicode. What they hold is
// not judged; what cannot be decoded stays as it is.
func Decode(value string) string {
	if decoded, err := words.DecodeHeader(value); err == nil {
		return decoded
	}
	return value
}

// Mailboxes reads the value of an address field, groups opened. What is no address is
// left out; a list that cannot be read is empty.
func Mailboxes(value string) []address.Address {
	parsed, err := (&mail.AddressParser{WordDecoder: &words}).ParseList(value)
	if err != nil {
		return nil
	}
	var list []address.Address
	for _, a := range parsed {
		// net/mail takes the quotes off a local part, and writes them again.
		spec := strings.TrimSuffix(strings.TrimPrefix((&mail.Address{Address: a.Address}).String(), "<"), ">")
		if read, err := address.New(a.Name, spec); err == nil {
			list = append(list, read)
		}
	}
	return list
}
