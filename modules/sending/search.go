package sending

import (
	"slices"
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
)

// emails.search is one document with two kinds of lexemes. Words come from
// subject, names, addresses and tags, and are found by their beginning. Marks are
// exact: one for the account, so that the index never walks another tenant's
// emails, and one for each thing that a list is filtered by. One index serves all
// filters, and no state is in it, so that a settled delivery does not touch it.
const (
	markAccount = "a="
	markFrom    = "f="
	markDomain  = "d="
	markTo      = "r="
	markTag     = "g="
)

// markSeparator cannot stand in an address or a tag.
const markSeparator = "\x1f"

// searchSQL makes the document of the columns words and marks.
const searchSQL = `to_tsvector('simple', v.words) || array_to_tsvector(string_to_array(v.marks, E'\x1f'))`

// searchText is what searchSQL takes.
type searchText struct{ words, marks string }

// inside lets the parts of an address be found as well as the whole.
var inside = strings.NewReplacer("@", " ", ".", " ", "_", " ", "-", " ", "+", " ")

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
	marks := []string{markAccount + accountID, markFrom + strings.ToLower(fromAddress)}
	if at := strings.LastIndexByte(fromAddress, '@'); at >= 0 {
		marks = append(marks, markDomain+strings.ToLower(fromAddress[at+1:]))
	}
	words.WriteString(subject)
	for _, text := range display {
		words.WriteByte(' ')
		words.WriteString(text)
		words.WriteByte(' ')
		words.WriteString(inside.Replace(text))
	}
	for _, r := range recipients {
		marks = append(marks, markTo+strings.ToLower(r))
	}
	for _, t := range tags {
		marks = append(marks, markTag+t.Name+":"+t.Value)
		words.WriteString(" " + t.Name + " " + t.Value)
	}
	return searchText{words: words.String(), marks: strings.Join(marks, markSeparator)}
}

// searchQuery is a criteria's part that the index answers, in the syntax of
// to_tsquery: exact marks need no dictionary, words go through the simple one.
func (c criteria) searchQuery(accountID string) (marks, words string) {
	all := []string{lexeme(markAccount + accountID)}
	for _, m := range c.marks {
		all = append(all, lexeme(m))
	}
	var beginnings []string
	for _, w := range c.words {
		beginnings = append(beginnings, lexeme(w)+":*")
	}
	return strings.Join(all, " & "), strings.Join(beginnings, " & ")
}

var lexemeQuote = strings.NewReplacer(`'`, `''`, `\`, `\\`)

func lexeme(text string) string { return "'" + lexemeQuote.Replace(text) + "'" }
