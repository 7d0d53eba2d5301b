package db

import (
	"context"
	"database/sql"
	"time"
)

// Row is the current row of a reader.
type Row interface {
	Scan(dest ...any) error
}

// Each runs a statement and calls visit for every row of its result. It stops at the first error: of the
// statement, of visit or of the connection. Data that visit scans into a sql.RawBytes is valid until visit
// returns.
func Each(ctx context.Context, on Execer, visit func(Row) error, statement string, args ...any) (err error) {
	rows, err := on.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		if err := visit(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// All runs a statement and returns its rows. columns returns pointers to the fields of a T that receive the
// columns of a row, in their order; use Value for a single column.
func All[T any](ctx context.Context, on Execer, columns func(*T) []any, statement string, args ...any) ([]T, error) {
	var out []T
	err := Each(ctx, on, func(row Row) error {
		var one T
		if err := row.Scan(columns(&one)...); err != nil {
			return err
		}
		out = append(out, one)
		return nil
	}, statement, args...)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// One runs a statement and returns the first row of its result, or sql.ErrNoRows.
func One[T any](ctx context.Context, on Execer, columns func(*T) []any, statement string, args ...any) (T, error) {
	var first T
	found := false
	err := Each(ctx, on, func(row Row) error {
		if found {
			return nil
		}
		found = true
		return row.Scan(columns(&first)...)
	}, statement, args...)
	if err == nil && !found {
		err = sql.ErrNoRows
	}
	if err != nil {
		var none T
		return none, err
	}
	return first, nil
}

// Exec runs a statement and returns the number of rows that it changed.
func Exec(ctx context.Context, on Execer, statement string, args ...any) (int, error) {
	result, err := on.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	changed, err := result.RowsAffected()
	return int(changed), err
}

// ExecAll runs a statement that changes a limited number of rows until it changes none, and
// returns how many rows it changed.
func ExecAll(ctx context.Context, on Execer, statement string, args ...any) (changed int64, err error) {
	for {
		n, err := Exec(ctx, on, statement, args...)
		changed += int64(n)
		if err != nil || n == 0 {
			return changed, err
		}
	}
}

// Now returns the time of the database clock; within a transaction, the time of its start.
func Now(ctx context.Context, on Execer) (time.Time, error) {
	return One(ctx, on, Value[time.Time], `SELECT now()`)
}

// Value maps the single column of a row, for All and One.
func Value[T any](v *T) []any { return []any{v} }
