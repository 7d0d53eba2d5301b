package inbound

import (
	"strings"

	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/search"
)

// received_emails.search is a document of package search. It contains the words of the subject, the addresses
// and the beginning of the text. In addition to the mark of the account, it contains these marks for filters
// and erasure.
const (
	markFrom     = "f="
	markEnvelope = "e=" // envelope sender
	markTo       = "r="
	markDomain   = "d=" // domain of the recipient
)

// Limits of the search document. PostgreSQL allows lexemes of 2,046 bytes and documents of 1 MB.
const (
	maxWords = 16 << 10 // bytes in total
	maxText  = 4 << 10  // bytes of the text
	maxMark  = 1000
	maxMarks = 200
)

func (a *arrival) searchWords() string {
	m := a.message
	var words strings.Builder
	add := func(text string) {
		if room := maxWords - words.Len(); room > 1 {
			words.WriteString(clipText(text, room-1))
			words.WriteByte(' ')
		}
	}
	add(m.Subject)
	add(clipText(m.Text, maxText)) // words of HTML would include its tags
	for _, list := range [][]string{{m.From}, m.To, m.CC} {
		for _, text := range list {
			add(search.Parts(text))
		}
	}
	return words.String()
}

// searchMarks returns the marks that all records of a message have in common.
func (a *arrival) searchMarks() []string {
	m := a.message
	list := []string{markFrom + foldAddress(m.FromAddress), markEnvelope + foldAddress(a.from)}
	for _, display := range append(append([]string{}, m.To...), m.CC...) {
		if len(list) == maxMarks {
			break
		}
		if parsed, err := address.Parse(display); err == nil {
			list = append(list, markTo+foldAddress(parsed.AddrSpec()))
		}
	}
	return list
}

// searchDocument returns the search document of a record.
func (r recipientRecord) searchDocument(common []string) string {
	marks := []string{search.MarkAccount + r.accountID, markTo + foldAddress(r.rcpt), markDomain + r.domain}
	for _, mark := range common {
		if len(mark) > len(markFrom) && len(mark) <= maxMark {
			marks = append(marks, mark)
		}
	}
	return search.JoinMarks(marks)
}

// foldAddress normalizes an address for comparison, because addresses are not written in consistent case.
func foldAddress(address string) string { return strings.ToLower(address) }

// clipText truncates a text to at most the given number of bytes.
func clipText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
