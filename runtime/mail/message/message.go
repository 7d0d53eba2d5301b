// Package message reads mail that strangers wrote.
//
// A message is never refused because of what stands in it: what cannot be read is
// said in Defects, an early end is the end, an unknown charset or encoding gives the
// octets as they are, and what has no structure is one text. The only error is that
// of the reader.
//
// Text and HTML are the first bodies of their kinds; everything else is a File, in
// the order of the message, and its number there is how ReadFile finds it again. A
// message inside the message (message/rfc822) is a file and is not looked into.
//
// All strings are valid UTF-8 without NUL. Those of the header are one line.
package message

import (
	"errors"
	"io"
	"time"
)

// Field is one field of a header, unfolded and decoded.
type Field struct{ Name, Value string }

// Message is what Read found.
type Message struct {
	Header        []Field // in order
	From          string  // display form; as it stands there when it is no address
	FromAddress   string  // addr-spec, domain in lower-case A-labels; empty when it cannot be read
	To            []string
	CC            []string
	ReplyTo       []string
	Subject       string
	MessageID     string // without angle brackets
	InReplyTo     *string
	References    []string
	Date          time.Time // zero when missing or unreadable
	Text          string
	HTML          string
	Files         []File
	AutoSubmitted bool // RFC 3834: an answering machine, a report
	Received      int  // fields of that name
	Defects       []string
}

// File is a part that is not the body.
type File struct {
	Filename    string
	ContentType string // lower case, without parameters
	ContentID   string // without angle brackets
	Inline      bool   // meant to be shown inside the html
	Size        int64  // octets, decoded
}

// ErrNoFile says that the message has no file of that number.
var ErrNoFile = errors.New("message has no such file")

// Get returns the first value of a field.
func (m *Message) Get(name string) string { return get(m.Header, name) }

// Header reads the header of a message and nothing more of it.
func Header(r io.Reader) ([]Field, error) {
	m, err := Read(r)
	if m == nil {
		return nil, err
	}
	return m.Header, err
}
