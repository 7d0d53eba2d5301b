package bounce

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	reply = regexp.MustCompile(`^([245]\d\d)[ -]*([245]\.\d{1,3}\.\d{1,3})?`)
	named = regexp.MustCompile(`\S*@\S*`)
)

// RedactRecipient returns a diagnostic for readers who must not learn the recipient. Only the codes of a
// server's reply are kept, because its words may name a mailbox in any form. Addresses are removed from other
// texts, which are our own.
func RedactRecipient(diagnostic string) string {
	if codes := reply.FindStringSubmatch(diagnostic); codes != nil {
		return strings.TrimSpace(codes[1] + " " + codes[2])
	}
	return named.ReplaceAllString(diagnostic, "…")
}

const maxWords = 300 // bytes of a redacted reply

// RedactReply returns the words of a server's reply for readers who must not learn the recipient. It removes
// addresses, and keeps only the codes if the words contain a part of the recipient's mailbox.
func RedactReply(text, recipient string) string {
	words := strings.Join(strings.Fields(named.ReplaceAllString(text, "…")), " ")
	mailbox, _, _ := strings.Cut(strings.ToLower(recipient), "@")
	lower := strings.ToLower(words)
	for _, part := range strings.FieldsFunc(mailbox, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(part) > 1 && strings.Contains(lower, part) {
			codes := reply.FindStringSubmatch(text)
			if codes == nil {
				return ""
			}
			return strings.TrimSpace(codes[1] + " " + codes[2])
		}
	}
	return strings.ToValidUTF8(words[:min(len(words), maxWords)], "")
}
