package message

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// FullMessage is a message with the contents of its files, for messages that fit into memory: reports, and those
// of the platform itself.
type FullMessage struct {
	*Message
	Authors    []Mailbox // of the first From
	Recipients []Mailbox // of the first To
	Contents   [][]byte  // of Files, decoded; shorter than the file's Size if Bounds.Contents was used up
}

// Mailbox is one address of a field, decoded and not validated.
type Mailbox struct {
	Name    string // the raw text, if there is no address
	Address string // as written; empty if invalid
}

// Bounds are the limits of ReadFull. Zero values mean the defaults.
type Bounds struct {
	Total    int64 // bytes of the message, default: all; the rest is not read
	Text     int   // bytes of Text and of HTML, default 5 MB
	Contents int   // bytes of all contents together, default 50 MB
}

const maxContents = 50 << 20

// ReadFull parses a message to its end, with the contents of its files. Unlike Read it joins all bodies of a
// kind, because the footer of a mailing list is one. The error is that of r; everything before it is in the
// FullMessage, which is never nil.
func ReadFull(r io.Reader, bounds Bounds) (*FullMessage, error) {
	if bounds.Total <= 0 {
		bounds.Total = math.MaxInt64
	}
	in := &io.LimitedReader{R: r, N: bounds.Total}
	p := newParser(newLines(in))
	p.joins = true
	if bounds.Text > 0 {
		p.maxText, p.preamble.limit = bounds.Text, bounds.Text
	}
	var contents []*buffer
	room := bounds.Contents
	if room <= 0 {
		room = maxContents
	}
	p.each = func(int) io.Writer {
		if n := len(contents); n > 0 {
			room -= len(contents[n-1].data)
		}
		contents = append(contents, &buffer{limit: room})
		return contents[len(contents)-1]
	}
	whole := p.readHead()
	p.readEntity(p.top, 0)
	p.decodeBodies()
	whole.Contents = make([][]byte, len(contents))
	for i, c := range contents {
		whole.Contents[i] = c.data
	}
	if p.lines.err != nil {
		return whole, fmt.Errorf("read message: %w", p.lines.err)
	}
	if in.N > 0 {
		return whole, nil
	}
	switch n, err := io.ReadFull(r, make([]byte, 1)); {
	case n > 0:
		p.recordDefect("The message is longer than %d bytes, the rest was not read.", bounds.Total)
	case !errors.Is(err, io.EOF):
		return whole, fmt.Errorf("read message: %w", err)
	}
	return whole, nil
}

// ReadHead reads only the header of a message. The error is that of r.
func ReadHead(r io.Reader) (*FullMessage, error) {
	p := newParser(newLines(r))
	whole := p.readHead()
	if p.lines.err != nil {
		return whole, fmt.Errorf("read header: %w", p.lines.err)
	}
	return whole, nil
}

// readHead reads the header of the message and describes it.
func (p *parser) readHead() *FullMessage {
	p.top = p.readRoot()
	p.describeHeader(p.top)
	return &FullMessage{Message: p.out, Authors: p.top.fieldMailboxes("From"), Recipients: p.top.fieldMailboxes("To")}
}

// fieldMailboxes parses the first field of a name. A field without any address is one name, so that readers can
// still see the claimed sender.
func (h header) fieldMailboxes(name string) []Mailbox {
	value := h.firstValue(name)
	boxes, _ := parseMailboxes(value)
	list := make([]Mailbox, 0, len(boxes))
	readable := false
	for _, box := range boxes {
		m := Mailbox{Name: truncateText(strings.TrimSpace(decodeWords(truncateText(box.said, 8*maxDisplay))),
			maxDisplay)}
		if strings.Contains(box.spec, "@") {
			m.Address, readable = oneLine(cleanText([]byte(truncateText(box.spec, maxID)))), true
		} else {
			m.Name = truncateText(decodeWords(truncateText(box.raw, maxDisplay)), maxDisplay)
		}
		list = append(list, m)
	}
	switch {
	case readable:
		return list
	case value == "":
		return nil
	}
	return []Mailbox{{Name: truncateText(decodeWords(truncateText(value, maxDisplay)), maxDisplay)}}
}

// UTF8 converts bytes of an undeclared charset to valid UTF-8 without NUL.
func UTF8(octets []byte) string { return cleanText(octets) }

// Decode converts bytes of a declared charset to valid UTF-8 without NUL. Without a known charset it is UTF8.
func Decode(octets []byte, charset string) string { return toUTF8(octets, charset) }
