package page

import (
	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Place is where a page lies in its list.
type Place struct {
	Limit int
	ID    string // the entry beside the page; empty: none, the page is at an end of the list
	Back  bool   // the page ends before that entry instead of beginning after it
}

// Open checks a request and says where its page lies. The error names `limit` or `cursor`.
func (c *Codec) Open(l List, r Request) (Place, error) {
	if r.Limit < 1 || r.Limit > MaxLimit {
		return Place{}, fault.InvalidField("limit", "must be between 1 and %d", MaxLimit)
	}
	beside, err := c.Decode(l, r.Cursor)
	return Place{Limit: r.Limit, ID: beside, Back: r.Back}, err
}

// Rows is how many rows a query asks for: one more than the page has tells whether the list goes on.
func (p Place) Rows() int { return p.Limit + 1 }

// Newest is the condition of a query for a page of a list that runs from the highest value of
// the column to the lowest.
func (p Place) Newest(column string) func(*sql.Selector) {
	return func(s *sql.Selector) {
		switch {
		case p.ID == "":
		case p.Back:
			s.Where(sql.GT(s.C(column), p.ID))
		default:
			s.Where(sql.LT(s.C(column), p.ID))
		}
	}
}

// Order is the order of that query: outwards from the entry beside the page.
func (p Place) Order(column string) func(*sql.Selector) {
	return func(s *sql.Selector) {
		if p.Back {
			s.OrderBy(sql.Asc(s.C(column)))
		} else {
			s.OrderBy(sql.Desc(s.C(column)))
		}
	}
}
