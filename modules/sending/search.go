package sending

import (
	"slices"
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/search"
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

// searchText is what search.DocumentSQL takes.
type searchText struct{ words, marks string }

func (a *acceptance) searchText() searchText {
	e := a.email
	recipients := make([]string, 0, len(a.recipients))
	for _, r := range a.recipients {
		recipients = append(recipients, r.address)
	}
	return searchTextOf(e.accountID, e.fromAddress, e.subject, slices.Concat([]string{e.from}, e.to, e.cc, e.bcc), recipients, e.tags)
}

// searchTextOf takes the addresses in display form and as addr-specs.
func searchTextOf(accountID, fromAddress, subject string, display, recipients []string, tags []shape.Tag) searchText {
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
	return searchText{words: words.String(), marks: search.JoinMarks(marks)}
}
