package stored

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/cmd/bench/postgres"
	"github.com/postrider/postrider/runtime/id"
)

// Month is one of a year of emails.
type Month struct {
	Name         string // of its part of the split table
	Begin, Below time.Time
}

// YearBefore are twelve months, the last of which is that of the time.
func YearBefore(now time.Time) (year []Month) {
	this := time.Date(now.UTC().Year(), now.UTC().Month(), 1, 0, 0, 0, 0, time.UTC)
	for ago := 11; ago >= 0; ago-- {
		begin := this.AddDate(0, -ago, 0)
		year = append(year, Month{Name: "emails_" + begin.Format("2006_01"), Begin: begin, Below: begin.AddDate(0, 1, 0)})
	}
	return year
}

// SplitYear gives emails, which are split and none, the months of a year as if they had always been so. The first part,
// which postrider partition made for all of the past, ends before them.
func SplitYear(ctx context.Context, databaseURL string, year []Month) (err error) {
	conn, err := sql.Open("postgres", databaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var first, bounds string
	if err := conn.QueryRowContext(ctx, `SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = 'emails'::regclass AND pg_get_expr(c.relpartbound, c.oid) LIKE '%MINVALUE%'`).Scan(&first, &bounds); err != nil {
		return err
	}
	_, after, found := strings.Cut(bounds, "TO (")
	if !found {
		return fmt.Errorf("the first part of emails is %q, which is no range", bounds)
	}
	below := strings.TrimSuffix(after, ")")
	statements := []string{`ALTER TABLE emails DETACH PARTITION ` + first,
		fmt.Sprintf(`ALTER TABLE emails ATTACH PARTITION %s FOR VALUES FROM (MINVALUE) TO ('%s')`, first, id.Since(id.Email, year[0].Begin))}
	for i, m := range year {
		to := "'" + id.Since(id.Email, m.Below) + "'"
		if i == len(year)-1 {
			to = below // it may be made for more than this month
		}
		statements = append(statements, fmt.Sprintf(`CREATE TABLE %s PARTITION OF emails FOR VALUES FROM ('%s') TO (%s)`, m.Name, id.Since(id.Email, m.Begin), to))
	}
	_, err = conn.ExecContext(ctx, strings.Join(statements, ";"))
	return err
}

// Year inserts delivered emails without bodies, evenly over a year, the older ones first.
func Year(ctx context.Context, databaseURL string, emails int, year []Month) error {
	const chunk = 10_000
	begin, end := year[0].Begin, time.Now().Add(-time.Hour)
	for at := 0; at < emails; at += chunk {
		made := begin.Add(time.Duration(float64(end.Sub(begin)) * float64(at) / float64(emails)))
		low := id.Since(id.Email, made)
		insert := strings.NewReplacer(`'msg_00000000' || lpad(i::text, 18, '0')`, fmt.Sprintf(`'%s' || lpad(i::text, 16, '0')`, low[:len(low)-16]),
			`repeat('One line of what was bought. ', 10)`, `''`, `now()`, fmt.Sprintf(`timestamptz '%s'`, made.Format(time.RFC3339))).Replace(emailsSQL)
		if err := postgres.Exec(ctx, databaseURL, fmt.Sprintf(insert, at+1, min(at+chunk, emails))); err != nil {
			return err
		}
	}
	return errors.Join(postgres.Exec(ctx, databaseURL, `VACUUM ANALYZE emails`), postgres.Exec(ctx, databaseURL, `CHECKPOINT`))
}

// Forget deletes the emails of a month, as retention has done when all are too old.
func Forget(ctx context.Context, databaseURL string, m Month) error {
	return errors.Join(postgres.Exec(ctx, databaseURL, fmt.Sprintf(`DELETE FROM emails WHERE id < '%s'`, id.Since(id.Email, m.Below))), postgres.Exec(ctx, databaseURL, `CHECKPOINT`))
}

// Gone is an error while the part of a month is there.
func Gone(ctx context.Context, databaseURL string, m Month) (err error) {
	conn, err := sql.Open("postgres", databaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var there bool
	if err := conn.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, m.Name).Scan(&there); err != nil {
		return err
	}
	if there {
		return fmt.Errorf("%s was to be dropped and is there", m.Name)
	}
	return nil
}
