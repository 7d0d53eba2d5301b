package stored

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/postrider/postrider/cmd/bench/postgres"
	"github.com/postrider/postrider/runtime/base/id"
)

// Month is one of a year of emails.
type Month struct {
	Name         string // of its part of the split table
	Begin, Below time.Time
}

// of is the part of another table for the same month.
func (m Month) of(table string) string { return table + m.Name[len(m.Name)-len("_2006_01"):] }

// WithEmails are the tables that emails have rows in and that are split by their ids.
var WithEmails = []string{"emails", "recipients", "attempts"}

// MonthsBefore are n months of a table, the last of which is that of the time.
func MonthsBefore(now time.Time, table string, n int) (all []Month) {
	this := time.Date(now.UTC().Year(), now.UTC().Month(), 1, 0, 0, 0, 0, time.UTC)
	for ago := n - 1; ago >= 0; ago-- {
		begin := this.AddDate(0, -ago, 0)
		all = append(all, Month{Name: table + "_" + begin.Format("2006_01"), Begin: begin, Below: begin.AddDate(0, 1, 0)})
	}
	return all
}

// Partition runs postrider partition beside a server whose folder is given.
func Partition(ctx context.Context, binary, folder string, tables ...string) error {
	output, err := exec.CommandContext(ctx, binary, append([]string{"partition", "--data-dir", filepath.Join(folder, "data")}, tables...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("postrider partition: %w: %s", err, output)
	}
	return nil
}

// SplitMonths gives a table that is split and empty some months as if it had always had them. The first part,
// which postrider partition made for all of the past, ends before them.
func SplitMonths(ctx context.Context, databaseURL, table string, prefix id.Prefix, all []Month) (err error) {
	conn, err := sql.Open("postgres", databaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var first, bounds string
	if err := conn.QueryRowContext(ctx, `SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = $1::regclass AND pg_get_expr(c.relpartbound, c.oid) LIKE '%MINVALUE%'`, table).Scan(&first, &bounds); err != nil {
		return err
	}
	_, after, found := strings.Cut(bounds, "TO (")
	if !found {
		return fmt.Errorf("the first part of %s is %q, which is no range", table, bounds)
	}
	below := strings.TrimSuffix(after, ")")
	statements := []string{`ALTER TABLE ` + table + ` DETACH PARTITION ` + first,
		fmt.Sprintf(`ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (MINVALUE) TO ('%s')`, table, first, id.Since(prefix, all[0].Begin))}
	for i, m := range all {
		to := "'" + id.Since(prefix, m.Below) + "'"
		if i == len(all)-1 {
			to = below // it may be made for more than this month
		}
		statements = append(statements, fmt.Sprintf(`CREATE TABLE %s PARTITION OF %s FOR VALUES FROM ('%s') TO (%s)`, m.of(table), table, id.Since(prefix, m.Begin), to))
	}
	_, err = conn.ExecContext(ctx, strings.Join(statements, ";"))
	return err
}

// SplitEmails is SplitMonths of them.
func SplitEmails(ctx context.Context, databaseURL string, all []Month) error {
	for _, table := range WithEmails {
		if err := SplitMonths(ctx, databaseURL, table, id.Email, all); err != nil {
			return err
		}
	}
	return nil
}

// Year inserts delivered emails without bodies, with a recipient and an attempt each, evenly over a year, the older ones first.
func Year(ctx context.Context, databaseURL string, emails int, year []Month) error {
	const chunk = 10_000
	begin, end := year[0].Begin, time.Now().Add(-time.Hour)
	for at := 0; at < emails; at += chunk {
		made := begin.Add(time.Duration(float64(end.Sub(begin)) * float64(at) / float64(emails)))
		low := id.Since(id.Email, made)
		insert := strings.NewReplacer(`'msg_00000000' || lpad(i::text, 18, '0')`, fmt.Sprintf(`'%s' || lpad(i::text, 16, '0')`, low[:len(low)-16]),
			`repeat('One line of what was bought. ', 10)`, `''`, `now()`, fmt.Sprintf(`timestamptz '%s'`, made.Format(time.RFC3339))).Replace(emailsSQL)
		ids := fmt.Sprintf(`'%[1]s' || lpad('%[2]d', 16, '0') AND '%[1]s' || lpad('%[3]d', 16, '0')`, low[:len(low)-16], at+1, min(at+chunk, emails))
		if err := errors.Join(postgres.Exec(ctx, databaseURL, fmt.Sprintf(insert, at+1, min(at+chunk, emails))), postgres.Exec(ctx, databaseURL, recipientsSQL+ids),
			postgres.Exec(ctx, databaseURL, attemptsSQL+ids)); err != nil {
			return err
		}
	}
	var failed []error
	for _, table := range WithEmails {
		failed = append(failed, postgres.Exec(ctx, databaseURL, `VACUUM ANALYZE `+table))
	}
	return errors.Join(append(failed, postgres.Exec(ctx, databaseURL, `CHECKPOINT`))...)
}

const (
	recipientsSQL = `
INSERT INTO recipients (email_id, account_id, kind, address, destination, state, fence, attempts, created_at, settled_at)
SELECT id, account_id, 'to', "to" ->> 0, 'example.net', 'delivered', 2, 1, created_at, accepted.created_at FROM emails accepted WHERE id BETWEEN `
	attemptsSQL = `
INSERT INTO attempts (recipient_id, email_id, account_id, number, fence, started_at, finished_at, outcome, phase, code, reply)
SELECT id, email_id, account_id, 1, 1, created_at, settled_at, 'delivered', 'dot', 250, '250 2.0.0 OK: queued' FROM recipients WHERE email_id BETWEEN `
)

// Forget deletes the emails of a month, as retention has done when all are too old.
func Forget(ctx context.Context, databaseURL string, m Month) error {
	return errors.Join(postgres.Exec(ctx, databaseURL, fmt.Sprintf(`DELETE FROM attempts WHERE email_id < '%[1]s'; DELETE FROM emails WHERE id < '%[1]s'`, id.Since(id.Email, m.Below))), postgres.Exec(ctx, databaseURL, `CHECKPOINT`))
}

// Gone is an error while a part of a month is there.
func Gone(ctx context.Context, databaseURL string, m Month) (err error) {
	conn, err := sql.Open("postgres", databaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for _, table := range WithEmails {
		var there bool
		if err := conn.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, m.of(table)).Scan(&there); err != nil {
			return err
		}
		if there {
			return fmt.Errorf("%s was to be dropped and is there", m.of(table))
		}
	}
	return nil
}
