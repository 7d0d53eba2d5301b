package message

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lines gives a message line by line and sees the boundaries of every multipart that
// is open. One boundary ends all that is nested deeper, so a part that is never
// closed costs nothing but itself.
type lines struct {
	in         *bufio.Reader
	boundaries []string // of the open multiparts, the outermost first
	inside     bool     // the next piece goes on with a line
	held       []byte   // given back, to be given again
	seen       int      // octets that were read, those of boundaries too
	hitAt      int      // where the line of the boundary that was hit begins
	hitEnd     int      // how long the line end before it is
	lastEnd    int      // of the line before
	err        error    // of the reader, apart from the end

	// Why next gives nothing: the boundary of an open multipart (its place, from 0),
	// until enter; or ended, for good.
	hit     int
	closing bool // the boundary was the last one
	halted  bool
}

const ended = -1

// pieceSize is the longest piece of a line, and so of a boundary's line.
const pieceSize = 32 << 10

func newLines(r io.Reader) lines { return lines{in: bufio.NewReaderSize(r, pieceSize)} }

// linesOf gives the lines of octets that are in memory.
func linesOf(raw []byte) lines {
	return lines{in: bufio.NewReaderSize(bytes.NewReader(raw), min(pieceSize, len(raw)+1))}
}

// next gives a line with its line end, or a piece of a long one; begins says that it
// is the beginning. The bytes are good until the next call. It gives nothing at a
// boundary or at the end.
func (l *lines) next() (piece []byte, begins, ok bool) {
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
		l.stop()
		return nil, false, false
	}
	l.seen += len(piece)
	if begins && !l.inside && l.boundary(piece) {
		l.hitAt, l.hitEnd = l.seen-len(piece), l.lastEnd
		return nil, false, false
	}
	l.lastEnd = len(piece) - len(withoutLineEnd(piece))
	return piece, begins, true
}

// back gives the last piece back. It was the beginning of a line.
func (l *lines) back(piece []byte) { l.held = piece }

// position is where the next piece begins.
func (l *lines) position() int { return l.seen - len(l.held) }

// contentEnd is where the content ends that is behind us: at a boundary without the line
// end before it, or at the end.
func (l *lines) contentEnd() int {
	if l.hit == ended {
		return l.seen
	}
	return l.hitAt - l.hitEnd
}

// stop ends the message here.
func (l *lines) stop() { l.hit, l.halted, l.held = ended, true, nil }

// enter goes on behind the boundary.
func (l *lines) enter() { l.halted = l.hit == ended }

// boundary compares a line with those that are waited for, the innermost first.
func (l *lines) boundary(line []byte) bool {
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

// copyTo writes everything up to a boundary or the end. The line end before a
// boundary belongs to the boundary (RFC 2046, 5.1.1).
func (l *lines) copyTo(w io.Writer) error {
	end := make([]byte, 0, 2) // held back
	for {
		piece, _, ok := l.next()
		if !ok {
			break
		}
		if string(end) != "\r" || string(piece) != "\n" { // else a line end that fell into two pieces
			if err := write(w, end); err != nil {
				return err
			}
			end = end[:0]
		}
		content := withoutLineEnd(piece)
		if err := write(w, content); err != nil {
			return err
		}
		end = append(end, piece[len(content):]...)
	}
	if l.hit == ended {
		return write(w, end)
	}
	return nil
}

// skip goes on to the next boundary or the end.
func (l *lines) skip() {
	for ok := true; ok; {
		_, _, ok = l.next()
	}
}

// withoutLineEnd also takes a carriage return off the end of a piece, whose line feed
// may come with the next one.
func withoutLineEnd(piece []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(piece, []byte("\n")), []byte("\r"))
}

func write(w io.Writer, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := w.Write(b)
	return err
}
