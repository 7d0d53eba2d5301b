package accounts

import (
	"context"
	"fmt"
	"slices"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/account"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Retention is how long an account keeps its emails, in days.
type Retention struct {
	AccountID  string
	BodyDays   int
	RecordDays int
	TestDays   int // of the data of test mode
}

// A person can use test mode without a key. Such data comes with facts. min makes the planner use the index: with
// EXISTS, it expects that any row it reads is one of the account, and reads the entire table if none is.
const usesTestModeSQL = `
SELECT a.account FROM unnest($1::text[]) AS a (account) WHERE EXISTS (SELECT FROM api_keys k WHERE k.account_id = a.account AND k.mode = 'test')
	OR (SELECT min(f.account_id) FROM facts f WHERE f.account_id BETWEEN ` + testTenantSQL + ` AND ` + testTenantSQL + `) IS NOT NULL`

// testTenantSQL is the tenant of the account's test mode.
const testTenantSQL = `'` + string(id.TestTenant) + `' || substr(a.account, length('` + string(id.Account) + `') + 1)`

// Retentions lists up to limit accounts with ids greater than after, in id order. TestDays is 0 for an account that
// does not use test mode.
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
	testing, err := db.All(ctx, s.db.SQL, db.Value[string], usesTestModeSQL, db.Array(ids))
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
