package bodies

import (
	"bytes"
	"strings"

	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/plaintext"
)

// SnippetLength is the maximum length of a snippet in a list, in characters.
const SnippetLength = 140

// How much of a body is read for a snippet. HTML begins with styles, and a relayed message with its header.
const (
	SnippetText = 1000     // characters
	SnippetHTML = 32 << 10 // characters
	SnippetMIME = 64 << 10 // bytes
)

// Snippet returns the first words of a body as plain text on one line: of html and text, or of the relayed
// message if mime is not nil. If the text is blank, it reads the HTML. The constants above bound how much of
// each it needs.
func Snippet(html, text string, mime []byte) (string, error) {
	if mime != nil {
		m, err := message.Read(bytes.NewReader(mime[:min(len(mime), SnippetMIME)])) // a truncated message is sufficient
		if err != nil {
			return "", err
		}
		text, html = m.Text, m.HTML
	} else {
		text, html = firstCharacters(text, SnippetText), firstCharacters(html, SnippetHTML)
		if strings.TrimSpace(text) != "" {
			html = ""
		}
	}
	return plaintext.Snippet(text, html, SnippetLength), nil
}

// firstCharacters returns the first characters of a text.
func firstCharacters(text string, characters int) string {
	n := 0
	for at := range text {
		if n++; n > characters {
			return text[:at]
		}
	}
	return text
}
