package statistics

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/timeseries"
)

// BySpamStatus groups received mail by spam verdict. ByDomain also applies to received mail.
const BySpamStatus Dimension = "spam_status"

// ReceivedQuestion is a query about received mail.
type ReceivedQuestion struct {
	Range    Range
	Interval Interval
	Timezone string    // for example Europe/Vienna
	GroupBy  Dimension // ByDomain, BySpamStatus or empty
	Top      int       // number of the largest groups to return individually
}

// ReceivedFigures are counts of received emails: one for each recipient of a message.
type ReceivedFigures struct {
	Received int64

	Ham, Spam, Unknown int64 // parts of Received, by verdict of the spam filter

	Octets int64 // size of the raw messages
}

func (f *ReceivedFigures) scan() []any {
	return []any{&f.Received, &f.Ham, &f.Spam, &f.Unknown, &f.Octets}
}

// Add adds other figures.
func (f *ReceivedFigures) Add(g ReceivedFigures) {
	for i, into := range f.scan() {
		*into.(*int64) += *g.scan()[i].(*int64)
	}
}

// Size returns the figure by which groups are compared.
func (f *ReceivedFigures) Size() int64 { return f.Received }

// ReceivedAnswer is the result of a ReceivedQuestion.
type ReceivedAnswer struct {
	timeseries.Result[ReceivedFigures]

	AsOf time.Time // everything before it is counted
}

// ReceivedGroup is a group of received mail.
type ReceivedGroup = timeseries.Group[ReceivedFigures]

// ReceivedBucket is a period.
type ReceivedBucket = timeseries.Bucket[ReceivedFigures]

const (
	receivedTable  = "statistics_received"
	receivedCounts = `ham, spam, unknown, ham_octets, spam_octets, unknown_octets`
	receivedKey    = `account_id, grain, kind, start, domain_id`
	// The periods that are stored, in minutes.
	grains = `(VALUES (15, interval '15 minutes'), (60, interval '1 hour'), (1440, interval '1 day')) g (grain, width)`
)

// addReceivedSQL adds the received emails of a selection of facts to a table by period, or subtracts them.
func addReceivedSQL(table, selection string, sign int64) string {
	return `WITH ` + receivedFactsSQL(selection, sign) + ` INSERT INTO ` + table + ` AS s (` + receivedKey + `, ` + receivedCounts + `)
	SELECT account_id, grain, kind, date_bin(width, start, timestamptz '2000-01-01 00:00:00Z'), domain_id, sum(ham), sum(spam), sum(unknown), sum(ham_octets), sum(spam_octets), sum(unknown_octets)
	  FROM v, ` + grains + ` GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
	ON CONFLICT (` + receivedKey + `) DO UPDATE SET ham = s.ham + excluded.ham, spam = s.spam + excluded.spam, unknown = s.unknown + excluded.unknown,
		ham_octets = s.ham_octets + excluded.ham_octets, spam_octets = s.spam_octets + excluded.spam_octets, unknown_octets = s.unknown_octets + excluded.unknown_octets`
}

// receivedFactsSQL defines the relation v: the received emails of a selection of facts, counted by quarters
// of an hour. A selection is a condition on f. The planner does not know the number of facts, so no step may
// read all received mail for a few of them.
func receivedFactsSQL(selection string, times int64) string {
	sign := fmt.Sprintf("%d * ", times)
	return `v AS MATERIALIZED (
	SELECT r.account_id, kind, date_bin('15 minutes', r.received_at, timestamptz '2000-01-01 00:00:00Z') AS start, CASE kind WHEN 0 THEN '' ELSE r.domain_id END AS domain_id,
		` + sign + `count(*) FILTER (WHERE spam_status = 'ham') AS ham, ` + sign + `count(*) FILTER (WHERE spam_status = 'spam') AS spam, ` + sign + `count(*) FILTER (WHERE spam_status = 'unknown') AS unknown,
		` + sign + `coalesce(sum(size) FILTER (WHERE spam_status = 'ham'), 0) AS ham_octets, ` + sign + `coalesce(sum(size) FILTER (WHERE spam_status = 'spam'), 0) AS spam_octets,
		` + sign + `coalesce(sum(size) FILTER (WHERE spam_status = 'unknown'), 0) AS unknown_octets
	  FROM facts f, LATERAL (SELECT m.* FROM received_emails m WHERE m.id = f.subject_id AND m.account_id = f.account_id LIMIT 1) r, (VALUES (0), (1)) k (kind)
	 WHERE ` + selection + ` AND f.type = 'email.received' GROUP BY 1, 2, 3, 4
)`
}

