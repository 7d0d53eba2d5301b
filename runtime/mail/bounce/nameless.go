package bounce

import (
	"regexp"
	"strings"
)

var (
	reply = regexp.MustCompile(`^([245]\d\d)[ -]*([245]\.\d{1,3}\.\d{1,3})?`)
	named = regexp.MustCompile(`\S*@\S*`)
)

// Nameless is a diagnostic for somebody who is not to learn whom mail is for. Of a server's reply the codes
// are left, because its words may name a mailbox in any form; of another text, which is our own, what is
// no address.
func Nameless(diagnostic string) string {
	if codes := reply.FindStringSubmatch(diagnostic); codes != nil {
		return strings.TrimSpace(codes[1] + " " + codes[2])
	}
	return named.ReplaceAllString(diagnostic, "…")
}
