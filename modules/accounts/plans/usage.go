package plans

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// By is the length of the periods in a usage report.
type By string

// The periods of usage, in UTC.
const (
	ByHour  By = "hour"
	ByDay   By = "day"
	ByMonth By = "month"
)

// Periods returns the period lengths, shortest first.
func Periods() []By { return []By{ByHour, ByDay, ByMonth} }

// UsagePeriod is a range with inclusive Since and exclusive Until. A zero Since means the beginning of the
// current month, a zero Until means now.
type UsagePeriod struct{ Since, Until time.Time }

// maxPeriods is the maximum number of periods in one response.
const maxPeriods = 10_000

// keptMonths is the number of months for which usage is kept, not counting the current one.
const keptMonths = 13

// Period is the number of emails handed over for delivery in an hour, a day or a month.
type Period struct {
	Start  time.Time // UTC
	Emails int64
}

// usageSQL sums closed hours from their counts and open ones from their facts, in one statement so that it
// sees one mark. $3 contains the hours that may be open, $4 and $5 the lowest fact ids in each of them and
// after it.
const usageSQL = `
WITH hours AS (
	SELECT hour, emails FROM usage_hours WHERE account_id = $1 AND hour >= $2 AND hour < $7
	UNION ALL
	SELECT o.hour::timestamptz, f.emails FROM unnest($3::text[], $4::text[], $5::text[]) AS o (hour, first, past), LATERAL (
		SELECT count(*) AS emails FROM facts WHERE account_id = $1 AND type = '` + string(event.EmailSent) + `' AND id >= o.first AND id < o.past
		   AND id >= coalesce((SELECT fact_id FROM usage_marks), '')) f
)
SELECT date_trunc($6::text, hour AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', sum(emails)::bigint FROM hours GROUP BY 1 HAVING sum(emails) > 0 ORDER BY 1`

const openSinceSQL = `SELECT greatest((SELECT hour FROM usage_marks), $1::timestamptz)`

// Usage returns the emails that an account handed over for delivery in a range, earliest period first. It
// includes periods without emails. Error: Invalid.
func (s *Service) Usage(ctx context.Context, accountID string, r UsagePeriod, by By) ([]Period, error) {
	now, err := db.Now(ctx, s.db.SQL)
	if err != nil {
		return nil, fmt.Errorf("usage: %w", err)
	}
	if r, err = r.widen(now.UTC(), by); err != nil {
		return nil, err
	}
	open, err := db.One(ctx, s.db.SQL, db.Value[time.Time], openSinceSQL, r.Since)
	if err != nil {
		return nil, fmt.Errorf("usage: %w", err)
	}
	var hours, first, past []string
	for hour := open.UTC().Truncate(time.Hour); hour.Before(r.Until); hour = hour.Add(time.Hour) {
		hours, first, past = append(hours, hour.Format(time.RFC3339)), append(first, id.Since(id.Fact, hour)),
			append(past, id.Since(id.Fact, hour.Add(time.Hour)))
	}
	found, err := db.All(ctx, s.db.SQL, func(p *Period) []any { return []any{&p.Start, &p.Emails} }, usageSQL,
		accountID, r.Since, db.Array(hours), db.Array(first), db.Array(past), string(by), r.Until)
	if err != nil {
		return nil, fmt.Errorf("usage: %w", err)
	}
	return fillPeriods(found, r, by), nil
}

