package devinbox

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/postrider/postrider/runtime/mail/message"
)

const (
	snippetRead = 32 << 10 // octets of a mail that are looked at for its snippet
	snippetLen  = 160      // characters of a snippet
)

// snippet takes the first octets of a mail and gives how its text begins, on one line: of
// its text part, else of its HTML. It is empty for a mail without either.
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

// oneLine joins the words of a text. Characters that nobody sees go: mails are padded with
// them to keep the snippet short, and some turn round what follows.
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
