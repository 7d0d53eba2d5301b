package postgres

import (
	"context"
	"database/sql"
	"errors"

	_ "github.com/lib/pq" // the driver
)

// Exec runs one statement on a connection of its own.
func Exec(ctx context.Context, url, statement string) error {
	conn, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, statement)
	return errors.Join(err, conn.Close())
}
