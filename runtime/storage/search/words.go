package search

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/postrider/postrider/runtime/storage/db"
)

// PartsWindow is the number of newest rows in which a word also matches inside other words, because an index
// cannot find the middle of a word. In older rows, a word matches the beginning of a word, or complete parts of
// an address, such as its domain.
const PartsWindow = 10_000

// commonRows is the number of rows of a window from which a word counts as common. The index has many
// entries for it, so another word of the search narrows the result instead.
const commonRows = Window / 40

// Contains is a condition on a text of a row.
type Contains struct {
	SQL  string // the text, computed from columns of the table
	Text string // what it must contain, ignoring case
}

// hasParts reports whether a term may match inside a word.
func (t *Terms) hasParts() bool { return len(t.Words)+len(t.Subject)+len(t.Contains) > 0 }

// textConditions returns the conditions of words on a row.
func (t Table) textConditions(q *db.Query, p PageRequest) (all []string) {
	for _, w := range p.Terms.Words {
		all = append(all, t.wordCondition(q, p, w, `search`, t.texts()))
	}
	for _, w := range p.Terms.Subject { // a document does not record which text its words come from
		all = append(all, t.wordCondition(q, p, w, `to_tsvector('simple', subject)`, `subject`))
	}
	for _, c := range p.Terms.Contains {
		all = append(all, containsCondition(q, c.SQL, c.Text))
	}
	return all
}

func (t Table) wordCondition(q *db.Query, p PageRequest, word, document, texts string) string {
	if t.Lookups != nil {
		return containsCondition(q, texts, word)
	}
	condition := document + ` @@ ` + newIndexWord(word).tsQuery(q, " <-> ")
	if p.insideWords {
		condition = `(` + containsCondition(q, texts, word) + ` OR ` + condition + `)`
	}
	return condition
}

func (t Table) texts() string {
	if t.Texts == "" {
		return `subject`
	}
	return t.Texts
}

// containsCondition compares in lower case, which takes half as long as ILIKE.
func containsCondition(q *db.Query, texts, part string) string {
	return `strpos(lower(` + texts + `), ` + q.Arg(strings.ToLower(trimBrackets(part))) + `) > 0`
}

// trimBrackets removes what surrounds an address, an id or a number in the text that it was copied from.
func trimBrackets(word string) string {
	if trimmed := strings.TrimLeft(strings.Trim(word, `<>()[]{},;"'`), "#"); trimmed != "" {
		return trimmed
	}
	return word
}

// indexWord is a word of a search in the forms in which a document may contain it.
type indexWord struct {
	prefixes []string // quoted lexemes that begin with the word
	parts    []string // quoted lexemes of its parts, next to each other
}

// newIndexWord splits a word like PostgreSQL's parser. The parser keeps addresses, host names and compound words as one
// lexeme in other texts, and documents have the parts of addresses (Parts). It reads the end of INV-2202 as a negative
// number.
func newIndexWord(word string) (w indexWord) {
	word = strings.ToLower(trimBrackets(word))
	if _, path, found := strings.Cut(word, "://"); found {
		word = path
	}
	parts := strings.FieldsFunc(word, func(r rune) bool { return !isWordRune(r) })
	isDigits := func(part string) bool {
		return !strings.ContainsFunc(part, func(r rune) bool { return r < '0' || r > '9' })
	}
	if len(parts) == 1 {
		w.prefixes = []string{Lexeme(parts[0]) + ":*"}
		if isDigits(parts[0]) {
			w.prefixes = append(w.prefixes, Lexeme("-"+parts[0])+":*")
		}
		return w
	}
	// Other characters are in no lexeme of a word, but in marks.
	if !strings.ContainsFunc(word, func(r rune) bool { return !isWordRune(r) && !strings.ContainsRune("@._+-/", r) }) {
		w.prefixes = []string{Lexeme(word) + ":*"}
	}
	for i, p := range parts {
		lexeme := Lexeme(p)
		switch last := i == len(parts)-1; {
		case last && isDigits(p):
			lexeme = `(` + lexeme + `:* | ` + Lexeme("-"+p) + `:*)`
		case last:
			lexeme += ":*"
		}
		w.parts = append(w.parts, lexeme)
	}
	return w
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// tsQuery returns a tsquery for documents with the word. join is the operator between its parts.
func (w indexWord) tsQuery(q *db.Query, join string) string {
	all := slices.Clone(w.prefixes)
	if len(w.parts) > 0 {
		all = append(all, `(`+strings.Join(w.parts, join)+`)`)
	}
	return q.Arg(strings.Join(all, " | ")) + `::tsquery`
}

// indexWords returns the words for which the index is queried, with their rare parts: those that are not common in the
// next rows, or all if there is no other one, which rare reports.
func (t Table) indexWords(ctx context.Context, on db.Execer, p PageRequest, r idRange) (found []indexWord, rare bool, err error) {
	words := slices.Concat(p.Terms.Words, p.Terms.Subject)
	for _, c := range p.Terms.Contains {
		words = append(words, c.Text)
	}
	if len(words) == 0 {
		return nil, true, nil
	}
	var q db.Query
	nearest := `SELECT search FROM ` + t.Name + ` WHERE account_id = ` + q.Arg(p.AccountID) + ` AND id >= ` + q.Arg(r.from) +
		` AND id < ` + q.Arg(r.below) + r.orderBy() + `LIMIT ` + q.Arg(Window)
	var all []indexWord
	var counts []string
	count := func(query string) { counts = append(counts, `count(*) FILTER (WHERE search @@ `+query+`)`) }
	for _, text := range words {
		w := newIndexWord(text)
		all = append(all, w)
		count(w.tsQuery(&q, " & "))
		for _, part := range w.parts {
			count(q.Arg(part) + `::tsquery`)
		}
	}
	q.Text = `SELECT unnest(ARRAY[` + strings.Join(counts, ", ") + `]) FROM (` + nearest + `) e`
	rows, err := db.All(ctx, on, db.Value[int], q.Text, q.Args...)
	if err != nil {
		return nil, false, err
	}
	for i, w := range all {
		common := rows[0] > commonRows
		parts, of := rows[1:1+len(w.parts)], w.parts
		rows = rows[1+len(w.parts):]
		w.parts = nil
		for n, part := range of {
			if parts[n] <= commonRows {
				w.parts = append(w.parts, part)
			}
		}
		if len(w.parts) == 0 && !common {
			w.parts = of // their combination is rare
		}
		if all[i] = w; !common {
			found = append(found, w)
		}
	}
	if len(found) > 0 {
		return found, true, nil
	}
	return slices.DeleteFunc(all, func(w indexWord) bool { return len(w.prefixes)+len(w.parts) == 0 }), false, nil
}
