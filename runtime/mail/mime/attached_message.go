package mime

import (
	"bytes"
	"crypto/sha256"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/mail/verbatim"
)

// messageType is the type of a message inside a message. It cannot be base64 (RFC 2046 section 5.2.1).
const messageType = "message/rfc822"

// attachMessage returns the part for a file of messageType, which mail clients open as a message. 8-bit bodies
// in it are encoded, since not every server on the way accepts 8BITMIME. A file that cannot be converted to
// 7-bit lines, because its 8-bit content is signed or outside a body, is sent as application/octet-stream
// instead.
func attachMessage(file entity, seed [sha256.Size]byte) (entity, error) {
	fits, changes, length, lineEnds := false, false, 0, 0
	check := func(data []byte) {
		message, changed := toSevenBit(data)
		fits, changes = fitsAsMessage(message, boundaryText(seed)), changed
		length, lineEnds = len(message), bytes.Count(message, []byte{'\n'})
	}
	read, data := file.read, file.data
	if read == nil {
		read = func(use func(data []byte)) error { use(data); return nil } //nolint:unparam // the type of entity.read
	}
	if err := read(check); err != nil {
		return file, err
	}
	if !fits {
		file.contentType = "application/octet-stream"
		return file, nil
	}
	if changes { // converted again for each use, so that no second copy of the file stays in memory
		file.data, file.length = nil, length
		file.read = func(use func(data []byte)) error {
			return read(func(data []byte) {
				message, _ := toSevenBit(data)
				use(message)
			})
		}
	}
	file.encoding, file.escapes = "7bit", lineEnds // at most one byte for each line end
	return file, nil
}

// toSevenBit returns the message with its 8-bit bodies and long lines encoded, or the same data if it needs no change
// or cannot be changed.
func toSevenBit(data []byte) (message []byte, changed bool) {
	if isSevenBit(data) && !verbatim.HasLongLine(data) {
		return data, false
	}
	var lines bytes.Buffer
	writeLines(&lines, data)
	if !bytes.HasSuffix(data, []byte{'\n'}) {
		lines.WriteString("\r\n")
	}
	message, err := verbatim.ShortenLines(lines.Bytes())
	if err == nil {
		message, err = verbatim.SevenBit(message)
	}
	if err != nil {
		return data, false
	}
	return message, true
}

func isSevenBit(data []byte) bool {
	return !bytes.ContainsFunc(data, func(r rune) bool { return r >= utf8.RuneSelf })
}

// fitsAsMessage reports whether the data begins with a header, consists of lines that any mail server accepts,
// and contains no boundary of the enclosing message.
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

// writeLines writes lines with CRLF. The last line is not terminated, because the boundary begins with a line
// end.
func writeLines(b *bytes.Buffer, data []byte) {
	for line := range bytes.Lines(data) {
		text, ended := bytes.CutSuffix(line, []byte{'\n'})
		b.Write(bytes.TrimSuffix(text, []byte{'\r'}))
		if ended {
			b.WriteString("\r\n")
		}
	}
}
