package verbatim

import (
	"errors"
	"fmt"
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
	list, err := parseMailboxes(value)
	if err != nil {
		return nil
	}
	return list
}

// RepairMailboxes is like Mailboxes, but also accepts lists that some programs write incorrectly: separated by
// semicolons, or with commas in unquoted display names. repaired reports whether the list must be rewritten.
func RepairMailboxes(value string) (list []address.Address, repaired bool, err error) {
	if list, err = parseMailboxes(value); err == nil {
		return list, false, nil
	}
	before := "" // the beginning of a display name with a comma
	for _, item := range splitList(value) {
		item = before + item
		if !strings.Contains(item, "@") {
			before = item + ", "
			continue
		}
		before = ""
		one, err := parseMailboxes(item)
		if err != nil || len(one) == 0 { // not an address, or one that is dropped otherwise
			if one, err = parseAngled(item); err != nil {
				return nil, false, err
			}
		}
		list = append(list, one...)
	}
	if before != "" {
		return nil, false, errors.New("contains a name without an address")
	}
	return list, true, nil
}

// parseAngled parses a mailbox whose display name is not quoted, although its characters require that.
func parseAngled(item string) ([]address.Address, error) {
	name, spec, found := strings.Cut(item, "<")
	spec, closed := strings.CutSuffix(spec, ">")
	if !found || !closed {
		return nil, fmt.Errorf("contains %q, which is not an address", item)
	}
	read, err := address.New(Decode(strings.Trim(name, ` "`)), spec)
	if err != nil {
		return nil, fmt.Errorf("contains %q, which %w", item, err)
	}
	return []address.Address{read}, nil
}

// splitList splits a list at its commas and semicolons, except in quotes, comments and angle brackets.
func splitList(value string) (items []string) {
	begin, depth, quoted := 0, 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\\' && (quoted || depth > 0):
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(' || c == '<':
			depth++
		case c == ')' || c == '>':
			depth = max(0, depth-1)
		case (c == ',' || c == ';') && depth == 0:
			items = append(items, value[begin:i])
			begin = i + 1
		}
	}
	items = append(items, value[begin:])
	trimmed := items[:0]
	for _, item := range items {
		if item = strings.TrimSpace(item); item != "" {
			trimmed = append(trimmed, item)
		}
	}
	return trimmed
}

func parseMailboxes(value string) ([]address.Address, error) {
	parsed, err := (&mail.AddressParser{WordDecoder: &words}).ParseList(value)
	if err != nil {
		return nil, err
	}
	var list []address.Address
	for _, a := range parsed {
		// net/mail removes the quotes of a local part, and adds them again.
		spec := strings.TrimSuffix(strings.TrimPrefix((&mail.Address{Address: a.Address}).String(), "<"), ">")
		if read, err := address.New(a.Name, spec); err == nil {
			list = append(list, read)
		}
	}
	return list, nil
}
