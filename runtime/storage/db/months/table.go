package months

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Table is a table that grows with mail.
type Table struct {
	Name   string
	Column string    // the column whose ranges are the months
	Prefix id.Prefix // of the ids in the column; empty if it contains times

	plain, split []key // keys that exist in one form only
	numbered     bool  // its own ids are generated numbers
	// the migration after which programs do not depend on one of the plain keys; older programs are rejected
	// after the move
	needs string
}

var tables = []Table{{Name: "facts", Column: "id", Prefix: id.Fact},
	{Name: "received_emails", Column: "id", Prefix: id.ReceivedEmail},
	// Ids are derived from the columns of its unique index, which loses its uniqueness and is not restored.
	{Name: "webhook_deliveries", Column: "id", Prefix: id.WebhookDelivery,
		split: []key{{name: "webhookdelivery_event_id_webhook_id", columns: "event_id, webhook_id"}},
		needs: "delivery_ids_of_events"},
	{Name: "emails", Column: "id", Prefix: id.Email},
	// Older programs look up the numbers alone: the indexes on these are kept for them, and for operators.
	{Name: "recipients", Column: "email_id", Prefix: id.Email, numbered: true,
		plain: []key{{name: "recipients_pkey", columns: "id", unique: true, primary: true},
			{name: "recipient_email_id", columns: "email_id"}},
		split: []key{{name: "recipients_pkey", columns: "email_id, id", unique: true, primary: true},
			{name: "recipient_id", columns: "id"}}},
	{Name: "attempts", Column: "email_id", Prefix: id.Email, numbered: true,
		plain: []key{{name: "attempts_pkey", columns: "id", unique: true, primary: true},
			{name: "attempt_email_id", columns: "email_id"},
			{name: "attempt_recipient_id_fence", columns: "recipient_id, fence", unique: true}},
		split: []key{{name: "attempts_pkey", columns: "email_id, recipient_id, fence", unique: true, primary: true},
			{name: "attempt_id", columns: "id"},
			{name: "attempt_recipient_id_fence", columns: "recipient_id, fence"}}},
	// Their primary keys include the time.
	{Name: "statistics_days", Column: "start"}, {Name: "statistics_months", Column: "start"},
	{Name: "statistics_reasons", Column: "start"}, {Name: "statistics_received", Column: "start"}}

// Tables returns the tables that can be split, in the order in which to split them: a table comes after
// those that it refers to.
func Tables() []Table { return slices.Clone(tables) }

// FindTables returns the tables with the given names, or all of them.
func FindTables(names ...string) ([]Table, error) {
	if len(names) == 0 {
		return Tables(), nil
	}
	var found []Table
	for _, name := range names {
		at := slices.IndexFunc(tables, func(t Table) bool { return t.Name == name })
		if at < 0 {
			return nil, fault.InvalidField("table", "%s must be one of %s", name, allNames())
		}
		found = append(found, tables[at])
	}
	return found, nil
}

func allNames() string {
	all := make([]string, len(tables))
	for i, t := range tables {
		all[i] = t.Name
	}
	return strings.Join(all, ", ")
}

// monthBound returns the smallest value of the month that contains a time.
func (t Table) monthBound(at time.Time) string { return t.SmallestKey(Begin(at)) }

// SmallestKey returns the smallest value of the column for a time: an id, or the time itself in RFC 3339 format, in
// UTC and whole seconds.
func (t Table) SmallestKey(at time.Time) string {
	if t.Prefix == "" {
		return at.UTC().Format(time.RFC3339)
	}
	return id.Since(t.Prefix, at)
}

// Time returns the time of a value, or the zero time for any other text.
func (t Table) Time(value string) time.Time {
	if t.Prefix != "" {
		return id.Time(value)
	}
	// the latter are PostgreSQL's formats
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05Z07", "2006-01-02 15:04:05Z07:00"} {
		if at, err := time.Parse(layout, value); err == nil {
			return at
		}
	}
	return time.Time{}
}

// parseValue converts a value from PostgreSQL's format to that of a Table; empty stays empty.
func (t Table) parseValue(text string) string {
	if t.Prefix != "" || text == "" {
		return text
	}
	return t.SmallestKey(t.Time(text))
}

// Begin returns the start of the month that contains a time, in UTC.
func Begin(at time.Time) time.Time {
	at = at.UTC()
	return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
}

func (t Table) firstMonthName(bound string) string {
	return t.Name + "_before_" + t.Time(bound).UTC().Format("2006_01")
}
func (t Table) monthName(from string) string {
	return t.Name + "_" + t.Time(from).UTC().Format("2006_01")
}
func (t Table) pastName() string { return t.Name + "_past" }
func (t Table) restName() string { return t.Name + "_rest" }

