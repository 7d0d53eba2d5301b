package message

import "bytes"

// NextField gives the first field of a header block with its folds and its CRLF, as it
// stands there, and what is behind it. The field is the CRLF alone at the empty line that
// ends the header. Its CRLF is missing where the block ends before. ok is false when a line
// ends with a bare LF. It is for messages that are to keep their octets; others are read
// by Read and Header.
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
		// The empty line ends the header, whatever the body begins with.
		if i == 2 || i == len(block) || block[i] != ' ' && block[i] != '\t' {
			return block[:i], block[i:], true
		}
	}
}
