package db_test

import (
	"context"
	"database/sql"
	"slices"
	"testing"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// BenchmarkDurableInsert compares one commit per row with joined commits, on a server that flushes to disk.
func BenchmarkDurableInsert(b *testing.B) {
	d := dbtest.NewServer(b).Open()
	if _, err := d.SQL.ExecContext(b.Context(),
		`CREATE TABLE rows (id bigint GENERATED ALWAYS AS IDENTITY, body text NOT NULL)`); err != nil {
		b.Fatal(err)
	}
	b.Run("single", func(b *testing.B) {
		b.SetParallelism(32)
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				if _, err := d.Hot.ExecContext(context.Background(), `INSERT INTO rows (body) VALUES ($1)`, "body"); err != nil {
					b.Error(err)
				}
			}
		})
	})
	b.Run("joined", func(b *testing.B) {
		j := db.NewJoiner(db.JoinerConfig[string]{}, func(ctx context.Context, bodies []string) []error {
			err := d.InHotTx(ctx, func(tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, `INSERT INTO rows (body) SELECT unnest($1::text[])`, pq.Array(bodies))
				return err
			})
			return slices.Repeat([]error{err}, len(bodies))
		})
		b.SetParallelism(32)
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				if err := j.Do(context.Background(), "body"); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
