package dkim

import (
	"bytes"
	"crypto/sha256"
	"hash"
)

// hashBody hashes the body in relaxed form (RFC 6376 section 3.4.4): no white space at line ends, other
// runs reduced to one space, no empty lines at the end, a final CRLF unless the body is empty.
func hashBody(body []byte) ([sha256.Size]byte, error) {
	h := relaxedBody{hash: sha256.New()}
	for len(body) > 0 {
		end := bytes.IndexByte(body, '\n')
		if end < 1 || body[end-1] != '\r' {
			return [sha256.Size]byte{}, ErrNotCanonical
		}
		line := body[:end-1]
		body = body[end+1:]
		if bytes.IndexByte(line, '\r') >= 0 {
			return [sha256.Size]byte{}, ErrNotCanonical
		}
		h.writeLine(line)
	}
	return h.sumHash(), nil
}

// relaxedBody collects the canonical body in a buffer that stays in the CPU cache.
type relaxedBody struct {
	hash  hash.Hash
	buf   [4096]byte
	used  int
	empty int // empty lines not yet followed by text
}

func (h *relaxedBody) writeLine(line []byte) {
	line = bytes.TrimRight(line, " \t")
	if len(line) == 0 {
		h.empty++
		return
	}
	for ; h.empty > 0; h.empty-- {
		h.write(crlf)
	}
	for len(line) > 0 {
		// Copy up to and including the next space, then skip the rest of its run.
		i := bytes.IndexAny(line, " \t")
		if i < 0 {
			h.write(line)
			break
		}
		h.write(line[:i])
		h.write(space)
		line = bytes.TrimLeft(line[i:], " \t")
	}
	h.write(crlf)
}

var (
	crlf  = []byte("\r\n")
	space = []byte(" ")
)

func (h *relaxedBody) write(p []byte) {
	for len(p) > 0 {
		if h.used == len(h.buf) {
			h.flush()
		}
		n := copy(h.buf[h.used:], p)
		h.used += n
		p = p[n:]
	}
}

func (h *relaxedBody) flush() {
	h.hash.Write(h.buf[:h.used])
	h.used = 0
}

func (h *relaxedBody) sumHash() (sum [sha256.Size]byte) {
	h.flush()
	h.hash.Sum(sum[:0])
	return sum
}
