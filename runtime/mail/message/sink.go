package message

import (
	"io"
	"slices"
)

// counter counts the bytes that it passes on.
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

// buffer keeps the first bytes written to it.
type buffer struct {
	data  []byte
	limit int
	over  bool
}

func (b *buffer) Write(data []byte) (int, error) {
	kept := data[:min(len(data), b.limit-len(b.data))]
	b.over = b.over || len(kept) < len(data)
	if need := len(b.data) + len(kept); need > cap(b.data) {
		// Double the size each time: append would copy a large text repeatedly.
		b.data = slices.Grow(b.data, min(max(cap(b.data), len(kept)), b.limit-len(b.data)))
	}
	b.data = append(b.data, kept...)
	return len(data), nil
}

func (b *buffer) reset() { b.data, b.over = b.data[:0], false }

// body is Text or HTML before its charset is decoded.
type body struct {
	buffer
	charset string
	html    bool
}
