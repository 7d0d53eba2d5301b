package statistics

import (
	"strings"

	"github.com/postrider/postrider/runtime/db"
)

// An account may write to very many recipients' domains, of which an answer shows a few. What all its
// senders together sent to one has rows of its own, and so have all domains together. A question finds the
// largest domains among long stretches, looks up their rows one by one, and takes the rest from the sum.

// fortnight is a grain that only rows of recipients' domains alone have, in minutes.
const fortnight = 14 * 24 * 60

// keysSQL makes keys: the domain that is asked for, or the largest ones.
var keysSQL = `keys AS MATERIALIZED (
	(SELECT key FROM (
		SELECT c.* FROM unnest(@rank_grains::smallint[], @rank_begins::timestamptz[], @rank_ends::timestamptz[]) AS g (grain, begins, ends), LATERAL (
		SELECT key, ` + sizeSQL + ` AS size FROM statistics s
		 WHERE account_id = @account AND s.grain = g.grain AND placed = @placed AND kind = 5 AND start >= g.begins AND start < g.ends OFFSET 0) c
		UNION ALL
		SELECT key, ` + sizeSQL + ` FROM q WHERE placed = @placed AND kind = 5 AND start >= @begin AND start < @end) x
	 WHERE @key = '' GROUP BY key ORDER BY sum(size) DESC, key LIMIT @top)
	UNION ALL
	SELECT @key WHERE @key <> ''
)`

// domainRowsSQL makes keyed, the rows of keys, and whole, those of all domains together, by periods.
func domainRowsSQL(table, tail, keys, columns, by string) string {
	const stretches = `unnest(@grains::smallint[], @begins::timestamptz[], @ends::timestamptz[]) AS g (grain, begins, ends)`
	const period = `width_bucket(start, @starts::timestamptz[]) - 1 AS period`
	return `keyed AS MATERIALIZED (
	SELECT ` + period + `, key` + by + `, ` + summed(columns, true) + ` FROM (
		SELECT r.* FROM ` + stretches + `, ` + keys + ` k (key), LATERAL (
		SELECT s.start, s.key` + by + `, ` + columns + ` FROM ` + table + ` s
		 WHERE account_id = @account AND s.grain = g.grain AND placed = @placed AND kind = 5 AND s.key = k.key AND s.start >= g.begins AND s.start < g.ends OFFSET 0) r
		UNION ALL
		SELECT start, key` + by + `, ` + columns + ` FROM ` + tail + ` JOIN ` + keys + ` k (key) USING (key) WHERE placed = @placed AND kind = 5 AND start >= @begin AND start < @end) x
	 GROUP BY period, key` + by + `
), whole AS MATERIALIZED (
	SELECT ` + period + by + `, ` + summed(columns, true) + ` FROM (
		SELECT c.* FROM ` + stretches + `, LATERAL (
		SELECT start` + by + `, ` + columns + ` FROM ` + table + ` s
		 WHERE account_id = @account AND s.grain = g.grain AND placed = @placed AND kind = 6 AND start >= g.begins AND start < g.ends AND @rest OFFSET 0) c
		UNION ALL
		SELECT start` + by + `, ` + columns + ` FROM ` + tail + ` WHERE placed = @placed AND kind = 6 AND start >= @begin AND start < @end AND @rest) x
	 GROUP BY period` + by + `
), shown AS (
	SELECT period` + by + `, ` + summed(columns, true) + ` FROM keyed GROUP BY period` + by + `
)
SELECT period, key, false` + by + `, ` + columns + ` FROM keyed
UNION ALL
SELECT * FROM (SELECT period, '', true` + by + `, ` + rest(columns) + ` FROM whole w LEFT JOIN shown s USING (period` + by + `)) r WHERE ` + strings.ReplaceAll(columns, ", ", " + ") + ` > 0`
}

// rest gives what is left of columns of w after those of s. Less than none is nothing: after erasing, a
// rebuilt sum may fall short of its parts.
func rest(columns string) string {
	list := strings.Split(columns, ", ")
	for i, column := range list {
		list[i] = "greatest(w." + column + " - coalesce(s." + column + ", 0), 0) AS " + column
	}
	return strings.Join(list, ", ")
}

var (
	domainFigures   = db.Compile(`WITH ` + tailSQL + `, ` + keysSQL + `, ` + domainRowsSQL("statistics", "q", "keys", figureColumns, ""))
	domainLatencies = db.Compile(`WITH ` + tailSQL + `, ` + domainRowsSQL("statistics_latencies", "l", "unnest(@keys::text[])", "recipients", ", bin"))
)
