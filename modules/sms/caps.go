package sms

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// countSQL counts a message in the current UTC day. The counter stays locked until the transaction ends, so
// messages of an account are counted one at a time. This also makes the count per number and hour exact.
const countSQL = `
INSERT INTO sms_days (account_id, day, messages, by_operator) VALUES ($1, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD'), 1, $2)
ON CONFLICT (account_id, day) DO UPDATE SET messages = sms_days.messages + 1, by_operator = sms_days.by_operator + $2
RETURNING messages, by_operator`

const lastHourSQL = `
SELECT count(*) FROM (
	SELECT FROM sms_messages WHERE account_id = $1 AND number_hash = ANY($2::bytea[]) AND created_at > clock_timestamp() - interval '1 hour' AND created_at < clock_timestamp() + interval '1 minute' AND error_code <> 'suppressed'
	ORDER BY id DESC LIMIT $3
) recent`

// countMessage counts one message against the caps. It returns a Limit error if a cap is reached.
func (s *Service) countMessage(ctx context.Context, tx db.Execer, accountID string, a validMessage,
	w routeLimits) error {
	type day struct{ messages, byOperator int }
	operator := 0
	if !w.Own {
		operator = 1
	}
	used, err := db.One(ctx, tx, func(d *day) []any { return []any{&d.messages, &d.byOperator} }, countSQL,
		accountID, operator)
	if err != nil {
		return fmt.Errorf("count a text message: %w", err)
	}
	switch {
	case used.messages > w.dailyCap:
		return newRefusal(fault.Limit, CodeCap, "the account sends at most %d text messages per day", w.dailyCap)
	case w.planCap != nil && used.byOperator > *w.planCap:
		return newRefusal(fault.Limit, CodeCap,
			"the plan %s allows %d text messages per day through the operator's provider", w.plan, *w.planCap)
	}
	recent, err := db.One(ctx, tx, db.Value[int], lastHourSQL, accountID, db.Array(s.optOuts.Hashes(a.number.E164)),
		perHour)
	if err != nil {
		return fmt.Errorf("count text messages to one number: %w", err)
	}
	if recent >= perHour {
		return newRefusal(fault.Limit, CodeCap, "a number can receive at most %d text messages per hour", perHour)
	}
	return nil
}
