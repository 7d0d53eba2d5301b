package search

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/base/fault"
)

// MarkAccount is the prefix of the mark for the account id, which every document has.
const MarkAccount = "a="

// separator cannot occur in marks, which contain no control characters.
const separator = "\x1f"

// DocumentSQL computes a document from the columns words and marks of a row v.
const DocumentSQL = `to_tsvector('simple', v.words) || array_to_tsvector(string_to_array(v.marks, E'\x1f'))`

// JoinMarks returns the value of the column marks for DocumentSQL.
func JoinMarks(marks []string) string { return strings.Join(marks, separator) }

var inside = strings.NewReplacer("@", " ", ".", " ", "_", " ", "-", " ", "+", " ")

// Parts splits an address into its parts, so that they are indexed as words along with the whole.
func Parts(text string) string { return inside.Replace(text) }

var lexemeQuote = strings.NewReplacer(`'`, `''`, `\`, `\\`)

// Lexeme quotes a mark or a word for a tsquery.
func Lexeme(text string) string { return "'" + lexemeQuote.Replace(text) + "'" }

// AllMarks returns a tsquery for the documents of an account that have all the marks.
func AllMarks(accountID string, marks []string) string {
	all := []string{Lexeme(MarkAccount + accountID)}
	for _, m := range marks {
		all = append(all, Lexeme(m))
	}
	return strings.Join(all, " & ")
}

// The limits of a search.
const (
	maxText  = 200 // characters
	maxWords = 10
)

// ReadText parses a search text, the field q. It sets Words and Subject, stores the times of the fields after and before
// in since and until, and passes the other fields to read.
func (t *Terms) ReadText(wrong fault.Fields, q string, fields []string, since, until **time.Time, read func(Term)) {
	if utf8.RuneCountInString(q) > maxText || !utf8.ValidString(q) || strings.ContainsFunc(q, unicode.IsControl) {
		t.Words = readWords(wrong, q)
		return
	}
	all, err := Fields(q, fields...)
	if err != nil {
		wrong.Add("q", "%s", err)
		return
	}
	var words []string
	for _, term := range all {
		switch term.Field {
		case "":
			words = append(words, term.Value)
		case "after":
			*since = term.Date(wrong, "q")
		case "before":
			*until = term.Date(wrong, "q")
		case "subject":
			t.Subject = append(t.Subject, readWords(wrong, term.Value)...)
		default:
			read(term)
		}
	}
	t.Words = readWords(wrong, strings.Join(words, " "))
}

// readWords parses the words of a search, the field q. Words without a letter or a digit are dropped.
func readWords(wrong fault.Fields, q string) []string {
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
