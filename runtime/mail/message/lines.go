package message

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lines reads a message line by line and detects the boundaries of all open multiparts. A boundary ends
// everything nested deeper, so a part that is never closed affects only itself.
type lines struct {
	in         *bufio.Reader
	boundaries []string // of the open multiparts, outermost first
	inside     bool     // the next piece continues a line
	held       []byte   // returned by back, to be read again
	seen       int      // bytes read, including boundaries
	hitAt      int      // start of the line with the detected boundary
	hitEnd     int      // length of the line end before it
	lastEnd    int      // of the line before
	err        error    // of the reader, other than EOF

	// Why next returns nothing: the index of the boundary of an open multipart, until enter; or ended,
	// permanently.
	hit     int
	closing bool // it is a closing boundary
	halted  bool
}

const ended = -1

// pieceSize is the maximum length of a piece of a line, and so of a boundary's line.
const pieceSize = 32 << 10

func newLines(r io.Reader) lines { return lines{in: bufio.NewReaderSize(r, pieceSize)} }

// linesOf returns the lines of bytes in memory.
func linesOf(raw []byte) lines {
	return lines{in: bufio.NewReaderSize(bytes.NewReader(raw), min(pieceSize, len(raw)+1))}
}

// nextLine returns a line with its line end, or a piece of a long line; begins reports whether it is the start.
// The bytes are valid until the next call. It returns nothing at a boundary or at the end.
func (l *lines) nextLine() (piece []byte, begins, ok bool) {
	if l.held != nil {
		piece, l.held = l.held, nil
		return piece, true, true
	}
	if l.halted {
		return nil, false, false
	}
	piece, err := l.in.ReadSlice('\n')
	begins = !l.inside
	l.inside = errors.Is(err, bufio.ErrBufferFull)
	if err != nil && !l.inside && !errors.Is(err, io.EOF) {
		l.err = err
	}
	if len(piece) == 0 {
		l.stopMessage()
		return nil, false, false
	}
	l.seen += len(piece)
	if begins && !l.inside && l.matchBoundary(piece) {
		l.hitAt, l.hitEnd = l.seen-len(piece), l.lastEnd
		return nil, false, false
	}
	l.lastEnd = len(piece) - len(withoutLineEnd(piece))
	return piece, begins, true
}

// pushBack returns the last piece, which must be the start of a line, to the reader.
func (l *lines) pushBack(piece []byte) { l.held = piece }

// position returns the offset of the next piece.
func (l *lines) position() int { return l.seen - len(l.held) }

// contentEnd returns the end of the content before the position: at a boundary without the line end before
// it, or at the end.
func (l *lines) contentEnd() int {
	if l.hit == ended {
		return l.seen
	}
	return l.hitAt - l.hitEnd
}

// stopMessage ends the message here.
func (l *lines) stopMessage() { l.hit, l.halted, l.held = ended, true, nil }

// enterPart continues after the boundary.
func (l *lines) enterPart() { l.halted = l.hit == ended }

// matchBoundary compares a line with the open boundaries, innermost first.
func (l *lines) matchBoundary(line []byte) bool {
	if len(l.boundaries) == 0 || !bytes.HasPrefix(line, []byte("--")) {
		return false
	}
	line = bytes.TrimRight(line[2:], " \t\r\n")
	for i := len(l.boundaries) - 1; i >= 0; i-- {
		rest, ok := bytes.CutPrefix(line, []byte(l.boundaries[i]))
		if ok && (len(rest) == 0 || string(rest) == "--") {
			l.hit, l.closing, l.halted = i, len(rest) > 0, true
			return true
		}
	}
	return false
}

// copyTo writes everything up to a boundary or the end. The line end before a boundary belongs to the
// boundary (RFC 2046, 5.1.1).
func (l *lines) copyTo(w io.Writer) error {
	end := make([]byte, 0, 2) // held back
	for {
		piece, _, ok := l.nextLine()
		if !ok {
			break
		}
		if string(end) != "\r" || string(piece) != "\n" { // otherwise a line end that was split into two pieces
			if err := writeNonEmpty(w, end); err != nil {
				return err
			}
			end = end[:0]
		}
		content := withoutLineEnd(piece)
		if err := writeNonEmpty(w, content); err != nil {
			return err
		}
		end = append(end, piece[len(content):]...)
	}
	if l.hit == ended {
		return writeNonEmpty(w, end)
	}
	return nil
}

// skipToBoundary skips to the next boundary or the end.
func (l *lines) skipToBoundary() {
	for ok := true; ok; {
		_, _, ok = l.nextLine()
	}
}

// withoutLineEnd also removes a carriage return at the end of a piece, because its line feed may be in the
// next one.
func withoutLineEnd(piece []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(piece, []byte("\n")), []byte("\r"))
}

func writeNonEmpty(w io.Writer, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := w.Write(b)
	return err
}
