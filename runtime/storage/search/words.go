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
		all = append(all, likeCondition(q, c.SQL, c.Text))
	}
	return all
}

func (t Table) wordCondition(q *db.Query, p PageRequest, word, document, texts string) string {
	if t.Lookups != nil {
		return likeCondition(q, texts, word)
	}
	condition := document + ` @@ ` + prefixQuery(q, word)
	switch parts := partsQuery(word); {
	case p.insideWords:
		condition = `(` + condition + ` OR ` + likeCondition(q, texts, word) + `)`
	case parts != "":
		condition = `(` + condition + ` OR ` + document + ` @@ ` + q.Arg(parts) + `::tsquery AND ` + likeCondition(q, texts, word) + `)`
	}
	return condition
}

func (t Table) texts() string {
	if t.Texts == "" {
		return `subject`
	}
	return t.Texts
}

var likeQuote = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

func likeCondition(q *db.Query, column, part string) string {
	return column + ` ILIKE ` + q.Arg(`%`+likeQuote.Replace(trimBrackets(part))+`%`)
}

// trimBrackets removes what surrounds an address, an id or a number in the text that it was copied from.
func trimBrackets(word string) string {
	if trimmed := strings.TrimLeft(strings.Trim(word, `<>()[]{},;"'`), "#"); trimmed != "" {
		return trimmed
	}
	return word
}

// prefixQuery returns a tsquery for documents that have a word with this prefix.
func prefixQuery(q *db.Query, word string) string {
	query := `to_tsquery('simple', ` + q.Arg(Lexeme(word)+":*") + `)`
	// The parser reads the end of INV-2202 as a negative number.
	if digits := trimBrackets(word); digits != "" && digits[0] >= '0' && digits[0] <= '9' {
		query = `(` + query + ` || ` + q.Arg(Lexeme("-"+strings.ToLower(digits))+":*") + `::tsquery)`
	}
	return query
}

// partsQuery returns a tsquery for documents that have all parts of an address as words, or "" for a word
// that has only one part.
func partsQuery(word string) string {
	parts := strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(parts) < 2 {
		return ""
	}
	for i, p := range parts {
		parts[i] = Lexeme(p)
	}
	return strings.Join(parts, " & ")
}

// indexWord is a word as the index is queried for it.
type indexWord struct {
	word  string
	parts string // partsQuery, unless its words are common
}

func (w indexWord) tsQuery(q *db.Query) string {
	if w.parts == "" {
		return prefixQuery(q, w.word)
	}
	return `(` + prefixQuery(q, w.word) + ` || ` + q.Arg(w.parts) + `::tsquery)`
}

// indexWords returns the words for which the index is queried: those that are not common in the next rows,
// or all if there is no other one.
func (t Table) indexWords(ctx context.Context, on db.Execer, p PageRequest, r idRange) ([]indexWord, error) {
	all := t.allWords(p.Terms)
	if len(all) == 0 {
		return nil, nil
	}
	var q db.Query
	nearest := `SELECT search FROM ` + t.Name + ` WHERE account_id = ` + q.Arg(p.AccountID) + ` AND id >= ` + q.Arg(r.from) +
		` AND id < ` + q.Arg(r.below) + r.orderBy() + `LIMIT ` + q.Arg(Window)
	count := func(query string) string { return `(count(*) FILTER (WHERE search @@ ` + query + `))::text` }
	var counts []string
	for _, w := range all {
		counts = append(counts, count(prefixQuery(&q, w.word)))
		if w.parts == "" {
			counts = append(counts, `'0'`)
		} else {
			counts = append(counts, count(q.Arg(w.parts)+`::tsquery`))
		}
	}
	q.Text = `SELECT unnest(ARRAY[` + strings.Join(counts, ", ") + `]::int[]) FROM (` + nearest + `) e`
	rows, err := db.All(ctx, on, db.Value[int], q.Text, q.Args...)
	if err != nil {
		return nil, err
	}
	var rare []indexWord
	for i, w := range all {
		if rows[2*i+1] > commonRows {
			w.parts, all[i].parts = "", ""
		}
		if rows[2*i] <= commonRows {
			rare = append(rare, w)
		}
	}
	if len(rare) > 0 {
		return rare, nil
	}
	return all, nil
}

func (t Table) allWords(terms Terms) (all []indexWord) {
	words := slices.Concat(terms.Words, terms.Subject)
	for _, c := range terms.Contains {
		words = append(words, c.Text)
	}
	for _, w := range words {
		all = append(all, indexWord{w, partsQuery(w)})
	}
	return all
}
