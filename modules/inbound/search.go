package inbound

import (
	"strings"

	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/message"
)

// received_emails.search is one document with two kinds of lexemes, as that of sent
// emails: words of subject, addresses and the beginning of the text, found by their
// beginning, and exact marks for what lists are filtered by and erasure looks for. A
// mark of the account is in each, so that the index never walks another tenant's mail.
const (
	markAccount  = "a="
	markFrom     = "f="
	markEnvelope = "e=" // the envelope sender
	markTo       = "r="
	markDomain   = "d=" // of the recipient
)

// markSeparator cannot stand in a mark: message gives strings without controls, SMTP
// addresses have none.
const markSeparator = "\x1f"

const searchSQL = `to_tsvector('simple', v.words) || array_to_tsvector(string_to_array(v.marks, E'\x1f'))`

// What of a message is found. The database takes lexemes of 2,046 octets and
// documents of 1 MB.
const (
	maxWords = 16 << 10 // octets in all
	maxText  = 4 << 10  // of the text
	maxMark  = 1000
	maxMarks = 200
)

// inside lets the parts of an address be found as well as the whole.
var inside = strings.NewReplacer("@", " ", ".", " ", "_", " ", "-", " ", "+", " ")

func (a *arrival) words() string {
	m := a.message
	var words strings.Builder
	add := func(text string) {
		if room := maxWords - words.Len(); room > 1 {
			words.WriteString(clip(text, room-1))
			words.WriteByte(' ')
		}
	}
	add(m.Subject)
	add(clip(bodyText(m), maxText))
	for _, list := range [][]string{{m.From}, m.To, m.CC} {
		for _, text := range list {
			add(text)
			add(inside.Replace(text))
		}
	}
	return words.String()
}

func bodyText(m *message.Message) string {
	if m.Text != "" {
		return m.Text
	}
	return m.Subject // words of html would be those of its tags too
}

// marks are those that the records of a message have in common.
func (a *arrival) marks() []string {
	m := a.message
	list := []string{markFrom + fold(m.FromAddress), markEnvelope + fold(a.from)}
	for _, display := range append(append([]string{}, m.To...), m.CC...) {
		if len(list) == maxMarks {
			break
		}
		if parsed, err := address.Parse(display); err == nil {
			list = append(list, markTo+fold(parsed.AddrSpec()))
		}
	}
	return list
}

// document joins the marks of a record.
func (r record) document(common []string) string {
	marks := []string{markAccount + r.accountID, markTo + fold(r.rcpt), markDomain + r.domain}
	for _, mark := range common {
		if len(mark) > len(markFrom) && len(mark) <= maxMark {
			marks = append(marks, mark)
		}
	}
	return strings.Join(marks, markSeparator)
}

// fold makes addresses comparable: who writes one rarely keeps to its letters.
func fold(address string) string { return strings.ToLower(address) }

// clip cuts a text after at most so many octets.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
