package page

import (
	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Position is the position of a page in its list.
type Position struct {
	Limit int
	ID    string // the entry next to the page; empty if the page is at an end of the list
	Back  bool   // the page ends before that entry instead of beginning after it
}

// Open validates a request and returns the position of its page. The error is for limit or cursor.
func (c *Codec) Open(l List, r Request) (Position, error) {
	if r.Limit < 1 || r.Limit > MaxLimit {
		return Position{}, fault.InvalidField("limit", "must be between 1 and %d", MaxLimit)
	}
	beside, err := c.Decode(l, r.Cursor)
	return Position{Limit: r.Limit, ID: beside, Back: r.Back}, err
}

// Rows returns the number of rows to query: one more than the page contains, to determine whether the list
// continues.
func (p Position) Rows() int { return p.Limit + 1 }

// NewestFirst returns the query condition for a page of a list that is sorted by the column, highest value
// first.
func (p Position) NewestFirst(column string) func(*sql.Selector) {
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

// Order returns the order for that query, starting with the entry next to the page.
func (p Position) Order(column string) func(*sql.Selector) {
	return func(s *sql.Selector) {
		if p.Back {
			s.OrderBy(sql.Asc(s.C(column)))
		} else {
			s.OrderBy(sql.Desc(s.C(column)))
		}
	}
}
