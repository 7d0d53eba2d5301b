package devinbox

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/postrider/postrider/runtime/mail/message"
)

const (
	snippetRead = 32 << 10 // bytes of an email examined for its snippet
	snippetLen  = 160      // characters of a snippet
)

// snippet returns the beginning of an email's text on one line, from its text part, or else from its HTML. The
// argument is the beginning of the email. The snippet is empty for an email with neither.
func snippet(beginning []byte) string {
	read, err := message.ReadFull(bytes.NewReader(beginning), message.Bounds{Text: snippetRead, Contents: 1})
	if err != nil { // never of a bytes.Reader
		return ""
	}
	text := oneLine(read.Text)
	if text == "" {
		text = oneLine(message.TextOfHTML(read.HTML))
	}
	if runes := []rune(text); len(runes) > snippetLen {
		return strings.TrimSpace(string(runes[:snippetLen-1])) + "…"
	}
	return text
}

// oneLine joins the words of a text. It removes invisible characters: senders pad emails with them to shorten
// the snippet, and some reverse the following text.
func oneLine(text string) string {
	visible := strings.Map(func(r rune) rune {
		const joiner = '\u034f' // combining grapheme joiner
		if r == joiner || unicode.Is(unicode.Cf, r) || unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(visible), " ")
}
