package stored

import (
	"fmt"
	"slices"
	"strings"
)

// Statistics gives the statements that write what counting the facts of so many emails over a
// year would: of three domains with two keys each, to a thousand recipients' domains of which few
// have most of the mail, with two tags each.
func Statistics(emails int) []string {
	const dims = `domain_id, api_key_id, template_id, automation_id, key`
	const figures = `accepted, recipients, delivered, delayed, bounced, failed, complained, opened, clicked, unsubscribed, suppressed`
	sums := make([]string, 0, 11)
	for figure := range strings.SplitSeq(figures, ", ") {
		sums = append(sums, "sum("+figure+")")
	}
	mail := fmt.Sprintf(`CREATE UNLOGGED TABLE bench_mail AS SELECT date_bin('15 minutes', date_trunc('day', now(), 'UTC') - random() * interval '365 days', timestamptz '2000-01-01 00:00:00Z') AS start,
		floor(random() * 6)::int AS sender, floor(random() * 5)::int AS tag, random() < 0.8 AS prod, floor(1000 * power(random(), 4))::int AS destination,
		floor(20 + 4 * (random() + random() - 1))::int AS bin, (random() < 0.02)::int AS bounced, (random() < 0.3)::int AS opened FROM generate_series(1, %d)`, emails)
	out := []string{mail}
	const account = `(SELECT id FROM accounts ORDER BY id LIMIT 1)`
	kinds := []struct{ senders, key, from string }{
		{``, `''`, ``},
		{`yes`, `''`, ``},
		{`yes`, `t.name`, `, LATERAL (VALUES ('kind=' || tag), (CASE WHEN prod THEN 'env=prod' ELSE 'env=test' END)) t (name)`},
		{`yes`, `'d' || destination || '.example'`, ``},
		{`yes`, `'bad_address'`, ` WHERE bounced = 1`},
		{``, `'d' || destination || '.example'`, ``},
		{``, `''`, ``},
	}
	for kind, k := range kinds {
		senders := `'', ''`
		if k.senders != "" {
			senders = `'dom_bench' || sender / 2, 'key_bench' || sender`
		}
		sent := `count(*)`
		if kind == 4 {
			sent = `0`
		}
		out = append(out, fmt.Sprintf(`INSERT INTO statistics (account_id, grain, placed, kind, start, `+dims+`, `+figures+`)
			SELECT %s, 15, 0, %d, start, %s, '', '', %s, %s, %s, count(*) - sum(bounced), 0, sum(bounced), 0, 0, sum(opened), 0, 0, 0 FROM bench_mail%s GROUP BY 5, 6, 7, 10 ORDER BY 5, 6, 7, 10`,
			account, kind, senders, k.key, sent, sent, k.from),
			fmt.Sprintf(`INSERT INTO statistics_latencies (account_id, grain, placed, kind, start, `+dims+`, bin, recipients)
			SELECT %s, 15, 0, %d, start, %s, '', '', %s, bin, count(*) FROM bench_mail%s GROUP BY 5, 6, 7, 10, 11 ORDER BY 5, 6, 7, 10, 11`, account, kind, senders, k.key, strings.ReplaceAll(k.from, "bounced = 1", "false")))
	}
	for _, grain := range []struct {
		of, minutes int
		width, only string
	}{{15, 60, `1 hour`, `true`}, {60, 1440, `1 day`, `true`}, {1440, 20160, `14 days`, `kind = 5`}} {
		for table, columns := range map[string][2]string{"statistics": {figures, strings.Join(sums, ", ")}, "statistics_latencies": {"bin, recipients", "bin, sum(recipients)"}} {
			if grain.minutes > 1440 && table != "statistics" {
				continue
			}
			groups := `1, 2, 3, 4, 5, 6, 7, 8, 9, 10`
			if table != "statistics" {
				groups += `, 11`
			}
			out = append(out, fmt.Sprintf(`INSERT INTO %s (account_id, grain, placed, kind, start, %s, %s) SELECT account_id, %d, placed, kind, date_bin('%s', start, timestamptz '0001-01-01 00:00:00Z'), %[2]s, %[6]s
				FROM %[1]s WHERE grain = %[7]d AND %[9]s GROUP BY %[8]s ORDER BY %[8]s`, table, dims, columns[0], grain.minutes, grain.width, columns[1], grain.of, groups, grain.only))
		}
	}
	return slices.Concat(out, []string{`DROP TABLE bench_mail`, `VACUUM ANALYZE statistics`, `VACUUM ANALYZE statistics_latencies`})
}
