package message

// Part is the message, or a part of it, by its position in the bytes of the message.
type Part struct {
	Header int // start of its header
	End    int // end of its body, without the line end that belongs to the following boundary

	// For a multipart whose parts were found.
	Boundary string // empty if it contains no other parts
	Parts    []*Part
	Closed   bool // it ends with its closing boundary
}

// Structure finds the parts of a message without decoding. complete is false if there are more or deeper
// parts than Read accepts.
func Structure(raw []byte) (root *Part, complete bool) {
	p := newParser(linesOf(raw))
	p.place = &Part{End: len(raw)}
	p.maxText, p.preamble.limit = 0, 0
	root = p.place
	p.readEntity(p.readRoot(), 0)
	return root, !p.beyond
}

// multipartAt records that the current part contains others.
func (p *parser) multipartAt(boundary string) {
	if p.place != nil {
		p.place.Boundary = boundary
	}
}

// recordPosition reads a part and records its position.
func (p *parser) recordPosition(read func()) {
	outer := p.place
	if outer == nil {
		read()
		return
	}
	p.place = &Part{Header: p.lines.position()}
	outer.Parts = append(outer.Parts, p.place)
	read()
	p.place.End = max(p.place.Header, p.lines.contentEnd())
	p.place = outer
}

// skipContent skips to the next boundary if only positions are wanted.
func (p *parser) skipContent() bool {
	if p.place == nil {
		return false
	}
	p.lines.skipToBoundary()
	return true
}
