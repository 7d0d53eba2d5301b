package batch

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/storage/db"
)

// Column is one column of the rows R: how its values are passed and converted.
type Column[R any] struct {
	name   string
	array  string                       // type of its parameter; empty if it has none
	empty  string                       // SQL of the value that OrNull replaces
	null   bool                         // OrNull
	cast   string                       // As
	value  string                       // the whole expression, instead of the above
	hidden bool                         // SourceOnly
	values func(rows []R) driver.Valuer // for its parameter
}

// Text is a text column.
func Text[R any, S ~string](name string, value func(R) S) Column[R] {
	return Column[R]{name: name, array: "text[]", empty: "''", values: func(rows []R) driver.Valuer {
		return arrayOf(rows, func(r R) string { return string(value(r)) })
	}}
}

// Bytes is a bytea column; nil is the same as empty.
func Bytes[R any](name string, value func(R) []byte) Column[R] {
	return Column[R]{name: name, array: "bytea[]", empty: "''::bytea",
		values: func(rows []R) driver.Valuer { return arrayOf(rows, value) }}
}

// Int is a column of whole numbers.
func Int[R any, N ~int | ~int32 | ~int64](name string, value func(R) N) Column[R] {
	return Column[R]{name: name, array: "bigint[]", empty: "0", values: func(rows []R) driver.Valuer {
		return arrayOf(rows, func(r R) int64 { return int64(value(r)) })
	}}
}

// Float is a column of floating-point numbers.
func Float[R any](name string, value func(R) float64) Column[R] {
	return Column[R]{name: name, array: "float8[]", empty: "0",
		values: func(rows []R) driver.Valuer { return arrayOf(rows, value) }}
}

// Bool is a boolean column.
func Bool[R any](name string, value func(R) bool) Column[R] {
	return Column[R]{name: name, array: "boolean[]", empty: "false",
		values: func(rows []R) driver.Valuer { return arrayOf(rows, value) }}
}

// Time is a column of timestamps. The zero time is NULL.
func Time[R any](name string, value func(R) time.Time) Column[R] {
	return Text(name, func(r R) string {
		at := value(r)
		if at.IsZero() {
			return ""
		}
		return at.UTC().Format(time.RFC3339Nano)
	}).OrNull().As("timestamptz")
}

// JSON is a column of values encoded with json.Marshal.
func JSON[R any, V any](name string, value func(R) V) Column[R] {
	return Column[R]{name: name, array: "text[]", empty: "''", cast: "jsonb", values: func(rows []R) driver.Valuer {
		texts := make([]string, len(rows))
		for i, r := range rows {
			text, err := json.Marshal(value(r))
			if err != nil {
				return db.FailingArgument(fmt.Errorf("column %s: %w", name, err))
			}
			texts[i] = string(text)
		}
		return db.Array(texts)
	}}
}

// ComputedColumn is a column that the statement computes: value is its SQL, which may use columns of the same
// batch.
func ComputedColumn[R any](name, value string) Column[R] { return Column[R]{name: name, value: value} }

// OrNull stores NULL instead of the empty text, empty bytes, 0 and false.
func (c Column[R]) OrNull() Column[R] {
	c.null = true
	return c
}

// As casts the value to another SQL type.
func (c Column[R]) As(sqlType string) Column[R] {
	c.cast = sqlType
	return c
}

// SourceOnly excludes the column from the insert; other expressions can still use it.
func (c Column[R]) SourceOnly() Column[R] {
	c.hidden = true
	return c
}

// columnExpression returns the SQL value of the column in its batch.
func (c Column[R]) columnExpression(batch string) string {
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

func arrayOf[R any, E db.Element](rows []R, value func(R) E) driver.Valuer {
	values := make([]E, len(rows))
	for i, r := range rows {
		values[i] = value(r)
	}
	return db.Array(values)
}
