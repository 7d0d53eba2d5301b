package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

var eventRows = batch.New("v",
	batch.Text("id", func(p *posting) string { return p.event.ID }),
	batch.Text("account_id", func(p *posting) string { return p.AccountID }),
	batch.Text("name", func(p *posting) string { return p.Name }),
	batch.Text("user_id", func(p *posting) string { return p.UserID }).OrNull(),
	batch.Text("email", func(p *posting) string { return p.Email }).OrNull(),
	batch.Text("email_key", func(p *posting) string { return p.emailKey }).OrNull(),
	batch.JSON("data", func(p *posting) json.RawMessage { return p.data }),
	batch.Text("source", func(p *posting) string { return p.Source }),
	batch.Int("depth", func(p *posting) int { return p.Depth }),
	batch.JSON("matches", func(p *posting) []shape.EventMatch { return p.storedMatches() }),
	batch.Bool("goal_pending", func(p *posting) bool { return p.isGoal }),
	batch.Bool("trial", func(p *posting) bool { return p.trial }),
	batch.Time("created_at", postedAt),
)

// storedMatches encodes matches for storage.
func (p *posting) storedMatches() []shape.EventMatch {
	if p.matches == nil {
		return []shape.EventMatch{}
	}
	return p.matches
}

func postedAt(p *posting) time.Time { return p.at }

var insertSQL = db.Compile(eventRows.Insert("custom_events"))

func insertEvents(ctx context.Context, tx db.Execer, list []*posting) error {
	if _, err := tx.ExecContext(ctx, insertSQL.Text, insertSQL.Args(eventRows.Rows(list))...); err != nil {
		return fmt.Errorf("insert events: %w", err)
	}
	return nil
}
