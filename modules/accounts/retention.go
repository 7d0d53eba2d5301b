package accounts

import (
	"context"
	"fmt"
	"slices"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/account"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Retention is how long an account keeps its emails, in days.
type Retention struct {
	AccountID  string
	BodyDays   int
	RecordDays int
	TestDays   int // of the data of test mode
}

// Retentions lists up to limit accounts with ids greater than after, in id order. TestDays is 0 for an account that
// has never had a test key.
func (s *Service) Retentions(ctx context.Context, after string, limit int) ([]Retention, error) {
	rows, err := s.db.Ent.Account.Query().Where(account.IDGT(after)).Order(ent.Asc(account.FieldID)).Limit(limit).
		Select(account.FieldID, account.FieldBodyRetentionDays, account.FieldRecordRetentionDays).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list retentions: %w", err)
	}
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	testing, err := db.All(ctx, s.db.SQL, db.Value[string],
		`SELECT DISTINCT account_id FROM api_keys WHERE account_id = ANY($1::text[]) AND mode = 'test'`, db.Array(ids))
	if err != nil {
		return nil, fmt.Errorf("list retentions: %w", err)
	}
	out := make([]Retention, len(rows))
	for i, row := range rows {
		out[i] = Retention{AccountID: row.ID, BodyDays: row.BodyRetentionDays, RecordDays: row.RecordRetentionDays}
		if slices.Contains(testing, row.ID) {
			out[i].TestDays = testRetention
		}
	}
	return out, nil
}
