package mime

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/mail/address"
)

// composedFields are the fields that Compose writes itself. A duplicate would be wrong or ambiguous.
var composedFields = map[string]bool{
	"from": true, "to": true, "cc": true, "bcc": true, "reply-to": true, "subject": true, "date": true, "message-id": true,
	"mime-version": true, "dkim-signature": true, "return-path": true,
}

// checkCustom validates an additional field against the grammar. address.ValidateHeader decides which names
// clients may use; Postrider's own fields (Feedback-ID) are allowed here too.
func checkCustom(h Header) error {
	if err := address.CheckFieldName(h.Name); err != nil {
		return err
	}
	lower := strings.ToLower(h.Name)
	if composedFields[lower] || strings.HasPrefix(lower, "content-") {
		return errors.New("is reserved: Compose writes it")
	}
	return address.CheckFieldValue(h.Name, h.Value)
}

// checkBytes verifies the finished message: it consists of CRLF lines of at most 998 bytes, is 7-bit except
// for a UTF-8 header, has no control characters, and its header has exactly the intended fields.
func checkBytes(message []byte, names []string, utf8Header bool) error {
	inHeader := true
	for number := 1; len(message) > 0; number++ {
		end := bytes.IndexByte(message, '\n')
		if end < 1 || message[end-1] != '\r' {
			return fmt.Errorf("line %d does not end in CRLF", number)
		}
		line := message[:end-1]
		message = message[end+1:]
		if len(line) > lineLimit {
			return fmt.Errorf("line %d has %d bytes", number, len(line))
		}
		if err := checkLine(line, inHeader && utf8Header); err != nil {
			return fmt.Errorf("line %d %w", number, err)
		}
		if !inHeader {
			continue
		}
		if len(line) == 0 {
			inHeader = false
			continue
		}
		if line[0] == ' ' || line[0] == '\t' {
			if len(bytes.TrimLeft(line, " \t")) == 0 {
				return fmt.Errorf("line %d is a folded line without text", number)
			}
			continue
		}
		if len(names) == 0 || !bytes.HasPrefix(line, []byte(names[0]+":")) {
			return fmt.Errorf("line %d is an unexpected header field", number)
		}
		names = names[1:]
	}
	if inHeader || len(names) > 0 {
		return errors.New("header is incomplete")
	}
	return nil
}

func checkLine(line []byte, mayBeUTF8 bool) error {
	plain := true
	for _, c := range line {
		if c < ' ' && c != '\t' || c == 0x7f {
			return errors.New("has a control character")
		}
		plain = plain && c < utf8.RuneSelf
	}
	if !plain && (!mayBeUTF8 || !utf8.Valid(line)) {
		return errors.New("is not 7-bit")
	}
	return nil
}
