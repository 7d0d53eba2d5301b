package transfer

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Base is the part of an account that a move copies while the account works: the finished units of its large tables in
// one snapshot. It holds a connection, whose temporary tables contain the number of rows of each unit. Close it.
type Base struct {
	ID string

	account string
	rows    map[string]int64 // by group
	oldest  string           // the oldest transaction whose changes the snapshot may not contain
	handle  *sql.DB
	conn    *sql.Conn
}

const (
	// basePrefix distinguishes the id of a base from the id of a move, which is a hash. No code starts a base.
	basePrefix = "base_"
	// recentFacts is the age up to which events are left to the difference, so that the bus of the target, which looks
	// for new events, does not find them in a base.
	recentFacts = 2 * time.Minute
	// progressStep is the number of rows between two lines of progress.
	progressStep = 50_000
)

// inBase reports whether a base contains a table. The target creates the frozen account.
func (t table) inBase() bool { return t.group != "" || t.kept || t.name == "accounts" }

// openUnits selects, by group, the units of the account $1 that are not finished. Their rows are in the difference.
var openUnits = map[string]string{
	"emails":             `SELECT email_id FROM (` + openRecipients + `) r UNION SELECT id FROM emails WHERE account_id = $1 AND release_at IS NOT NULL`,
	"webhook_deliveries": openPosts,
	"automation_runs":    openRuns,
	"custom_events":      `SELECT id FROM custom_events WHERE account_id = $1 AND pending`,
	"sms_messages":       openTexts,
	groupReceived:        `SELECT id::text FROM received_contents WHERE account_id = $1 AND due_at IS NOT NULL`,
}

