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
		h.endLine()
	}
	for len(line) > 0 {
		if h.used == len(h.buf) {
			h.flush()
		}
		room := h.buf[h.used:]
		n := min(len(line), len(room))
		for i, c := range line[:n] { // words are so short that finding and copying them takes twice as long
			if c == ' ' || c == '\t' {
				room[i], n = ' ', i+1
				break
			}
			room[i] = c
		}
		spaced := room[n-1] == ' '
		if h.used, line = h.used+n, line[n:]; spaced {
			for line[0] == ' ' || line[0] == '\t' {
				line = line[1:]
			}
		}
	}
	h.endLine()
}

func (h *relaxedBody) endLine() {
	if len(h.buf)-h.used < 2 {
		h.flush()
	}
	h.used += copy(h.buf[h.used:], "\r\n")
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