// widen extends the range to whole periods.
func (r UsagePeriod) widen(now time.Time, by By) (UsagePeriod, error) {
	wrong := fault.Fields{}
	if r.Since.IsZero() {
		r.Since = periodStart(now, ByMonth)
	}
	if r.Until.IsZero() || r.Until.After(now) {
		r.Until = now
	}
	oldest := periodStart(now, ByMonth).AddDate(0, -keptMonths, 0)
	switch {
	case by != ByHour && by != ByDay && by != ByMonth:
		wrong.Add("by", "must be hour, day or month")
	case !r.Since.Before(r.Until):
		wrong.Add("since", "must be before until, and in the past")
	case r.Since.Before(oldest):
		wrong.Add("since", "must not be before %s: usage is kept for %d months", oldest.Format(time.RFC3339),
			keptMonths)
	default:
		r.Since, r.Until = periodStart(r.Since.UTC(), by),
			nextPeriod(periodStart(r.Until.UTC().Add(-time.Nanosecond), by), by)
		if by == ByHour && r.Until.Sub(r.Since) > maxPeriods*time.Hour {
			wrong.Add("since", "is too far from until: a response covers at most %d hours", maxPeriods)
		}
	}
	return r, wrong.Err()
}

// periodStart returns the start of the period that contains at.
func periodStart(at time.Time, by By) time.Time {
	switch by {
	case ByHour:
		return at.Truncate(time.Hour)
	case ByDay:
		return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	default:
		return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
}

func nextPeriod(start time.Time, by By) time.Time {
	switch by {
	case ByHour:
		return start.Add(time.Hour)
	case ByDay:
		return start.AddDate(0, 0, 1)
	default:
		return start.AddDate(0, 1, 0)
	}
}

func fillPeriods(found []Period, r UsagePeriod, by By) []Period {
	var all []Period
	for start := r.Since; start.Before(r.Until); start = nextPeriod(start, by) {
		p := Period{Start: start}
		if len(found) > 0 && found[0].Start.Equal(start) {
			p.Emails, found = found[0].Emails, found[1:]
		}
		all = append(all, p)
	}
	return all
}

// UsageReport is the usage of an account compared with its plan.
type UsageReport struct {
	Emails   int64 // in the range
	Included *int  // per month; nil if the plan includes no volume
	Over     int64 // in the current month, beyond the included volume
	Limit    *int  // hard cap per month; nil for none
	// Projection is the estimate for the end of the current month: the emails so far plus, for each remaining
	// day, the mean of the last 7 whole days. It is nil unless the range is the current month.
	Projected *int64
	Periods   []Period
}

// meanDays is the number of whole days that a projection is based on.
const meanDays = 7

// Report returns the usage of a range. Error: Invalid.
func (s *Service) Report(ctx context.Context, accountID string, r UsagePeriod, by By) (UsageReport, error) {
	account, err := s.accounts.Account(ctx, accountID)
	if err != nil {
		return UsageReport{}, err
	}
	out := UsageReport{Included: account.Plan.IncludedEmails}
	if out.Periods, err = s.Usage(ctx, accountID, r, by); err != nil {
		return UsageReport{}, err
	}
	for _, p := range out.Periods {
		out.Emails += p.Emails
	}
	used, err := s.accounts.Usage(ctx, accountID)
	if err != nil {
		return UsageReport{}, err
	}
	out.Limit = used.MonthlyCap
	if !r.Since.IsZero() || !r.Until.IsZero() {
		return out, nil
	}
	if out.Included != nil {
		out.Over = max(out.Emails-int64(*out.Included), 0)
	}
	projected, err := s.projectUsage(ctx, accountID, out.Emails)
	out.Projected = &projected
	return out, err
}

func (s *Service) projectUsage(ctx context.Context, accountID string, soFar int64) (int64, error) {
	now, err := db.Now(ctx, s.db.SQL)
	if err != nil {
		return 0, fmt.Errorf("usage: %w", err)
	}
	today := periodStart(now.UTC(), ByDay)
	days, err := s.Usage(ctx, accountID, UsagePeriod{Since: today.AddDate(0, 0, -meanDays), Until: today}, ByDay)
	if err != nil {
		return 0, err
	}
	var week int64
	for _, d := range days {
		week += d.Emails
	}
	left := nextPeriod(periodStart(today, ByMonth), ByMonth).Sub(now).Hours() / 24
	return soFar + int64(float64(week)/meanDays*left), nil
}
