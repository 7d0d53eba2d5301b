package db_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// A statement with megabytes of arguments may exceed the limits of others, and only that statement.
func TestLargeStatementsGetMoreTime(t *testing.T) {
	t.Parallel()
	d := openURL(t, db.Config{URL: dbtest.URL(t), StatementTimeout: 500 * time.Millisecond})
	const slow = `SELECT octet_length($1::text) FROM pg_sleep(1)`
	run := func(bytes int) error {
		text := strings.Repeat("x", bytes)
		return d.RunSized(t.Context(), []any{text}, func(on db.Execer) error {
			got, err := db.One(t.Context(), on, db.Value[int], slow, text)
			if err == nil && got != bytes {
				t.Errorf("got %d bytes, want %d", got, bytes)
			}
			return err
		})
	}
	for range 2 {
		if err := run(9 << 20); err != nil {
			t.Fatalf("9 MB: %v", err)
		}
		if err := run(1); !fault.IsDatabaseUnavailable(err) {
			t.Fatalf("one byte: got %v, want the statement timeout", err)
		}
	}
}
