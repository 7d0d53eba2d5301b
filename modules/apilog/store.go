package apilog

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

var lines = batch.New("line",
	batch.Text("request_id", func(r LoggedRequest) string { return r.ID }),
	batch.Text("account_id", func(r LoggedRequest) string { return r.AccountID }),
	batch.Text("method", func(r LoggedRequest) string { return r.Method }),
	batch.Text("path", func(r LoggedRequest) string { return r.Path }),
	batch.Text("operation", func(r LoggedRequest) string { return r.Operation }),
	batch.Int("status", func(r LoggedRequest) int { return r.Status }).As("smallint"),
	batch.Int("duration_ms", func(r LoggedRequest) int { return r.DurationMS }).As("int"),
	batch.Text("api_key_id", func(r LoggedRequest) string { return r.APIKeyID }),
	batch.Text("user_id", func(r LoggedRequest) string { return r.UserID }),
	batch.Text("ip", func(r LoggedRequest) string { return r.IP }),
	batch.Text("request_body", func(r LoggedRequest) string { return r.RequestBody }),
	batch.Int("request_octets", func(r LoggedRequest) int64 { return r.RequestOctets }),
	batch.Text("response_body", func(r LoggedRequest) string { return r.ResponseBody }),
	batch.Int("response_octets", func(r LoggedRequest) int64 { return r.ResponseOctets }),
	batch.Text("email_id", func(r LoggedRequest) string { return r.EmailID }),
	batch.Time("created_at", func(r LoggedRequest) time.Time { return r.CreatedAt }),
)

var insertSQL = db.Compile(lines.Insert("api_requests"))

// insertRows is the maximum number of rows per statement.
const insertRows = 256

// Flush stores the buffered requests. Requests that cannot be stored are lost.
func (s *Service) Flush(ctx context.Context) error {
	s.storing.Lock()
	defer s.storing.Unlock()
	seen := s.sampler.drain()
	for len(seen) > 0 {
		n := min(len(seen), insertRows)
		rows := make([]LoggedRequest, n)
		for i, r := range seen[:n] {
			rows[i] = r.line()
		}
		if _, err := s.db.SQL.ExecContext(ctx, insertSQL.Text, insertSQL.Args(lines.Rows(rows))...); err != nil {
			s.count.lost.Add(float64(len(seen)))
			return fmt.Errorf("store API requests: %w", err)
		}
		s.count.stored.Add(float64(n))
		seen = seen[n:]
	}
	return nil
}
