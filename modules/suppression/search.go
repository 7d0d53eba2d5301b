package suppression

import (
	"context"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/storage/search"
)

// textFields are the fields that a search text for suppressions may contain.
var textFields = []string{"email", "reason", "after", "before"}

// readText applies the fields of the search text to f, and returns its words. A complete address is found by its hash,
// so that it is found after it was erased.
func (f *Filter) readText() ([]string, error) {
	wrong := fault.Fields{}
	found, terms := search.ReadText(wrong, f.Q, textFields...)
	var words []string
	for _, w := range found {
		if _, err := parseAddress(w); err == nil && !search.IsPart(w) && f.Email == "" {
			f.Email = w
		} else {
			words = append(words, w)
		}
	}
	for _, t := range terms {
		switch {
		case t.Field == "after":
			f.Since = t.Date(wrong, "q")
		case t.Field == "before":
			f.Until = t.Date(wrong, "q")
		case t.Field == "email":
			t.SetOnce(wrong, "q", &f.Email)
		case t.Field == "reason":
			t.SetOnce(wrong, "q", &f.Reason)
		case id.Is(id.Suppression, t.Value):
			t.SetOnce(wrong, "q", &f.ID)
		default:
			words = append(words, t.Value)
		}
	}
	return words, wrong.Err()
}

// lastCharacter sorts after every other character.
const lastCharacter = "\U0010FFFF"

// suppressions finds addresses by a part of them among the newest ones, and by their beginning among all.
var suppressions = search.Table{Name: "suppressions", Prefix: id.Suppression, Time: "created_at",
	Columns: "email, reason, address_hash", Texts: `email`,
	Lookups: func(q *db.Query, word string) []search.Lookup {
		word = strings.ToLower(word)
		return []search.Lookup{{SQL: `email ~>=~ ` + q.Arg(word) + ` AND email ~<~ ` + q.Arg(word+lastCharacter)}}
	}}

func (s *Service) find(ctx context.Context, accountID string, f Filter, words []string, at page.Position,
	n int) ([]string, error) {
	terms := search.Terms{ID: f.ID, Words: words}
	terms.ReadTime(fault.Fields{}, f.Since, f.Until)
	conditions := func(q *db.Query) (all []string) {
		if f.Reason != "" {
			all = append(all, `reason = `+q.Arg(f.Reason))
		}
		return all
	}
	return suppressions.Find(ctx, s.db.Ent, search.PageRequest{AccountID: accountID, StartAfter: at.ID, Back: at.Back,
		Limit: n, Terms: terms, Conditions: conditions})
}
