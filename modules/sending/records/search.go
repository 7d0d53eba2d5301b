package records

import (
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/storage/search"
)

// emails.search is a document of package search: the words of subject, names, addresses and tags, the mark of
// the account, and the marks below. It contains no state, so settling a delivery does not touch the index.
const (
	markFrom   = "f="
	markDomain = "d="
	markTo     = "r="
	markTag    = "g="
)

// SearchText is the input of search.DocumentSQL.
type SearchText struct{ Words, Marks string }

// SearchTextOf takes the addresses both in display form and as addr-specs.
func SearchTextOf(accountID, fromAddress, subject string, display, recipients []string, tags []shape.Tag) SearchText {
	var words strings.Builder
	marks := []string{search.MarkAccount + accountID, markFrom + strings.ToLower(fromAddress)}
	if at := strings.LastIndexByte(fromAddress, '@'); at >= 0 {
		marks = append(marks, markDomain+strings.ToLower(fromAddress[at+1:]))
	}
	words.WriteString(subject)
	for _, text := range display {
		words.WriteString(" " + search.Parts(text))
	}
	for _, r := range recipients {
		marks = append(marks, markTo+strings.ToLower(r))
	}
	for _, t := range tags {
		marks = append(marks, markTag+t.Name+":"+t.Value)
		words.WriteString(" " + t.Name + " " + t.Value)
	}
	return SearchText{Words: words.String(), Marks: search.JoinMarks(marks)}
}

// MaxTag is the maximum length of the name and of the value of a tag, in characters.
const MaxTag = 256

// IsTagWord reports whether a text is valid as the name or the value of a tag.
func IsTagWord(s string) bool {
	return s != "" && len(s) <= MaxTag && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	})
}
