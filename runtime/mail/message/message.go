// Package message parses untrusted mail.
//
// A message is never rejected because of its content: parse problems are listed in Defects, a truncated
// message ends early, text in an unknown charset or encoding is returned unchanged, and content without
// structure is one text. The only error is that of the reader.
//
// Text and HTML are the inline texts without a name: the alternatives of one, or several joined in message
// order. Everything else is a File, in message order, and its number is the argument of ReadFile. A message
// inside the message (message/rfc822) is a file and is not parsed; uuencoded text and TNEF are left
// unchanged.
//
// All strings are valid UTF-8 without NUL; those of the header are one line without control characters.
// File names have no folders. The strings are not safe in any other respect: HTML may contain scripts.
//
// The message is read once, line by line, whatever its nesting, so the work is proportional to its bytes and
// the memory is limited by the constants below, not by its size. ReadFull also keeps the files in memory; it is
// for reports and for messages of the platform itself.
package message

import (
	"errors"
	"strings"
	"time"
)

// The limits. Content beyond them is dropped, and reported in Defects.
const (
	maxDepth   = 20        // nesting of multiparts
	maxParts   = 500       // parts in all
	maxHeader  = 256 << 10 // bytes of the message's header, and of the headers of all parts together
	maxText    = 5 << 20   // bytes of Text and of HTML
	maxList    = 1000      // addresses in a field, ids in References
	maxDefects = 20

	maxSubject = 16 << 10 // bytes
	maxDisplay = 2 << 10  // bytes of an address in display form
	maxName    = 1 << 10  // bytes of a file name
	maxID      = 998      // bytes of a message or content id: one line of RFC 5322
)

// Field is one field of a header, unfolded and decoded.
type Field struct{ Name, Value string }

// Message is the result of Read.
type Message struct {
	Header        []Field // in order
	From          string  // display form of the first address; the raw text if it is not an address
	FromAddress   string  // its addr-spec, domain in lower-case A-labels; empty if invalid
	To            []string
	CC            []string
	ReplyTo       []string
	Subject       string
	MessageID     string  // without angle brackets; may be empty
	InReplyTo     *string // the first id of that field
	References    []string
	Date          time.Time // zero if missing or invalid
	Text          string
	HTML          string
	Files         []File
	AutoSubmitted bool // RFC 3834: an automatic reply, a report, bulk mail; mailing lists alone do not count
	Received      int  // number of fields with that name
	Defects       []string
}

// Get returns the first value of a field.
func (m *Message) Get(name string) string {
	for _, f := range m.Header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// File is a part other than the bodies.
type File struct {
	Filename    string // as chosen by the sender; may be empty
	ContentType string // lower case, without parameters
	ContentID   string // without angle brackets
	Inline      bool   // to be shown inside the text
	Size        int64  // decoded size in bytes
}

// ErrNoFile means that the message has no file with that number.
var ErrNoFile = errors.New("message has no such file")
