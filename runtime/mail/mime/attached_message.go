package mime

import (
	"bytes"
	"crypto/sha256"
)

// messageType is the type of a message inside a message. It cannot be base64 (RFC 2046 section 5.2.1).
const messageType = "message/rfc822"

// attachMessage returns a file of messageType as a part that mail clients open as a message. A file that cannot be
// sent as 7-bit lines is sent as application/octet-stream instead.
func attachMessage(file entity, seed [sha256.Size]byte) (entity, error) {
	fits, bareEnds := false, 0
	check := func(data []byte) {
		fits = fitsAsMessage(data, boundaryText(seed))
		bareEnds = bytes.Count(data, []byte{'\n'})
	}
	if file.read == nil {
		check(file.data)
	} else if err := file.read(check); err != nil {
		return file, err
	}
	if !fits {
		file.contentType = "application/octet-stream"
		return file, nil
	}
	file.encoding, file.escapes = "7bit", bareEnds // at most one byte for each line end
	return file, nil
}

// fitsAsMessage reports whether the data begins with a header, consists of lines that any mail server accepts, and
// contains no boundary of the message around it.
func fitsAsMessage(data []byte, boundary string) bool {
	name, _, found := bytes.Cut(data, []byte{':'})
	if !found || len(name) == 0 || bytes.ContainsAny(name, " \t\r\n") || bytes.Contains(data, []byte(boundary)) {
		return false
	}
	for line := range bytes.Lines(data) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
		if len(line) > lineLimit || checkLine(line, false) != nil {
			return false
		}
	}
	return true
}

// writeLines writes lines with CRLF. The last one keeps what it has: the boundary begins with a line end of its own.
func writeLines(b *bytes.Buffer, data []byte) {
	for line := range bytes.Lines(data) {
		text, ended := bytes.CutSuffix(line, []byte{'\n'})
		b.Write(bytes.TrimSuffix(text, []byte{'\r'}))
		if ended {
			b.WriteString("\r\n")
		}
	}
}
