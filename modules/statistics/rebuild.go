package statistics

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/postrider/postrider/runtime/db"
)

// The statements that count write to tables of these names: a session's own tables come first.
const shadowSQL = `
CREATE TEMPORARY TABLE statistics (LIKE public.statistics INCLUDING ALL) ON COMMIT DROP;
CREATE TEMPORARY TABLE statistics_latencies (LIKE public.statistics_latencies INCLUDING ALL) ON COMMIT DROP;
CREATE TEMPORARY TABLE statistics_reasons (LIKE public.statistics_reasons INCLUDING ALL) ON COMMIT DROP;
CREATE TEMPORARY TABLE statistics_received (LIKE public.statistics_received INCLUDING ALL) ON COMMIT DROP`

// Where facts were deleted since they were counted, the larger figure stays.
const (
	mergeSQL = `
INSERT INTO public.statistics AS s SELECT * FROM pg_temp.statistics
ON CONFLICT (account_id, grain, placed, kind, start, domain_id, api_key_id, template_id, automation_id, key) DO UPDATE SET accepted = greatest(s.accepted, excluded.accepted),
	recipients = greatest(s.recipients, excluded.recipients), delivered = greatest(s.delivered, excluded.delivered), delayed = greatest(s.delayed, excluded.delayed),
	bounced = greatest(s.bounced, excluded.bounced), failed = greatest(s.failed, excluded.failed), complained = greatest(s.complained, excluded.complained),
	opened = greatest(s.opened, excluded.opened), clicked = greatest(s.clicked, excluded.clicked), unsubscribed = greatest(s.unsubscribed, excluded.unsubscribed),
	suppressed = greatest(s.suppressed, excluded.suppressed)`
	mergeLatenciesSQL = `
INSERT INTO public.statistics_latencies AS s SELECT * FROM pg_temp.statistics_latencies
ON CONFLICT (account_id, grain, placed, kind, start, domain_id, api_key_id, template_id, automation_id, key, bin) DO UPDATE SET recipients = greatest(s.recipients, excluded.recipients)`
	mergeReasonsSQL = `
INSERT INTO public.statistics_reasons AS s SELECT * FROM pg_temp.statistics_reasons
ON CONFLICT (account_id, start, domain_id, api_key_id, template_id, automation_id, class, enhanced_code, host) DO UPDATE SET recipients = greatest(s.recipients, excluded.recipients)`

	firstFactSQL = `SELECT coalesce(min(id), '') FROM facts`
	waitMarkSQL  = `SELECT fact_id FROM statistics_marks WHERE id = 1 FOR UPDATE`
)

// Rebuild counts anew what the facts that are kept tell, up to the mark. progress is told how many facts
// were looked at; it may be nil. Services that run count nothing meanwhile, and catch up.
func (s *Service) Rebuild(ctx context.Context, progress func(facts int)) error {
	if _, err := s.db.SQL.ExecContext(ctx, createMarkSQL); err != nil {
		return fmt.Errorf("rebuild statistics: %w", err)
	}
	err := s.db.InHotTx(ctx, func(tx *sql.Tx) error {
		end, err := db.One(ctx, tx, db.Value[string], waitMarkSQL)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, shadowSQL); err != nil {
			return err
		}
		if err := recount(ctx, tx, end, progress); err != nil {
			return err
		}
		for _, statement := range []string{mergeSQL, mergeLatenciesSQL, mergeReasonsSQL, mergeReceivedSQL} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("rebuild statistics: %w", err)
	}
	return nil
}

func recount(ctx context.Context, tx db.Execer, end string, progress func(int)) error {
	from, err := db.One(ctx, tx, db.Value[string], firstFactSQL)
	if err != nil {
		return err
	}
	for seen := stretch; from < end && from != ""; seen += stretch {
		to, err := db.One(ctx, tx, db.Value[string], stretchSQL, from, end, stretch)
		if err != nil {
			return err
		}
		if to == "" {
			to = end
		}
		if _, err := tx.ExecContext(ctx, countSQL, from, to); err != nil {
			return err
		}
		if from = to; progress != nil {
			progress(seen)
		}
	}
	return nil
}
