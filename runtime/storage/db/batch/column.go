package batch

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/storage/db"
)

// Column is one column of the rows R: how its values travel and what is made of them.
type Column[R any] struct {
	name   string
	array  string                       // the type of its parameter; "" if it has none
	empty  string                       // the SQL of the value that OrNull takes for none
	null   bool                         // OrNull
	cast   string                       // As
	value  string                       // the whole expression, in place of the above
	hidden bool                         // SourceOnly
	values func(rows []R) driver.Valuer // of its parameter
}

// Text is a column of texts.
func Text[R any, S ~string](name string, value func(R) S) Column[R] {
	return Column[R]{name: name, array: "text[]", empty: "''", values: func(rows []R) driver.Valuer {
		return list(rows, func(r R) string { return string(value(r)) })
	}}
}

// Bytes is a column of octets; nil is the same as none.
func Bytes[R any](name string, value func(R) []byte) Column[R] {
	return Column[R]{name: name, array: "bytea[]", empty: "''::bytea", values: func(rows []R) driver.Valuer { return list(rows, value) }}
}

// Int is a column of whole numbers.
func Int[R any, N ~int | ~int32 | ~int64](name string, value func(R) N) Column[R] {
	return Column[R]{name: name, array: "bigint[]", empty: "0", values: func(rows []R) driver.Valuer {
		return list(rows, func(r R) int64 { return int64(value(r)) })
	}}
}

// Float is a column of numbers.
func Float[R any](name string, value func(R) float64) Column[R] {
	return Column[R]{name: name, array: "float8[]", empty: "0", values: func(rows []R) driver.Valuer { return list(rows, value) }}
}

// Bool is a column of truth values.
func Bool[R any](name string, value func(R) bool) Column[R] {
	return Column[R]{name: name, array: "boolean[]", empty: "false", values: func(rows []R) driver.Valuer { return list(rows, value) }}
}

// Time is a column of times. The zero time is NULL.
func Time[R any](name string, value func(R) time.Time) Column[R] {
	return Text(name, func(r R) string {
		at := value(r)
		if at.IsZero() {
			return ""
		}
		return at.UTC().Format(time.RFC3339Nano)
	}).OrNull().As("timestamptz")
}

// JSON is a column of values that json.Marshal encodes.
func JSON[R any, V any](name string, value func(R) V) Column[R] {
	return Column[R]{name: name, array: "text[]", empty: "''", cast: "jsonb", values: func(rows []R) driver.Valuer {
		texts := make([]string, len(rows))
		for i, r := range rows {
			text, err := json.Marshal(value(r))
			if err != nil {
				return db.Failing(fmt.Errorf("column %s: %w", name, err))
			}
			texts[i] = string(text)
		}
		return db.Array(texts)
	}}
}

// Computed is a column whose value the statement makes: value is its SQL, which may name
// columns of the same batch.
func Computed[R any](name, value string) Column[R] { return Column[R]{name: name, value: value} }

// OrNull stores NULL in place of the empty text, of no octets, of 0 and of false.
func (c Column[R]) OrNull() Column[R] {
	c.null = true
	return c
}

// As casts the value to another type of SQL.
func (c Column[R]) As(sqlType string) Column[R] {
	c.cast = sqlType
	return c
}

// SourceOnly leaves the column out of what is inserted: it is there for others to name.
func (c Column[R]) SourceOnly() Column[R] {
	c.hidden = true
	return c
}

// expression is the value of the column within its batch.
func (c Column[R]) expression(batch string) string {
	if c.value != "" {
		return c.value
	}
	e := batch + "." + pq.QuoteIdentifier(c.name)
	if c.null {
		e = "NULLIF(" + e + ", " + c.empty + ")"
	}
	if c.cast != "" {
		e += "::" + c.cast
	}
	return e
}

func list[R any, E db.Element](rows []R, value func(R) E) driver.Valuer {
	values := make([]E, len(rows))
	for i, r := range rows {
		values[i] = value(r)
	}
	return db.Array(values)
}
