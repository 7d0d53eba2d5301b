package page

// Page is one page of a list. Both edges encode it, so every service returns its lists
// as one.
type Page[T any] struct {
	Items      []T
	HasMore    bool
	NextCursor string // continues the list; empty on the last page
}

// Of makes a page of the rows that a query for limit+1 rows found. The row beyond the
// limit only says that there is more. mark gives the id of a row, which the cursor of
// the next page continues after.
func Of[T any](c *Codec, l List, rows []T, limit int, mark func(T) string) Page[T] {
	if len(rows) <= limit {
		return Page[T]{Items: rows}
	}
	return Page[T]{Items: rows[:limit], HasMore: true, NextCursor: c.Encode(l, mark(rows[limit-1]))}
}

// Map makes the same page of other items.
func Map[A, B any](p Page[A], to func(A) B) Page[B] {
	out := Page[B]{Items: make([]B, len(p.Items)), HasMore: p.HasMore, NextCursor: p.NextCursor}
	for i, item := range p.Items {
		out.Items[i] = to(item)
	}
	return out
}
