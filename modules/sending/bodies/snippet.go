package bodies

import (
	"bytes"
	"strings"

	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/plaintext"
)

// SnippetLength is how many characters of an email stand in a list.
const SnippetLength = 140

// What is read of a body for them. HTML begins with styles, and what came over SMTP with its header.
const (
	SnippetText = 1000     // characters
	SnippetHTML = 32 << 10 // likewise
	SnippetMIME = 64 << 10 // octets
)

// Snippet gives the first words of a body as plain text on one line: of html and text, or of what came
// over SMTP where mime is not nil. HTML is read where the text is blank. No more of them is needed, or read, than the constants say.
func Snippet(html, text string, mime []byte) (string, error) {
	if mime != nil {
		m, err := message.Read(bytes.NewReader(mime[:min(len(mime), SnippetMIME)])) // an early end is the end
		if err != nil {
			return "", err
		}
		text, html = m.Text, m.HTML
	} else {
		text, html = beginning(text, SnippetText), beginning(html, SnippetHTML)
		if strings.TrimSpace(text) != "" {
			html = ""
		}
	}
	return plaintext.Snippet(text, html, SnippetLength), nil
}

// beginning is the first characters of a text.
func beginning(text string, characters int) string {
	n := 0
	for at := range text {
		if n++; n > characters {
			return text[:at]
		}
	}
	return text
}
