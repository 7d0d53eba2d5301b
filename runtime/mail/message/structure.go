package message

// Part is the message, or a part of it, by where it stands in the octets of the message.
type Part struct {
	Header int // where its header begins
	End    int // where its body ends, without the line end that belongs to the boundary behind it

	// Of a multipart whose parts were found.
	Boundary string // empty: a part that holds no others
	Parts    []*Part
	Closed   bool // it ends with its last boundary
}

// Structure finds the parts of a message. It decodes nothing. complete is false when there
// are more parts, or deeper ones, than Read takes in.
func Structure(raw []byte) (root *Part, complete bool) {
	p := newParser(linesOf(raw))
	p.place = &Part{End: len(raw)}
	p.maxText, p.preamble.limit = 0, 0
	root = p.place
	p.entity(p.root(), 0)
	return root, !p.beyond
}

// multipartAt notes that the part at hand holds others.
func (p *parser) multipartAt(boundary string) {
	if p.place != nil {
		p.place.Boundary = boundary
	}
}

// placed takes in a part, by read, and notes where it stands.
func (p *parser) placed(read func()) {
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

// skip goes on to the next boundary when only places are wanted.
func (p *parser) skip() bool {
	if p.place == nil {
		return false
	}
	p.lines.skip()
	return true
}
