package reportfile

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// The limits of a file.
const (
	MaxFile = 2 << 20  // bytes as attached
	MaxText = 20 << 20 // bytes after decompression
)

var (
	magicZip  = []byte("PK\x03\x04")
	magicGzip = []byte("\x1f\x8b")
)

// IsReportFile reports whether a file looks like a report: it is compressed, or begins like XML or a JSON object.
func IsReportFile(file []byte) bool {
	if isArchive(file) {
		return true
	}
	text := trimStart(file)
	return bytes.HasPrefix(text, []byte("<")) || bytes.HasPrefix(text, []byte("{"))
}

func isArchive(file []byte) bool {
	return bytes.HasPrefix(file, magicZip) || bytes.HasPrefix(file, magicGzip)
}

// trimStart removes a byte order mark and white space.
func trimStart(text []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n")
}

// Text is the decompressed text of a report, without white space at its start. It returns an error instead of the end
// of a text that exceeds a limit.
type Text struct {
	source *boundedReader
	closer io.Closer
	head   []byte
	rest   io.Reader
}

// Open opens the text in a file. The errors of Open and of the Text are of type *RefusalError. Call Close.
func Open(file []byte) (*Text, error) {
	from, err := unpack(file)
	if err != nil {
		return nil, err
	}
	t := &Text{source: &boundedReader{from: from, left: MaxText, token: MaxText}, closer: from}
	head := make([]byte, 512)
	n, err := io.ReadFull(t.source, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		_ = from.Close()
		return nil, WrapError(err)
	}
	t.head = trimStart(head[:n])
	if isArchive(t.head) {
		_ = from.Close()
		return nil, Refuse(BadArchive, errors.New("nested archive"))
	}
	t.rest = io.MultiReader(bytes.NewReader(t.head), t.source)
	return t, nil
}

// IsJSON reports whether the text begins like a JSON object.
func (t *Text) IsJSON() bool { return bytes.HasPrefix(t.head, []byte("{")) }

func (t *Text) Read(p []byte) (int, error) { return t.rest.Read(p) }

// LimitToken limits the number of bytes until its next call. A decoder holds a token in memory.
func (t *Text) LimitToken(bytes int64) { t.source.token = bytes }

// Close releases the decoder.
func (t *Text) Close() { _ = t.closer.Close() }

// unpack returns a reader of the text in a file, recognized by its content.
func unpack(file []byte) (io.ReadCloser, error) {
	switch {
	case len(file) > MaxFile:
		return nil, Refuse(TooLarge, nil)
	case bytes.HasPrefix(file, magicZip):
		return unzip(file)
	case bytes.HasPrefix(file, magicGzip):
		r, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			return nil, Refuse(BadArchive, err)
		}
		return r, nil
	}
	return io.NopCloser(bytes.NewReader(file)), nil
}

// unzip opens the only file of an archive. RFC 7489 section 7.2.1.1 allows exactly one.
func unzip(file []byte) (io.ReadCloser, error) {
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, Refuse(BadArchive, err)
	}
	var found *zip.File
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if found != nil {
			return nil, Refuse(BadArchive, errors.New("several files"))
		}
		found = f
	}
	if found == nil {
		return nil, Refuse(BadArchive, errors.New("no file"))
	}
	r, err := found.Open()
	if err != nil {
		return nil, Refuse(BadArchive, err)
	}
	return r, nil
}

// boundedReader fails with TooLarge after its limits, unlike io.LimitedReader, which would hide a truncation.
type boundedReader struct {
	from  io.Reader
	left  int64
	token int64 // bytes that the current token may still have
}

func (r *boundedReader) Read(p []byte) (int, error) {
	if r.left <= 0 || r.token <= 0 {
		return 0, Refuse(TooLarge, nil)
	}
	if int64(len(p)) > r.left {
		p = p[:r.left]
	}
	n, err := r.from.Read(p)
	r.left -= int64(n)
	r.token -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = Refuse(BadArchive, err)
	}
	return n, err
}
