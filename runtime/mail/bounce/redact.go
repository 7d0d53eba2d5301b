package bounce

import (
	"regexp"
	"strings"
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
