package batch

import (
	"strings"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/storage/db"
)

// Batch is a set of rows R as a part of a statement. Its name is the alias of the row in the SQL and the
// group of its parameters, so it must be a plain word, and two batches of one statement need different
// names.
type Batch[R any] struct {
	name       string
	columns    []Column[R]
	parameters []Column[R] // columns with values
	names      []string    // of the parameters
}

// New declares a batch.
func New[R any](name string, columns ...Column[R]) *Batch[R] {
	b := &Batch[R]{name: name, columns: columns}
	for _, c := range columns {
		if c.values != nil {
			b.parameters = append(b.parameters, c)
			b.names = append(b.names, name+"."+c.name)
		}
	}
	return b
}

// Rows returns the argument that passes the rows of the batch.
func (b *Batch[R]) Rows(rows []R) db.Argument {
	values := make([]any, len(b.parameters))
	for i := range b.parameters {
		values[i] = b.parameters[i].values(rows)
	}
	return db.Group(b.names, values)
}

// Source returns the rows as an item for FROM.
func (b *Batch[R]) Source() string { return b.sourceSQL("", "") }

// NumberedSource is Source with the number of each row, from 1, in an additional column.
func (b *Batch[R]) NumberedSource(number string) string {
	return b.sourceSQL(" WITH ORDINALITY", ", "+pq.QuoteIdentifier(number))
}

func (b *Batch[R]) sourceSQL(option, more string) string {
	parameters, names := make([]string, len(b.parameters)), make([]string, len(b.parameters))
	for i, c := range b.parameters {
		parameters[i] = "@" + b.names[i] + "::" + c.array
		names[i] = pq.QuoteIdentifier(c.name)
	}
	return "unnest(" + strings.Join(parameters, ", ") + ")" + option + " AS " + b.name + " (" +
		strings.Join(names, ", ") + more + ")"
}

// Columns returns the names of the stored columns, for INSERT.
func (b *Batch[R]) Columns() string {
	return b.storedColumns(func(c Column[R]) string { return pq.QuoteIdentifier(c.name) })
}

// Values returns the values of Columns, for a SELECT from Source.
func (b *Batch[R]) Values() string {
	return b.storedColumns(func(c Column[R]) string { return c.columnExpression(b.name) })
}

func (b *Batch[R]) storedColumns(text func(Column[R]) string) string {
	var all []string
	for _, c := range b.columns {
		if !c.hidden {
			all = append(all, text(c))
		}
	}
	return strings.Join(all, ", ")
}

// Insert returns a statement that stores the rows in a table. A WHERE, ON CONFLICT or RETURNING may follow.
func (b *Batch[R]) Insert(table string) string {
	return "INSERT INTO " + table + " (" + b.Columns() + ")\nSELECT " + b.Values() + "\nFROM " + b.Source()
}
