package devinbox

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/capturedsms"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// TextMessage is a text message as a provider would receive it.
type TextMessage struct {
	MessageID string // sms_…
	To        string
	From      string
	Text      string
	Encoding  string // gsm7, ucs2
	Segments  int
}

const (
	catchTextSQL = `
INSERT INTO captured_sms (message_id, "to", "from", text, encoding, segments, received_at) VALUES ($1, $2, $3, $4, $5, $6, now()) ON CONFLICT (message_id) DO NOTHING`
	trimTextsSQL = `DELETE FROM captured_sms WHERE id <= (SELECT id FROM captured_sms ORDER BY id DESC OFFSET $1 LIMIT 1)`
)

// CatchText stores a text message. It is idempotent. Only the newest messages are kept (Keep).
func (s *Service) CatchText(ctx context.Context, t TextMessage) error {
	if _, err := s.db.SQL.ExecContext(ctx, catchTextSQL, t.MessageID, t.To, t.From, t.Text, t.Encoding,
		t.Segments); err != nil {
		return fmt.Errorf("catch a text message: %w", err)
	}
	if s.trimmed.isDue("sms", len(t.Text)) {
		if _, err := s.db.SQL.ExecContext(ctx, trimTextsSQL, Keep); err != nil {
			return fmt.Errorf("delete older text messages: %w", err)
		}
	}
	return nil
}

// Texts returns text messages, newest first. Query.To is part of the number.
func (s *Service) Texts(ctx context.Context, q MailQuery) ([]*ent.CapturedSMS, error) {
	if q.Limit == 0 {
		q.Limit = defaultLimit
	}
	if q.Limit < 1 || q.Limit > maxLimit {
		return nil, fault.InvalidField("limit", "must be between 1 and %d", maxLimit)
	}
	query := s.db.Ent.CapturedSMS.Query().Order(capturedsms.ByID(sql.OrderDesc())).Limit(q.Limit)
	if q.Before > 0 {
		query.Where(capturedsms.IDLT(q.Before))
	}
	if q.To != "" {
		query.Where(capturedsms.ToContains(q.To))
	}
	found, err := query.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list captured text messages: %w", err)
	}
	return found, nil
}

// clearTexts deletes all text messages.
func (s *Service) clearTexts(ctx context.Context) error {
	_, err := db.Exec(ctx, s.db.SQL, `DELETE FROM captured_sms`)
	return err
}
