package received

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/intake"
)

// headWriter remembers the first error.
type headWriter struct {
	ctx context.Context //nolint:containedctx // it lives as long as the call
	to  *intake.Content
	err error
}

func (w *headWriter) write(b []byte) {
	if w.err == nil {
		w.err = w.to.Append(w.ctx, b)
	}
}

// text writes a field with a potentially long text, piece by piece. It writes an empty text as null.
func (w *headWriter) text(name, text string) {
	w.write([]byte(name))
	if text == "" {
		w.write([]byte("null"))
		return
	}
	w.write([]byte{'"'})
	for text != "" {
		n := min(len(text), 32<<10)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		piece := wire.Encode(text[:n])
		w.write(piece[1 : len(piece)-1])
		text = text[n:]
	}
	w.write([]byte{'"'})
}

// write writes the record, and the files one by one.
func (a *wholeAnswer) write(w io.Writer, content *inbound.Content) error {
	if _, err := io.Copy(w, a.head.Reader()); err != nil {
		return err
	}
	pieces := bufio.NewWriterSize(w, 32<<10)
	files := &fileWriter{out: pieces, files: a.files}
	if err := content.Files(files.next); err != nil {
		return err
	}
	files.end()
	files.write([]byte(`]}}`))
	return errors.Join(files.err, pieces.Flush())
}

// fileWriter writes the files of a message into an array.
type fileWriter struct {
	out     io.Writer
	files   []ReceivedFile
	begun   int
	current io.WriteCloser
	err     error
}

func (f *fileWriter) write(b []byte) {
	if f.err == nil {
		_, f.err = f.out.Write(b)
	}
}

// next ends the previous file and starts the n-th.
func (f *fileWriter) next(n int) io.Writer {
	f.end()
	if n >= len(f.files) {
		return io.Discard
	}
	if f.begun++; f.begun > 1 {
		f.write([]byte{','})
	}
	head := wire.Encode(f.files[n])
	f.write(head[:len(head)-1])
	f.write([]byte(`,"data":"`))
	f.current = base64.NewEncoder(base64.StdEncoding, f)
	return f.current
}

func (f *fileWriter) end() {
	if f.current == nil {
		return
	}
	if err := f.current.Close(); f.err == nil {
		f.err = err
	}
	f.current = nil
	f.write([]byte(`"}`))
}

// Write accepts base64.
func (f *fileWriter) Write(b []byte) (int, error) {
	f.write(b)
	return len(b), f.err
}
