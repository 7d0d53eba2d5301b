package message

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Read parses a message to its end. The error is that of r; everything before it is in the Message, which
// is never nil.
func Read(r io.Reader) (*Message, error) {
	p := newParser(newLines(r))
	root := p.readRoot()
	p.readEntity(root, 0)
	root.decodeRaw(p.headerCharset(root))
	p.describeHeader(root)
	p.decodeBodies()
	if p.lines.err != nil {
		return p.out, fmt.Errorf("read message: %w", p.lines.err)
	}
	return p.out, nil
}

// ReadFile writes the n-th of Files to w, decoded, while reading. The error is ErrNoFile or that of r or w.
func ReadFile(r io.Reader, n int, w io.Writer) (File, error) {
	if n < 0 {
		return File{}, ErrNoFile
	}
	p := newParser(newLines(r))
	p.wanted, p.to = n, w
	p.readEntity(p.readRoot(), 0)
	switch files := p.out.Files; {
	case p.writeErr != nil:
		return File{}, fmt.Errorf("write file: %w", p.writeErr)
	case p.lines.err != nil:
		return File{}, fmt.Errorf("read message: %w", p.lines.err)
	case n < len(files):
		return files[n], nil
	}
	return File{}, ErrNoFile
}

// ReadFiles writes all Files, decoded, while reading: file n to the writer that to(n) returns. The error is
// that of r or of a writer.
func ReadFiles(r io.Reader, to func(n int) io.Writer) error {
	p := newParser(newLines(r))
	p.each = to
	p.readEntity(p.readRoot(), 0)
	switch {
	case p.writeErr != nil:
		return fmt.Errorf("write file: %w", p.writeErr)
	case p.lines.err != nil:
		return fmt.Errorf("read message: %w", p.lines.err)
	}
	return nil
}

// Header reads only the header of a message.
func Header(r io.Reader) ([]Field, error) {
	p := newParser(newLines(r))
	root := p.readRoot()
	root.decodeRaw(p.headerCharset(root))
	decoded := root.decodedFields()
	if p.lines.err != nil {
		return decoded, fmt.Errorf("read header: %w", p.lines.err)
	}
	return decoded, nil
}

// Hops counts the Received fields of a header: the servers that a message has passed through. The error is
// that of r.
func Hops(r io.Reader) (int, error) {
	p := newParser(newLines(r))
	n := p.readRoot().received
	if p.lines.err != nil {
		return n, fmt.Errorf("read header: %w", p.lines.err)
	}
	return n, nil
}

// Authors returns the addresses of every From field, in order, in the form of FromAddress: an empty string
// for an invalid one.
func Authors(r io.Reader) ([]string, error) {
	p := newParser(newLines(r))
	var authors []string
	for _, value := range p.readRoot().allValues("From") {
		boxes, _ := parseMailboxes(value)
		for _, box := range boxes {
			authors = append(authors, box.addrSpec())
		}
		if len(boxes) == 0 {
			authors = append(authors, "")
		}
	}
	if p.lines.err != nil {
		return authors, fmt.Errorf("read header: %w", p.lines.err)
	}
	return authors, nil
}

// parser parses one message.
type parser struct {
	lines lines
	out   *Message

	top        header // of the message
	place      *Part  // the current part, if only positions are wanted
	beyond     bool   // a limit on parts was exceeded
	headerLeft int    // bytes left for the headers of parts
	parts      int
	maxText    int  // bytes of Text and of HTML
	joins      bool // join all bodies of a kind instead of using the first
	text, html []*body
	bodies     *bodyNode // all texts, by their place in the message
	within     *bodyNode // the current multipart
	preamble   buffer    // of a multipart in which no part has started
	wanted     int       // number of the file to write; -1 for none
	to         io.Writer
	each       func(n int) io.Writer // writers for all files; may be nil
	writeErr   error
}

func newParser(lines lines) *parser {
	root := &bodyNode{}
	return &parser{
		bodies: root,
		within: root,
		lines:  lines,
		out: &Message{To: []string{}, CC: []string{}, ReplyTo: []string{}, References: []string{},
			Files: []File{}, Defects: []string{}, Header: []Field{}},
		headerLeft: maxHeader,
		maxText:    maxText,
		preamble:   buffer{limit: maxText},
		wanted:     -1,
	}
}

// readRoot reads the header of the message.
func (p *parser) readRoot() header {
	h, cut := p.readHeader(maxHeader)
	if cut {
		p.recordDefect("The header is longer than %d bytes, the rest was not read.", maxHeader)
	}
	p.out.Received = h.received
	return h
}

// joinBodies decodes the bodies of a kind; usually there is one.
func (p *parser) joinBodies(bodies []*body, which string) string {
	if len(bodies) == 1 {
		return p.decodeBody(bodies[0], which)
	}
	var text strings.Builder
	for _, b := range bodies {
		next := p.decodeBody(b, which)
		if text.Len() > 0 && next != "" {
			text.WriteByte('\n')
		}
		text.WriteString(next)
	}
	return truncateText(text.String(), p.maxText)
}

// recordDefect records a sentence, once.
func (p *parser) recordDefect(format string, args ...any) {
	sentence := fmt.Sprintf(format, args...)
	if len(p.out.Defects) < maxDefects && !slices.Contains(p.out.Defects, sentence) {
		p.out.Defects = append(p.out.Defects, sentence)
	}
}
