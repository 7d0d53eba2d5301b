package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
)

// MarkAccount is the prefix of the mark for the account id, which every document has.
const MarkAccount = "a="

// separator cannot occur in marks, which contain no control characters.
const separator = "\x1f"

// DocumentSQL computes a document from the columns words and marks of a row v.
const DocumentSQL = `to_tsvector('simple', v.words) || array_to_tsvector(string_to_array(v.marks, E'\x1f'))`

// JoinMarks returns the value of the column marks for DocumentSQL.
func JoinMarks(marks []string) string { return strings.Join(marks, separator) }

// Parts splits a text with an address into words, as a search does. The address as a whole is not a word of a document:
// almost every email would add one to the index, and its parts next to each other find it as well.
func Parts(text string) string {
	return strings.Map(func(r rune) rune {
		if isWordRune(r) {
			return r
		}
		return ' '
	}, text)
}

var lexemeQuote = strings.NewReplacer(`'`, `''`, `\`, `\\`)

// Lexeme quotes a mark or a word for a tsquery.
func Lexeme(text string) string { return "'" + lexemeQuote.Replace(text) + "'" }

// AllMarks returns a tsquery for the documents of an account that have all the marks.
func AllMarks(accountID string, marks []string) string {
	return allMarks(append([]string{MarkAccount + accountID}, marks...))
}

func allMarks(marks []string) string {
	quoted := make([]string, len(marks))
	for i, m := range marks {
		quoted[i] = Lexeme(m)
	}
	return strings.Join(quoted, " & ")
}

// The limits of a search.
const (
	maxText  = 200 // characters
	maxWords = 10
)

// ReadText parses a search text, the field q, into words and terms for fields. A word that is an id becomes a term
// without a field.
func ReadText(wrong fault.Fields, q string, fields ...string) (words []string, terms []Term) {
	if utf8.RuneCountInString(q) > maxText || !utf8.ValidString(q) || strings.ContainsFunc(q, unicode.IsControl) {
		return ReadWords(wrong, q), nil
	}
	all, err := Fields(q, fields...)
	if err != nil {
		wrong.Add("q", "%s", err)
		return nil, nil
	}
	for _, t := range all {
		if one := IDWord(t.Value); t.Field != "" {
			terms = append(terms, t)
		} else if !id.Time(one).IsZero() {
			terms = append(terms, Term{Value: one, At: t.At})
		} else {
			words = append(words, t.Value)
		}
	}
	if len(words) == 0 && len(terms) > 0 {
		return nil, terms
	}
	return ReadWords(wrong, strings.Join(words, " ")), terms
}

// ReadWords parses the words of a search, the field q. Words without a letter or a digit are dropped.
func ReadWords(wrong fault.Fields, q string) []string {
	words := strings.Fields(q)
	switch {
	case q == "":
	case utf8.RuneCountInString(q) > maxText:
		wrong.Add("q", "is longer than %d characters", maxText)
	case !utf8.ValidString(q) || strings.ContainsFunc(q, unicode.IsControl):
		wrong.Add("q", "must be text without control characters")
	case len(words) > maxWords:
		wrong.Add("q", "has more than %d words", maxWords)
	case !slices.ContainsFunc(words, hasLetterOrDigit):
		wrong.Add("q", "must contain a letter or a digit")
	}
	return slices.DeleteFunc(words, func(w string) bool { return !hasLetterOrDigit(w) })
}

func hasLetterOrDigit(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
