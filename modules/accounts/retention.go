package accounts

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/account"
)

// Retention is how long an account keeps its emails, in days.
type Retention struct {
	AccountID  string
	BodyDays   int
	RecordDays int
}

// Retentions lists up to limit accounts with ids greater than after, in id order.
func (s *Service) Retentions(ctx context.Context, after string, limit int) ([]Retention, error) {
	rows, err := s.db.Ent.Account.Query().Where(account.IDGT(after)).Order(ent.Asc(account.FieldID)).Limit(limit).
		Select(account.FieldID, account.FieldBodyRetentionDays, account.FieldRecordRetentionDays).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list retentions: %w", err)
	}
	out := make([]Retention, len(rows))
	for i, row := range rows {
		out[i] = Retention{AccountID: row.ID, BodyDays: row.BodyRetentionDays, RecordDays: row.RecordRetentionDays}
	}
	return out, nil
}
