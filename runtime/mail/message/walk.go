package message

import (
	"io"
	"strings"
)

// readEntity reads the message or a part of it, up to the next boundary.
func (p *parser) readEntity(h header, depth int) {
	kind := readContentType(h.firstValue("Content-Type"))
	if strings.HasPrefix(kind.name, "multipart/") {
		switch {
		case kind.boundary == "":
			p.recordDefect("A multipart has no boundary.")
			kind.name = "text/plain"
		case depth >= maxDepth:
			p.recordDefect("Parts are nested deeper than %d, what is deeper is one file.", maxDepth)
			p.beyond = true
		default:
			p.readMultipart(kind, depth)
			return
		}
	}
	p.readLeaf(h, kind, depth == 0)
}

// readMultipart reads the parts between the boundaries. Text before the first and after the last is for
// programs without MIME, and is dropped unless there is nothing else.
func (p *parser) readMultipart(kind contentType, depth int) {
	p.multipartAt(kind.boundary)
	outer := p.within
	p.within = &bodyNode{alternative: kind.name == "multipart/alternative"}
	outer.add(p.within)
	defer func() { p.within = outer }()
	p.lines.boundaries = append(p.lines.boundaries, kind.boundary)
	level := len(p.lines.boundaries) - 1
	p.preamble.reset()
	p.copyTo(&p.preamble)
	began := false
	for p.lines.hit == level && !p.lines.closing {
		began = true
		p.preamble.reset()
		p.lines.enterPart()
		if p.parts++; p.parts > maxParts {
			p.recordDefect("The message has more than %d parts, the rest was not read.", maxParts)
			p.lines.stopMessage()
			p.beyond = true
			return
		}
		p.recordPosition(func() { p.readPart(kind, depth) })
	}
	if p.place != nil {
		p.place.Closed = p.lines.hit == level
	}
	switch {
	case p.lines.hit == ended:
		p.recordDefect("A multipart ends without its last boundary.")
	case p.lines.hit < level:
		p.recordDefect("A multipart ends at the boundary of another.")
	}
	p.lines.boundaries = p.lines.boundaries[:level]
	if p.lines.hit == level { // closed
		p.lines.enterPart()
		p.copyTo(io.Discard)
	}
	if !began && len(p.preamble.data) > 0 && len(p.text) == 0 {
		p.recordDefect("A multipart has no parts.")
		p.addBody(&body{buffer: p.preamble})
		p.preamble = buffer{limit: p.maxText}
	}
}

func (p *parser) readPart(within contentType, depth int) {
	h, cut := p.readHeader(p.headerLeft)
	for _, f := range h.fields {
		p.headerLeft -= len(f.Name) + len(f.Value)
	}
	if cut {
		p.headerLeft = 0
		p.recordDefect("The headers of the parts are longer than %d bytes, the rest was not read.", maxHeader)
	}
	if within.name == "multipart/digest" && h.firstValue("Content-Type") == "" { // RFC 2046, 5.1.5
		h.fields = append(h.fields, Field{Name: "Content-Type", Value: "message/rfc822"})
	}
	p.readEntity(h, depth+1)
}

// readLeaf reads a part with content: an inline text without a name as a body, anything else as a file.
func (p *parser) readLeaf(h header, kind contentType, root bool) {
	if p.skipContent() {
		return
	}
	disposition := readDisposition(h.firstValue("Content-Disposition"))
	name := disposition.filename
	if name == "" {
		name = kind.filename
	}
	encoding := h.firstValue("Content-Transfer-Encoding")
	attached := disposition.kind == "attachment" || name != "" && !root
	switch {
	case attached:
	case kind.name == "text/plain":
		p.addBody(p.readBody(kind, p.text, encoding))
		return
	case kind.name == "text/html":
		p.addBody(p.readBody(kind, p.html, encoding))
		return
	}
	id := contentID(h.firstValue("Content-Id"))
	file := File{
		Filename: name, ContentType: kind.name, ContentID: id,
		Inline: disposition.kind != "attachment" && (id != "" || disposition.kind == "inline"),
	}
	size := &counter{to: io.Discard}
	switch {
	case p.each != nil:
		size.to = p.each(len(p.out.Files))
	case len(p.out.Files) == p.wanted:
		size.to = p.to
	}
	p.decodeTo(size, encoding)
	file.Size = size.n
	p.out.Files = append(p.out.Files, file)
	if size.failed != nil {
		p.writeErr = size.failed
		p.lines.stopMessage()
	} else if len(p.out.Files) == p.wanted+1 {
		p.lines.stopMessage() // nothing else was requested
	}
}

// readBody reads a body of the message, within the room left by earlier ones.
func (p *parser) readBody(kind contentType, before []*body, encoding string) *body {
	b := &body{buffer: buffer{limit: p.maxText}, charset: kind.charset, html: kind.name == "text/html"}
	for _, other := range before {
		b.limit -= len(other.data)
	}
	p.decodeTo(b, encoding)
	return b
}

// decodeTo writes the decoded content of a part.
func (p *parser) decodeTo(w io.Writer, encoding string) {
	switch encoding = strings.ToLower(strings.TrimSpace(withoutComment(encoding))); encoding {
	case "", "7bit", "8bit", "binary":
		p.copyTo(w)
	case "base64":
		d := &base64Writer{to: w}
		p.copyTo(d)
		d.end()
		if d.ignored {
			p.recordDefect("A part goes on after the end of its base64, the rest was omitted.")
		}
	case "quoted-printable":
		d := &quotedWriter{to: w}
		p.copyTo(d)
		d.end()
	default:
		p.recordDefect("A part has the unknown transfer encoding %s.", quoteText(encoding))
		p.copyTo(w)
	}
}

// copyTo copies up to the next boundary. Only a counter's writer can fail, and it records its error.
func (p *parser) copyTo(w io.Writer) {
	if p.lines.copyTo(w) != nil {
		p.lines.stopMessage()
	}
}
