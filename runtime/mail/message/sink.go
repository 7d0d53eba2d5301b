package message

import (
	"io"
	"slices"
)

// counter counts what it hands on.
type counter struct {
	to     io.Writer
	n      int64
	failed error
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += int64(n)
	if err != nil && c.failed == nil {
		c.failed = err
	}
	return n, err
}

// buffer keeps the first octets that are written to it.
type buffer struct {
	data  []byte
	limit int
	over  bool
}

func (b *buffer) Write(data []byte) (int, error) {
	kept := data[:min(len(data), b.limit-len(b.data))]
	b.over = b.over || len(kept) < len(data)
	if need := len(b.data) + len(kept); need > cap(b.data) {
		// Twice as much each time: append would copy a large text over and over.
		b.data = slices.Grow(b.data, min(max(cap(b.data), len(kept)), b.limit-len(b.data)))
	}
	b.data = append(b.data, kept...)
	return len(data), nil
}

func (b *buffer) reset() { b.data, b.over = b.data[:0], false }

// body is Text or HTML before its charset is undone.
type body struct {
	buffer
	charset string
	html    bool
}
