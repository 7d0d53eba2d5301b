package page

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"
)

// Page is one page of a list. Both APIs encode it, so every service returns its lists as a Page.
type Page[T any] struct {
	Items       []T
	HasMore     bool     // there are entries after the page
	HasPrevious bool     // there are entries before the page
	NextCursor  string   // continues the list; empty on the last page
	Cursors     []string // the cursor of each item
}

// FromRows returns a page of the rows that a query for place.Rows() rows found, outwards from where the page
// begins. A row beyond the limit only shows that there are more. mark returns the id of a row, after which
// its cursor continues.
func FromRows[T any](c *Codec, l List, rows []T, place Position, mark func(T) string) Page[T] {
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

// Read returns the requested page of a list. rows must return place.Rows() rows, starting next to the
// beginning of the page. An invalid request is an Invalid error for limit or cursor.
func Read[T any](c *Codec, l List, r Request, rows func(place Position) ([]T, error),
	mark func(T) string) (Page[T], error) {
	place, err := c.Open(l, r)
	if err != nil {
		return Page[T]{}, err
	}
	found, err := rows(place)
	if err != nil {
		return Page[T]{}, fmt.Errorf("list %s: %w", l.Name, err)
	}
	return FromRows(c, l, found, place, mark), nil
}

// query is an Ent query for rows T.
type query[T any, P, O ~func(*sql.Selector), Q any] interface {
	Where(conditions ...P) Q
	Order(by ...O) Q
	Limit(n int) Q
	All(ctx context.Context) ([]T, error)
}

// ReadNewest is Read for the rows of an Ent query, newest id first.
func ReadNewest[T any, P, O ~func(*sql.Selector), Q query[T, P, O, Q]](ctx context.Context, c *Codec, l List, r Request,
	q Q, mark func(T) string) (Page[T], error) {
	return Read(c, l, r, func(at Position) ([]T, error) {
		return q.Where(P(at.NewestFirst("id"))).Order(O(at.Order("id"))).Limit(at.Rows()).All(ctx)
	}, mark)
}

// WithItems returns the page with other items, one for each original item.
func WithItems[A, B any](p Page[A], items []B) Page[B] {
	return Page[B]{Items: items, HasMore: p.HasMore, HasPrevious: p.HasPrevious, NextCursor: p.NextCursor,
		Cursors: p.Cursors}
}

// Map converts the items of a page.
func Map[A, B any](p Page[A], to func(A) B) Page[B] {
	items := make([]B, len(p.Items))
	for i, item := range p.Items {
		items[i] = to(item)
	}
	return WithItems(p, items)
}
