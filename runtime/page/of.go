package page

import "slices"

// Page is one page of a list. Both edges encode it, so every service returns its lists
// as one.
type Page[T any] struct {
	Items       []T
	HasMore     bool     // the list goes on after the page
	HasPrevious bool     // it has entries before it
	NextCursor  string   // continues the list; empty on the last page
	Cursors     []string // of each item
}

// Of makes a page of the rows that a query for place.Rows() rows found, outwards from where the
// page begins. The row beyond the limit only says that there is more. mark gives the id of a row,
// which the cursor of a row continues after.
func Of[T any](c *Codec, l List, rows []T, place Place, mark func(T) string) Page[T] {
	beyond := len(rows) > place.Limit
	if beyond {
		rows = rows[:place.Limit]
	}
	p := Page[T]{Items: rows, HasMore: beyond, HasPrevious: place.ID != ""}
	if place.Back {
		slices.Reverse(rows)
		p.HasMore, p.HasPrevious = p.HasPrevious, p.HasMore
	}
	for _, row := range rows {
		p.Cursors = append(p.Cursors, c.Encode(l, mark(row)))
	}
	if p.HasMore && len(rows) > 0 {
		p.NextCursor = p.Cursors[len(rows)-1]
	}
	return p
}

// Map makes the same page of other items.
func Map[A, B any](p Page[A], to func(A) B) Page[B] {
	out := Page[B]{Items: make([]B, len(p.Items)), HasMore: p.HasMore, HasPrevious: p.HasPrevious, NextCursor: p.NextCursor, Cursors: p.Cursors}
	for i, item := range p.Items {
		out.Items[i] = to(item)
	}
	return out
}
