package records

import (
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/storage/search"
)

// emails.search is a document of package search: words of subject, names, addresses and
// tags, and these marks beside that of the account. No state is in it, so that a settled
// delivery does not touch the index.
const (
	markFrom   = "f="
	markDomain = "d="
	markTo     = "r="
	markTag    = "g="
)

// SearchText is what search.DocumentSQL takes.
type SearchText struct{ Words, Marks string }

// SearchTextOf takes the addresses in display form and as addr-specs.
func SearchTextOf(accountID, fromAddress, subject string, display, recipients []string, tags []shape.Tag) SearchText {
	var words strings.Builder
	marks := []string{search.MarkAccount + accountID, markFrom + strings.ToLower(fromAddress)}
	if at := strings.LastIndexByte(fromAddress, '@'); at >= 0 {
		marks = append(marks, markDomain+strings.ToLower(fromAddress[at+1:]))
	}
	words.WriteString(subject)
	for _, text := range display {
		words.WriteByte(' ')
		words.WriteString(text)
		words.WriteByte(' ')
		words.WriteString(search.Parts(text))
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

// MaxTag is how many characters the name of a tag has at most, and its value.
const MaxTag = 256

// IsTagWord tells whether a text may be the name or the value of a tag.
func IsTagWord(s string) bool {
	return s != "" && len(s) <= MaxTag && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	})
}
