package search

import "strconv"

// Statement is SQL with its arguments.
type Statement struct {
	Text string
	Args []any
}

// Arg adds an argument and gives its placeholder.
func (q *Statement) Arg(v any) string {
	q.Args = append(q.Args, v)
	return "$" + strconv.Itoa(len(q.Args))
}