// RequiredMigration returns the version of the migration that programs need for the table once it is split; may be
// empty.
func (t Table) RequiredMigration(d *db.DB) string {
	if t.needs == "" {
		return ""
	}
	return d.VersionOf(t.needs)
}

// limitName returns the name of the constraint that proves that a plain table can become a month.
func (t Table) limitName() string { return t.Name + "_ends" }

// Month is a part of a split table.
type Month struct {
	Name        string
	From, Below string // values of the column; empty if unbounded
	Bytes       int64
}

// TableState is the current form of a table.
type TableState struct {
	Table  Table
	Split  bool
	Bytes  int64   // including indexes
	Months []Month // of a split table, ordered by bounds

	limit string // the bound of a move in progress; empty if there is none
	// references to a split table that are validated for new rows only, or for the parts of a table
	// individually
	unchecked []constraint
}

// restPart returns the last part.
func (s *TableState) restPart() Month { return s.Months[len(s.Months)-1] }

const (
	kindSQL   = `SELECT c.relkind = 'p', coalesce((SELECT sum(pg_total_relation_size(t.relid)) FROM pg_partition_tree(c.oid) t), pg_total_relation_size(c.oid))::bigint FROM pg_class c WHERE c.oid = to_regclass($1)`
	monthsSQL = `
SELECT c.relname, pg_get_expr(c.relpartbound, c.oid), pg_total_relation_size(c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = $1::regclass`
	uncheckedSQL = `
SELECT quote_ident(r.relname), k.conname, pg_get_constraintdef(k.oid), coalesce(quote_ident(whole.relname), '') FROM pg_constraint k JOIN pg_class r ON r.oid = k.conrelid
LEFT JOIN pg_inherits h ON h.inhrelid = r.oid AND r.relispartition LEFT JOIN pg_class whole ON whole.oid = h.inhparent
WHERE k.confrelid = $1::regclass AND k.contype = 'f' AND k.conparentid = 0 AND (NOT k.convalidated OR whole.oid IS NOT NULL) ORDER BY 1, 2`
	limitSQL = `SELECT coalesce((SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = to_regclass($1) AND conname = $2 AND contype = 'c'), '')`
)

var (
	rangeText = regexp.MustCompile(`FROM \((MINVALUE|'[^']*')\) TO \((MAXVALUE|'[^']*')\)`)
	limitText = regexp.MustCompile(`'([^']*)'`)
)

// Split reports whether a table is split.
func Split(ctx context.Context, on db.Execer, table string) (bool, error) {
	return db.One(ctx, on, db.Value[bool], `SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass($1)`, table)
}

// ReadTableState returns the current form of a table.
func ReadTableState(ctx context.Context, on db.Execer, t Table) (TableState, error) {
	s, err := db.One(ctx, on, func(s *TableState) []any { return []any{&s.Split, &s.Bytes} }, kindSQL, t.Name)
	s.Table = t
	switch {
	case err != nil:
	case s.Split:
		if s.Months, err = monthsOf(ctx, on, t); err == nil {
			s.unchecked, err = db.All(ctx, on, columnsOf, uncheckedSQL, t.Name)
		}
	default:
		s.limit, err = limitOf(ctx, on, t, t.Name)
	}
	if err != nil {
		return s, fmt.Errorf("read the form of %s: %w", t.Name, err)
	}
	return s, nil
}

func monthsOf(ctx context.Context, on db.Execer, t Table) ([]Month, error) {
	all, err := db.All(ctx, on, func(m *Month) []any { return []any{&m.Name, &m.From, &m.Bytes} }, monthsSQL, t.Name)
	if err != nil {
		return nil, err
	}
	for i := range all {
		found := rangeText.FindStringSubmatch(all[i].From)
		if found == nil {
			return nil, fmt.Errorf("its part %s is %s, which is not a range of ids or times", all[i].Name, all[i].From)
		}
		all[i].From, all[i].Below = t.parseValue(textOf(found[1])), t.parseValue(textOf(found[2]))
	}
	slices.SortFunc(all, func(a, b Month) int { return strings.Compare(a.From, b.From) })
	if n := len(all); n == 0 || all[0].From != "" || all[n-1].Below != "" {
		return nil,
			fmt.Errorf("it is split, but its %d parts do not cover every id: the first or the last one is missing", n)
	}
	return all, nil
}

// limitOf returns the bound of a move in progress; empty if there is none.
func limitOf(ctx context.Context, on db.Execer, t Table, table string) (string, error) {
	definition, err := db.One(ctx, on, db.Value[string], limitSQL, table, t.limitName())
	if found := limitText.FindStringSubmatch(definition); found != nil {
		return t.parseValue(found[1]), err
	}
	return "", err
}

// textOf returns the value of a bound; empty if there is none.
func textOf(text string) string {
	quoted, is := strings.CutPrefix(text, "'")
	if !is {
		return ""
	}
	return strings.TrimSuffix(quoted, "'")
}
