package statistics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// Publisher is the part of the bus that the service needs.
type Publisher interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	Wake()
}

const (
	rateWindow  = 24 * time.Hour
	ratesEvery  = 15 * time.Minute
	rateBatch   = 500
	recoveredIn = "1 day" // minimum time before the same limit can be reported again
)

// rateLimit is a limit of a rate. The limits and minimums are those of deploy/monitoring/alerts.yml: Gmail and Yahoo
// require less than 0.1 % complaints and refuse mail above 0.3 %; no provider publishes a limit for bounces.
type rateLimit struct {
	rate    string
	ppm     int64 // the limit, in recipients per million
	minimum int64 // the rate of fewer recipients says little
}

var rateLimits = []rateLimit{
	{event.BounceRate, 50_000, 100}, {event.ComplaintRate, 1_000, 1000}, {event.ComplaintRate, 3_000, 1000},
}

// measure returns the number of counted recipients and that of all recipients of which they are a share.
func (l rateLimit) measure(f *Figures) (counted, recipients int64) {
	if l.rate == event.BounceRate {
		return f.Bounced, f.Bounced + f.Delivered
	}
	return f.Complained, f.Delivered
}

func (l rateLimit) isExceeded(f *Figures) bool {
	counted, recipients := l.measure(f)
	return recipients > l.minimum && counted*1_000_000 > l.ppm*recipients
}

// isOutranked reports whether the rate also exceeds a higher limit, whose event says everything.
func (l rateLimit) isOutranked(f *Figures) bool {
	return slices.ContainsFunc(rateLimits, func(other rateLimit) bool {
		return other.rate == l.rate && other.ppm > l.ppm && other.isExceeded(f)
	})
}

func (l rateLimit) newEvent(accountID string, f *Figures) event.ExceededRate {
	counted, recipients := l.measure(f)
	return event.ExceededRate{AccountID: accountID, Rate: l.rate, Share: float64(counted) / float64(recipients),
		Limit: float64(l.ppm) / 1_000_000, Recipients: recipients}
}

// watchedSQL selects accounts with mail in the window or with an exceeded rate that may have recovered.
const watchedSQL = `
SELECT account_id FROM (
	SELECT d.account_id FROM statistics_days d WHERE d.kind = $1 AND d.start >= $2
	UNION SELECT account_id FROM exceeded_rates) w
 WHERE account_id > $3 AND EXISTS (SELECT FROM accounts a WHERE a.id = w.account_id AND NOT a.system) ORDER BY 1 LIMIT $4`

// CheckRates publishes an event for each rate of an account that newly exceeds a limit: one event, for the highest. It
// reports a limit again only after the rate was below it, at the earliest a day later. Several processes may call it
// concurrently.
func (s *Service) CheckRates(ctx context.Context) error {
	now, err := db.Now(ctx, s.db.SQL)
	if err != nil {
		return fmt.Errorf("check rates: %w", err)
	}
	var failed []error
	first := rollup.DayOf(now.Add(-rateWindow)).Start()
	for after := ""; ; {
		list, err := db.All(ctx, s.db.SQL, db.Value[string], watchedSQL, rollup.Account, first, after, rateBatch)
		if err != nil {
			return fmt.Errorf("check rates: %w", err)
		}
		for _, accountID := range list {
			if err := s.checkRatesOf(ctx, accountID, now); err != nil {
				failed = append(failed, fmt.Errorf("check rates of %s: %w", accountID, err))
			}
		}
		if len(list) < rateBatch || ctx.Err() != nil {
			return errors.Join(failed...)
		}
		after = list[len(list)-1]
	}
}

func (s *Service) checkRatesOf(ctx context.Context, accountID string, now time.Time) error {
	answer, err := s.Query(ctx, accountID, Question{Range: Range{Since: now.Add(-rateWindow), Until: now}, Interval: Hour,
		Timezone: "UTC"})
	if err != nil {
		return err
	}
	for _, l := range rateLimits {
		if l.isExceeded(&answer.Totals) {
			err = s.recordRate(ctx, l, accountID, &answer.Totals, now)
		} else {
			err = s.resetRate(ctx, l, accountID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	exceedSQL = `INSERT INTO exceeded_rates (account_id, rate, limit_ppm) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	resetSQL  = `DELETE FROM exceeded_rates WHERE account_id = $1 AND rate = $2 AND limit_ppm = $3 AND created_at < now() - interval '` + recoveredIn + `'`
)

// recordRate records that a rate exceeds a limit and, the first time, publishes an event.
func (s *Service) recordRate(ctx context.Context, l rateLimit, accountID string, f *Figures, at time.Time) error {
	published := false
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		n, err := db.Exec(ctx, tx, exceedSQL, accountID, l.rate, l.ppm)
		if published = n == 1 && !l.isOutranked(f); err != nil || !published {
			return err
		}
		return s.publisher.Publish(ctx, tx, event.New(accountID, event.AccountRateExceeded, at, l.newEvent(accountID, f)))
	})
	if err == nil && published {
		s.publisher.Wake()
	}
	return err
}

func (s *Service) resetRate(ctx context.Context, l rateLimit, accountID string) error {
	_, err := db.Exec(ctx, s.db.SQL, resetSQL, accountID, l.rate, l.ppm)
	return err
}
