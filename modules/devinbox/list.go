package devinbox

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/capturedmail"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// MailQuery narrows a list of emails.
type MailQuery struct {
	Tenant string // test tenant; empty means all mail of the installation
	To     string // part of an envelope recipient, ignoring case; empty means all
	Before int64  // id to continue below; 0 to start at the newest
	Limit  int    // 1-200; 0: 50
}

const (
	defaultLimit = 50
	maxLimit     = 200
)

// Line is an email in a list.
type Line struct {
	*ent.CapturedMail // without its content

	Snippet string // beginning of its text, on one line
}

// listColumns are all columns except the message.
var listColumns = []string{capturedmail.FieldID, capturedmail.FieldReceivedAt, capturedmail.FieldMailFrom,
	capturedmail.FieldRcptTo,
	capturedmail.FieldFrom, capturedmail.FieldSubject, capturedmail.FieldMessageID, capturedmail.FieldSize,
	capturedmail.FieldAccountID}

// List returns emails without their content, newest first.
func (s *Service) List(ctx context.Context, q MailQuery) ([]Line, error) {
	if q.Limit == 0 {
		q.Limit = defaultLimit
	}
	if q.Limit < 1 || q.Limit > maxLimit {
		return nil, fault.InvalidField("limit", "must be between 1 and %d", maxLimit)
	}
	query := s.db.Ent.CapturedMail.Query().Order(capturedmail.ByID(sql.OrderDesc())).Limit(q.Limit)
	if q.Tenant != "" {
		query.Where(capturedmail.AccountID(q.Tenant))
	}
	if q.Before > 0 {
		query.Where(capturedmail.IDLT(q.Before))
	}
	if q.To != "" {
		query.Where(hasRecipientPart(q.To))
	}
	found, err := query.Select(listColumns...).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list captured mail: %w", err)
	}
	lines, err := s.lines(ctx, found)
	if err != nil {
		return nil, fmt.Errorf("list captured mail: %w", err)
	}
	return lines, nil
}

const beginningsSQL = `SELECT id, substring(raw FROM 1 FOR $2::int) FROM captured_mails WHERE id = ANY($1::bigint[])`

// lines reads the beginning of each email for its snippet.
func (s *Service) lines(ctx context.Context, mails []*ent.CapturedMail) ([]Line, error) {
	ids := make([]int64, 0, len(mails))
	for _, m := range mails {
		ids = append(ids, m.ID)
	}
	type beginning struct {
		id  int64
		raw []byte
	}
	read, err := db.All(ctx, s.db.SQL, func(b *beginning) []any { return []any{&b.id, &b.raw} }, beginningsSQL,
		db.Array(ids), snippetRead)
	if err != nil {
		return nil, err
	}
	snippets := map[int64]string{}
	for _, b := range read {
		snippets[b.id] = snippet(b.raw)
	}
	lines := make([]Line, 0, len(mails))
	for _, m := range mails {
		lines = append(lines, Line{CapturedMail: m, Snippet: snippets[m.ID]})
	}
	return lines, nil
}