// ExportBase writes the base of a move to w. The account continues to work.
func ExportBase(ctx context.Context, d *db.DB, accountID string, w io.Writer, o Options) (_ *Base, err error) {
	b := &Base{ID: basePrefix + rand.Text(), account: accountID, rows: map[string]int64{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if b.handle, err = d.OpenPatient(); err != nil {
		return nil, err
	}
	if b.conn, err = b.handle.Conn(ctx); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	err = inTx(ctx, b.conn, sql.LevelRepeatableRead, func(tx *sql.Tx) error {
		if b.oldest, err = db.One(ctx, tx, db.Value[string], `SELECT pg_snapshot_xmin(pg_current_snapshot())::xid::text`); err != nil {
			return err
		}
		if err := b.prepare(ctx, tx); err != nil {
			return err
		}
		_, err := writeAccount(ctx, tx, accountID, w, o, filePart{base: b.ID})
		return err
	})
	return b, err
}

// Close ends the connection. A difference can then no longer be exported.
func (b *Base) Close() (err error) {
	if b.conn != nil {
		err = b.conn.Close()
	}
	if b.handle != nil {
		err = errors.Join(err, b.handle.Close())
	}
	return err
}

// groups lists the groups of tables, in their order.
func groups() (names []string) {
	for _, t := range tables {
		if t.group != "" && !slices.Contains(names, t.group) {
			names = append(names, t.group)
		}
	}
	return names
}

// unitsSQL selects the unit of each row in the tables of a group.
func unitsSQL(group string, condition func(table) string) string {
	var each []string
	for _, t := range tables {
		if t.group == group {
			each = append(each, `SELECT `+t.unitText()+` AS unit FROM `+t.name+` t WHERE `+condition(t))
		}
	}
	return strings.Join(each, ` UNION ALL `)
}

// scanSQL selects a value, in which %s is the unit, of each row in the tables of a group.
func scanSQL(group, value string) string {
	var each []string
	for _, t := range tables {
		if t.group == group {
			each = append(each, `SELECT `+fmt.Sprintf(value, t.unitText())+` AS unit FROM `+t.name+` t WHERE `+t.wholeCondition())
		}
	}
	return strings.Join(each, ` UNION ALL `)
}

// unitText is the id of a row's unit as text.
func (t table) unitText() string {
	if t.number {
		return t.unit + `::text`
	}
	return t.unit
}

func (t table) baseCondition() string {
	return t.wholeCondition() + ` AND NOT EXISTS (SELECT FROM transfer_open o WHERE o.part = '` + t.group + `' AND o.unit = ` + t.unitText() + `)`
}

func (t table) changedCondition() string {
	changed := `c.unit`
	if t.number {
		changed = `c.unit::bigint`
	}
	return t.wholeCondition() + ` AND ` + t.unit + ` IN (SELECT ` + changed + ` FROM transfer_changed c WHERE c.part = '` + t.group + `')`
}

const unitTablesSQL = `
CREATE TEMP TABLE transfer_open (part text COLLATE "C", unit text COLLATE "C", PRIMARY KEY (part, unit));
CREATE TEMP TABLE transfer_changed (part text COLLATE "C", unit text COLLATE "C", PRIMARY KEY (part, unit));
CREATE TEMP TABLE transfer_received (unit text COLLATE "C", id text)`

// prepare notes the open units, the number of rows of the others, and by which emails the target finds received mail.
func (b *Base) prepare(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, unitTablesSQL); err != nil {
		return err
	}
	for group, open := range openUnits {
		if _, err := db.Exec(ctx, tx, `INSERT INTO transfer_open SELECT DISTINCT '`+group+`', o.id FROM (`+open+`) AS o (id)`, b.account); err != nil {
			return fmt.Errorf("find unfinished %s: %w", group, err)
		}
	}
	now, err := db.One(ctx, tx, db.Value[time.Time], `SELECT now()`)
	if err != nil {
		return err
	}
	if _, err := db.Exec(ctx, tx, `INSERT INTO transfer_open SELECT 'facts', id FROM facts WHERE account_id = $1 AND id >= $2`,
		b.account, id.Since(id.Fact, now.Add(-recentFacts))); err != nil {
		return fmt.Errorf("find recent events: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `ANALYZE transfer_open`); err != nil {
		return err
	}
	for _, group := range groups() {
		name := `transfer_base_` + group
		if _, err := tx.ExecContext(ctx, `CREATE TEMP TABLE `+name+` (unit text COLLATE "C", n bigint)`); err != nil {
			return err
		}
		if _, err := db.Exec(ctx, tx, `INSERT INTO `+name+` SELECT unit, count(*) FROM (`+unitsSQL(group, table.baseCondition)+`) r GROUP BY unit`,
			b.account); err != nil {
			return fmt.Errorf("count the rows of %s: %w", group, err)
		}
		if _, err := tx.ExecContext(ctx, `ALTER TABLE `+name+` ADD PRIMARY KEY (unit); ANALYZE `+name); err != nil {
			return err
		}
		if b.rows[group], err = db.One(ctx, tx, db.Value[int64], `SELECT coalesce(sum(n), 0)::bigint FROM `+name); err != nil {
			return err
		}
	}
	if _, err := db.Exec(ctx, tx, `INSERT INTO transfer_received SELECT b.unit, t.id FROM received_emails t JOIN transfer_base_`+groupReceived+
		` b ON b.unit = t.content_id::text WHERE t.account_id = $1`, b.account); err != nil {
		return fmt.Errorf("list received emails: %w", err)
	}
	_, err = tx.ExecContext(ctx, `ANALYZE transfer_received`)
	return err
}

// Refresh finds what has changed since the base, so that ExportParked, during the freeze, finds only the rest.
func (b *Base) Refresh(ctx context.Context) error {
	return inTx(ctx, b.conn, sql.LevelRepeatableRead, func(tx *sql.Tx) error { return b.findChanges(ctx, tx) })
}

// findChanges adds the units that have changed to transfer_changed. A unit stays in it: to replace one that has not
// changed is correct, too.
//
// A row was added or changed since the base only if its transaction is not older than the oldest one that the base may
// not contain. All other rows are those of the base. If, without the changed units, there are as many rows as in the
// base, none was deleted.
func (b *Base) findChanges(ctx context.Context, tx *sql.Tx) error {
	// The planner expects as many groups as units, and would sort all rows.
	if _, err := tx.ExecContext(ctx, `SET LOCAL enable_sort = off;
INSERT INTO transfer_changed SELECT part, unit FROM transfer_open ON CONFLICT DO NOTHING`); err != nil {
		return err
	}
	for _, group := range groups() {
		if err := b.findChangesOf(ctx, tx, group); err != nil {
			return fmt.Errorf("find changes of %s: %w", group, err)
		}
	}
	_, err := tx.ExecContext(ctx, `ANALYZE transfer_changed; SET LOCAL enable_sort = on`)
	return err
}

func (b *Base) findChangesOf(ctx context.Context, tx *sql.Tx, group string) error {
	// One scan finds the changed units, and counts all rows. PostgreSQL uses several processes for CREATE TABLE AS, which
	// has no parameters, and not for age(). Numbers of transactions are modulo 2^32.
	scan := scanSQL(group, `CASE WHEN ((t.xmin::text::bigint - `+b.oldest+`) & 4294967295) < 2147483648 THEN %s END`)
	if _, err := db.Exec(ctx, tx, `DROP TABLE IF EXISTS pg_temp.transfer_scan;
CREATE TEMP TABLE transfer_scan AS SELECT unit, count(*) AS n FROM (`+strings.ReplaceAll(scan, "$1", pq.QuoteLiteral(b.account))+`) r GROUP BY unit;
INSERT INTO transfer_changed SELECT '`+group+`', unit FROM transfer_scan WHERE unit IS NOT NULL ON CONFLICT DO NOTHING;
ANALYZE transfer_changed`); err != nil {
		return err
	}
	base := `transfer_base_` + group
	deleted, err := db.One(ctx, tx, db.Value[bool], `SELECT (SELECT coalesce(sum(n), 0) FROM transfer_scan) - (SELECT count(*) FROM (`+
		unitsSQL(group, table.changedCondition)+`) c) <> $2 - (SELECT coalesce(sum(b.n), 0) FROM `+base+` b
	JOIN transfer_changed c ON c.part = '`+group+`' AND c.unit = b.unit)`, b.account, b.rows[group])
	if err != nil || !deleted {
		return err
	}
	_, err = db.Exec(ctx, tx, `INSERT INTO transfer_changed SELECT '`+group+`', coalesce(a.unit, b.unit)
FROM (SELECT unit, count(*) AS n FROM (`+scanSQL(group, `%s`)+`) r GROUP BY unit) a FULL JOIN `+base+` b ON b.unit = a.unit WHERE a.n IS DISTINCT FROM b.n
ON CONFLICT DO NOTHING`, b.account)
	return err
}

// writeReplaced writes the ids of the units that the difference replaces, deletes or adds.
func (e *exporter) writeReplaced(ctx context.Context) error {
	for _, group := range groups() {
		part := partWriter{to: e.out, name: unitFolder + group}
		units := `SELECT to_json(unit) FROM transfer_changed WHERE part = $1`
		if group == groupReceived {
			units = `SELECT to_json(r.id) FROM transfer_changed c JOIN transfer_received r ON r.unit = c.unit WHERE c.part = $1`
		}
		err := db.Each(ctx, e.tx, func(row db.Row) error {
			var encoded sql.RawBytes
			if err := row.Scan(&encoded); err != nil {
				return err
			}
			return part.addRow(encoded)
		}, units, group)
		if err == nil {
			err = part.flush()
		}
		if err != nil {
			return fmt.Errorf("list replaced %s: %w", group, err)
		}
	}
	return nil
}

// countEmails counts the emails of a base.
func (e *exporter) countEmails(ctx context.Context) (err error) {
	e.emails, err = db.One(ctx, e.tx, db.Value[int64], `SELECT count(*) FROM transfer_base_emails`)
	return err
}

// showRow shows how many rows of a base have been written.
func (e *exporter) showRow(t table) {
	n := e.out.end.Rows[t.name]
	switch {
	case !e.part.isBase() || n == 0 || n%progressStep != 0:
	case t.name == "emails":
		e.options.Progress(fmt.Sprintf("emails: %d of %d", n, e.emails))
	default:
		e.options.Progress(fmt.Sprintf("%s: %d", t.name, n))
	}
}
