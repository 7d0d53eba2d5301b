// Package message reads mail that strangers wrote.
//
// A message is never refused because of what stands in it: what cannot be read is
// said in Defects, an early end is the end, an unknown charset or encoding gives the
// octets as they are, and what has no structure is one text. The only error is that
// of the reader.
//
// Text and HTML are the first bodies of their kinds; everything else is a File, in
// the order of the message, and its number there is how ReadFile finds it again. A
// message inside the message (message/rfc822) is a file and is not looked into;
// uuencoded text and TNEF are left as they are.
//
// All strings are valid UTF-8 without NUL; those of the header are one line, without
// controls. They are not safe for anything else: a file name may hold slashes, HTML
// may hold scripts.
//
// The message is read once, line by line, whatever its nesting, so the work is
// proportional to its octets and the memory to the bounds below, not to its size.
// ReadWhole also keeps the files in memory; it is for messages of the platform itself and
// for reports.
package message

import (
	"errors"
	"strings"
	"time"
)

// The bounds. What is over them is left out, and Defects says so.
const (
	maxDepth   = 20        // nested multiparts
	maxParts   = 500       // parts in all
	maxHeader  = 256 << 10 // octets of the message's header, and of those of all parts together
	maxText    = 5 << 20   // octets of Text and of HTML
	maxList    = 1000      // addresses in a field, ids in References
	maxDefects = 20

	maxSubject = 16 << 10 // octets
	maxDisplay = 2 << 10  // octets of an address in display form
	maxName    = 1 << 10  // octets of a file name
	maxID      = 998      // octets of a message or content id: one line of RFC 5322
)

// Field is one field of a header, unfolded and decoded.
type Field struct{ Name, Value string }

// Message is what Read found.
type Message struct {
	Header        []Field // in order
	From          string  // display form of the first address; as it stands there when it is none
	FromAddress   string  // its addr-spec, domain in lower-case A-labels; empty when it cannot be read
	To            []string
	CC            []string
	ReplyTo       []string
	Subject       string
	MessageID     string  // without angle brackets; empty when missing
	InReplyTo     *string // the first id of that field
	References    []string
	Date          time.Time // zero when missing or unreadable
	Text          string
	HTML          string
	Files         []File
	AutoSubmitted bool // RFC 3834: an answering machine, a report, bulk mail; being on a list is no sign
	Received      int  // fields of that name
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

// File is a part that is not the body.
type File struct {
	Filename    string // as the sender named it; may be empty
	ContentType string // lower case, without parameters
	ContentID   string // without angle brackets
	Inline      bool   // meant to be shown inside the text
	Size        int64  // octets, decoded
}

// ErrNoFile says that the message has no file of that number.
var ErrNoFile = errors.New("message has no such file")