// receivedSQL reads rows of a kind. parts expands each row to the group g and its figures.
func receivedSQL(kind int, parts string) *db.Statement {
	return db.Compile(`WITH ` + receivedFactsSQL(`f.account_id = @account AND f.id >= @from AND f.id < @to`, 1) + `, rows AS (
	SELECT start, domain_id, ` + receivedCounts + ` FROM statistics_received
	 WHERE account_id = @account AND grain = @grain AND kind = ` + strconv.Itoa(kind) + ` AND start >= @begin AND start < @end
	UNION ALL
	SELECT start, domain_id, ` + receivedCounts + ` FROM v WHERE kind = ` + strconv.Itoa(kind) + ` AND start >= @begin AND start < @end
), periods AS MATERIALIZED (
	SELECT width_bucket(start, @starts::timestamptz[]) - 1 AS period, g, sum(x.ham) AS ham, sum(x.spam) AS spam, sum(x.unknown) AS unknown, sum(octets) AS octets
	  FROM rows, ` + parts + ` AS x (g, ham, spam, unknown, octets) WHERE x.ham + x.spam + x.unknown > 0 GROUP BY 1, 2
), top AS (
	SELECT g FROM periods GROUP BY g ORDER BY sum(ham + spam + unknown) DESC, g LIMIT @top
)
SELECT period, coalesce(t.g, ''), t.g IS NULL, sum(ham + spam + unknown)::bigint, sum(ham)::bigint, sum(spam)::bigint, sum(unknown)::bigint, sum(octets)::bigint
  FROM periods p LEFT JOIN top t ON t.g = p.g GROUP BY 1, 2, 3`)
}

var received = map[Dimension]*db.Statement{
	"":       receivedSQL(0, `LATERAL (SELECT '', ham, spam, unknown, ham_octets + spam_octets + unknown_octets)`),
	ByDomain: receivedSQL(1, `LATERAL (SELECT domain_id, ham, spam, unknown, ham_octets + spam_octets + unknown_octets)`),
	BySpamStatus: receivedSQL(0,
		`LATERAL (VALUES ('ham', ham, 0, 0, ham_octets), ('spam', 0, spam, 0, spam_octets), ('unknown', 0, 0, unknown, unknown_octets))`),
}

// AskReceived returns figures of the mail that an account received. Error: Invalid.
func (s *Service) AskReceived(ctx context.Context, accountID string, q ReceivedQuestion) (ReceivedAnswer, error) {
	wrong := fault.Fields{}
	statement, known := received[q.GroupBy]
	if !known {
		wrong.Add("groupBy", "must be domain or spam_status")
	}
	groups := 0
	if q.GroupBy != "" {
		groups = checkTop(wrong, q.Top)
	}
	axis := timeseries.Query{Range: q.Range, Interval: q.Interval, Timezone: q.Timezone}.Axis(wrong, groups)
	if err := wrong.Err(); err != nil {
		return ReceivedAnswer{}, err
	}
	var answer ReceivedAnswer
	err := s.db.Read(ctx, func(on *ent.Client) error {
		return atOnce(ctx, on, func(tx db.Execer) error {
			recent, err := boundTail(ctx, tx, accountID)
			if err != nil {
				return err
			}
			args := statement.Args(db.Arg("account", accountID), db.Arg("grain", axis.Grain()),
				db.Arg("begin", axis.Begin()), db.Arg("end", axis.End), db.Arg("starts", axis.Bounds()),
				db.Arg("top", max(groups, 1)),
				db.Arg("from", recent.from), db.Arg("to", recent.to))
			found, err := db.All(ctx, tx, func(r *timeseries.Row[ReceivedFigures]) []any {
				return append([]any{&r.Period, &r.Key, &r.Rest}, r.Figures.scan()...)
			}, statement.Text, args...)
			if err != nil {
				return err
			}
			answer = ReceivedAnswer{timeseries.Assemble[ReceivedFigures](axis, found, q.GroupBy != ""), recent.asOf}
			return label(ctx, tx, accountID, labels[q.GroupBy], answer.Groups)
		})
	})
	if err != nil {
		return ReceivedAnswer{}, fmt.Errorf("statistics of received mail: %w", err)
	}
	return answer, nil
}
