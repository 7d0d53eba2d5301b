package inbound

import (
	"strings"

	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/search"
)

// received_emails.search is a document of package search: words of subject, addresses and
// the beginning of the text, and these marks beside that of the account, of what lists are
// filtered by and erasure looks for.
const (
	markFrom     = "f="
	markEnvelope = "e=" // the envelope sender
	markTo       = "r="
	markDomain   = "d=" // of the recipient
)

// What of a message is found. The database takes lexemes of 2,046 octets and
// documents of 1 MB.
const (
	maxWords = 16 << 10 // octets in all
	maxText  = 4 << 10  // of the text
	maxMark  = 1000
	maxMarks = 200
)

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
	add(clip(m.Text, maxText)) // words of html would be those of its tags too
	for _, list := range [][]string{{m.From}, m.To, m.CC} {
		for _, text := range list {
			add(text)
			add(search.Parts(text))
		}
	}
	return words.String()
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
	marks := []string{search.MarkAccount + r.accountID, markTo + fold(r.rcpt), markDomain + r.domain}
	for _, mark := range common {
		if len(mark) > len(markFrom) && len(mark) <= maxMark {
			marks = append(marks, mark)
		}
	}
	return search.JoinMarks(marks)
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
