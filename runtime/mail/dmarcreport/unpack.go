package dmarcreport

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// The limits of a report file.
const (
	MaxFile = 2 << 20  // bytes of the file as attached
	MaxXML  = 20 << 20 // bytes after decompression

	// maxToken is the number of bytes of a tag, a text or a comment. The decoder holds each of them several times.
	maxToken = 1 << 20
)

var (
	magicZip  = []byte("PK\x03\x04")
	magicGzip = []byte("\x1f\x8b")
)

// IsReportFile reports whether a file looks like a report: it is compressed, or it is XML.
func IsReportFile(file []byte) bool {
	return bytes.HasPrefix(file, magicZip) || bytes.HasPrefix(file, magicGzip) ||
		bytes.HasPrefix(trimStart(file), []byte("<"))
}

// trimStart removes a byte order mark and white space.
func trimStart(text []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n")
}

// unpack returns a reader of the XML in a file, recognized by its content.
func unpack(file []byte) (io.ReadCloser, error) {
	switch {
	case len(file) > MaxFile:
		return nil, refuse(TooLarge, nil)
	case bytes.HasPrefix(file, magicZip):
		return unzip(file)
	case bytes.HasPrefix(file, magicGzip):
		r, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			return nil, refuse(BadArchive, err)
		}
		return r, nil
	}
	return io.NopCloser(bytes.NewReader(file)), nil
}

// unzip opens the only file of an archive. RFC 7489 section 7.2.1.1 allows exactly one.
func unzip(file []byte) (io.ReadCloser, error) {
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, refuse(BadArchive, err)
	}
	var found *zip.File
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if found != nil {
			return nil, refuse(BadArchive, errors.New("several files"))
		}
		found = f
	}
	if found == nil {
		return nil, refuse(BadArchive, errors.New("no file"))
	}
	r, err := found.Open()
	if err != nil {
		return nil, refuse(BadArchive, err)
	}
	return r, nil
}

// boundedReader fails with TooLarge after its limits, unlike io.LimitedReader, which would hide a truncation.
type boundedReader struct {
	from  io.Reader
	left  int64
	token int64 // bytes that the current XML token may still have
}

func (r *boundedReader) Read(p []byte) (int, error) {
	if r.left <= 0 || r.token <= 0 {
		return 0, refuse(TooLarge, nil)
	}
	if int64(len(p)) > r.left {
		p = p[:r.left]
	}
	n, err := r.from.Read(p)
	r.left -= int64(n)
	r.token -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = refuse(BadArchive, err)
	}
	return n, err
}
