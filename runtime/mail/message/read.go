package message

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Read reads a message to its end. The error is that of r; what came before it is
// in the Message, which is never nil.
func Read(r io.Reader) (*Message, error) {
	p := newParser(newLines(r))
	root := p.root()
	p.describe(root)
	p.entity(root, 0)
	p.finish()
	if p.lines.err != nil {
		return p.out, fmt.Errorf("read message: %w", p.lines.err)
	}
	return p.out, nil
}

// ReadFile writes the n-th of Files to w, decoded, as it is read. The error is
// ErrNoFile or that of r or w.
func ReadFile(r io.Reader, n int, w io.Writer) (File, error) {
	if n < 0 {
		return File{}, ErrNoFile
	}
	p := newParser(newLines(r))
	p.wanted, p.to = n, w
	p.entity(p.root(), 0)
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

// ReadFiles writes every one of Files, decoded, as the message is read: that of number
// n to the writer that to(n) gives. The error is that of r or of a writer.
func ReadFiles(r io.Reader, to func(n int) io.Writer) error {
	p := newParser(newLines(r))
	p.each = to
	p.entity(p.root(), 0)
	switch {
	case p.writeErr != nil:
		return fmt.Errorf("write file: %w", p.writeErr)
	case p.lines.err != nil:
		return fmt.Errorf("read message: %w", p.lines.err)
	}
	return nil
}

// Header reads the header of a message and nothing more of it.
func Header(r io.Reader) ([]Field, error) {
	p := newParser(newLines(r))
	decoded := p.root().decoded()
	if p.lines.err != nil {
		return decoded, fmt.Errorf("read header: %w", p.lines.err)
	}
	return decoded, nil
}

// Hops counts the Received fields of a header: the servers that a message has passed. The
// error is that of r.
func Hops(r io.Reader) (int, error) {
	p := newParser(newLines(r))
	n := p.root().received
	if p.lines.err != nil {
		return n, fmt.Errorf("read header: %w", p.lines.err)
	}
	return n, nil
}

// Authors are the addresses of every From field, in order, as FromAddress gives the
// first of them: an empty string stands for one that cannot be read.
func Authors(r io.Reader) ([]string, error) {
	p := newParser(newLines(r))
	var authors []string
	for _, value := range p.root().all("From") {
		boxes, _ := mailboxes(value)
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

// parser walks one message.
type parser struct {
	lines lines
	out   *Message

	top        header // of the message
	place      *Part  // the part at hand, when places are wanted and no contents
	beyond     bool   // a bound on parts was met
	headerLeft int    // octets that the headers of parts may still have
	parts      int
	maxText    int  // octets of Text and of HTML
	joins      bool // all bodies of a kind, and not only the first
	text, html []*body
	preamble   buffer // of a multipart in which no part has begun
	wanted     int    // number of the file to write, -1: none
	to         io.Writer
	each       func(n int) io.Writer // of all files, nil: none
	writeErr   error
}

func newParser(lines lines) *parser {
	return &parser{
		lines:      lines,
		out:        &Message{To: []string{}, CC: []string{}, ReplyTo: []string{}, References: []string{}, Files: []File{}, Defects: []string{}, Header: []Field{}},
		headerLeft: maxHeader,
		maxText:    maxText,
		preamble:   buffer{limit: maxText},
		wanted:     -1,
	}
}

// root reads the header of the message.
func (p *parser) root() header {
	h, cut := p.header(maxHeader)
	if cut {
		p.defect("The header is longer than %d octets, the rest of it was not read.", maxHeader)
	}
	p.out.Received = h.received
	return h
}

// finish decodes the bodies.
func (p *parser) finish() {
	if len(p.text)+len(p.html)+len(p.out.Files) == 0 && len(p.preamble.data) > 0 {
		p.text = []*body{{buffer: p.preamble}}
	}
	p.out.Text = p.joined(p.text, "The text")
	p.out.HTML = p.joined(p.html, "The HTML")
}

// joined decodes the bodies of a kind, which are mostly one.
func (p *parser) joined(bodies []*body, which string) string {
	if len(bodies) == 1 {
		return p.decode(bodies[0], which)
	}
	var text strings.Builder
	for _, b := range bodies {
		next := p.decode(b, which)
		if text.Len() > 0 && next != "" {
			text.WriteByte('\n')
		}
		text.WriteString(next)
	}
	return bounded(text.String(), p.maxText)
}

// defect remembers a sentence, once.
func (p *parser) defect(format string, args ...any) {
	sentence := fmt.Sprintf(format, args...)
	if len(p.out.Defects) < maxDefects && !slices.Contains(p.out.Defects, sentence) {
		p.out.Defects = append(p.out.Defects, sentence)
	}
}
