package message

import "bytes"

// NextField returns the first field of a header block unchanged, with its folds and its CRLF, and the rest.
// At the empty line that ends the header, the field is the CRLF alone. The CRLF is missing if the block
// ends before it. ok is false if a line ends with a bare LF. It is for messages whose bytes must be
// preserved; others are read with Read and Header.
func NextField(block []byte) (field, rest []byte, ok bool) {
	for i := 0; ; {
		n := bytes.IndexByte(block[i:], '\n')
		if n < 0 {
			return block, nil, true
		}
		i += n
		if i == 0 || block[i-1] != '\r' {
			return nil, nil, false
		}
		i++
		// The empty line ends the header, whatever the body starts with.
		if i == 2 || i == len(block) || block[i] != ' ' && block[i] != '\t' {
			return block[:i], block[i:], true
		}
	}
}
