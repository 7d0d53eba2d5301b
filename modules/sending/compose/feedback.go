package compose

import (
	"cmp"
	"strings"
)

// feedbackField identifies to a mailbox provider which part of an account's mail receives complaints (Gmail's
// Postmaster Tools): its kind, its domain and account, and the sending service. Providers ignore it unless the
// DKIM signature covers it, which package dkim ensures.
const feedbackField = "Feedback-ID"

const (
	feedbackSender = "postrider"
	maxFeedback    = 64 // maximum length of the kind in characters
)

// feedbackID returns the value of the field. The kind of mail is the value of the first tag, or else the
// category.
func (o *StoredEmail) feedbackID() string {
	kind := ""
	if len(o.tags) > 0 {
		kind = o.tags[0].Value
	}
	return strings.Join([]string{feedbackWord(cmp.Or(kind, o.category, "none")), o.DomainID, o.accountID,
		feedbackSender}, ":")
}

// feedbackWord keeps only the characters that are allowed between colons.
func feedbackWord(s string) string {
	word := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '-'
	}, s)
	return word[:min(len(word), maxFeedback)]
}
