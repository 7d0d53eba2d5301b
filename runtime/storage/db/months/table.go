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

// Table is one that grows with mail.
type Table struct {
	Name   string
	Column string    // whose ranges its months are
	Prefix id.Prefix // of the ids in it; empty: it has times

	plain, split []key  // what it is found by in one form alone
	numbered     bool   // its own ids are numbers that it gives
	needs        string // the migration that programs have which can do without one of the plain keys; others are refused from the move on
}

var tables = []Table{{Name: "facts", Column: "id", Prefix: id.Fact}, {Name: "received_emails", Column: "id", Prefix: id.ReceivedEmail},
	// Ids follow from the columns of its unique index, which does not stay unique, and is not made so again.
	{Name: "webhook_deliveries", Column: "id", Prefix: id.WebhookDelivery, split: []key{{name: "webhookdelivery_event_id_webhook_id", columns: "event_id, webhook_id"}}, needs: "delivery_ids_of_events"},
	{Name: "emails", Column: "id", Prefix: id.Email},
	// Programs from before look for the numbers alone: indexes of these stay for them, and for operators.
	{Name: "recipients", Column: "email_id", Prefix: id.Email, numbered: true,
		plain: []key{{name: "recipients_pkey", columns: "id", unique: true, primary: true}, {name: "recipient_email_id", columns: "email_id"}},
		split: []key{{name: "recipients_pkey", columns: "email_id, id", unique: true, primary: true}, {name: "recipient_id", columns: "id"}}},
	{Name: "attempts", Column: "email_id", Prefix: id.Email, numbered: true,
		plain: []key{{name: "attempts_pkey", columns: "id", unique: true, primary: true}, {name: "attempt_email_id", columns: "email_id"},
			{name: "attempt_recipient_id_fence", columns: "recipient_id, fence", unique: true}},
		split: []key{{name: "attempts_pkey", columns: "email_id, recipient_id, fence", unique: true, primary: true}, {name: "attempt_id", columns: "id"},
			{name: "attempt_recipient_id_fence", columns: "recipient_id, fence"}}},
	// Their primary keys have the time in them.
	{Name: "statistics_days", Column: "start"}, {Name: "statistics_months", Column: "start"}, {Name: "statistics_reasons", Column: "start"}, {Name: "statistics_received", Column: "start"}}

// Tables are those that can be split, in the order in which it is done: what refers to another comes after it.
func Tables() []Table { return slices.Clone(tables) }

// Named gives the tables of the names, or all of them.
func Named(names ...string) ([]Table, error) {
	if len(names) == 0 {
		return Tables(), nil
	}
	var found []Table
	for _, name := range names {
		at := slices.IndexFunc(tables, func(t Table) bool { return t.Name == name })
		if at < 0 {
			return nil, fault.InvalidField("table", "%s is none of %s", name, allNames())
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

// bound is the least value of the month that a time is in.
func (t Table) bound(at time.Time) string { return t.At(Begin(at)) }

// At is the least value that the column has for a time: an id, or the time itself as RFC 3339 has it, in UTC and whole seconds.
func (t Table) At(at time.Time) string {
	if t.Prefix == "" {
		return at.UTC().Format(time.RFC3339)
	}
	return id.Since(t.Prefix, at)
}

// Time is the time that a value is of. Of other text it is the zero time.
func (t Table) Time(value string) time.Time {
	if t.Prefix != "" {
		return id.Time(value)
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05Z07", "2006-01-02 15:04:05Z07:00"} { // the latter by PostgreSQL
		if at, err := time.Parse(layout, value); err == nil {
			return at
		}
	}
	return time.Time{}
}

// value is a value as a Table has it, of what PostgreSQL says; nothing stays nothing.
func (t Table) value(text string) string {
	if t.Prefix != "" || text == "" {
		return text
	}
	return t.At(t.Time(text))
}

// Begin is the beginning of the month that a time is in, in UTC.
func Begin(at time.Time) time.Time {
	at = at.UTC()
	return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
}

func (t Table) first(bound string) string {
	return t.Name + "_before_" + t.Time(bound).UTC().Format("2006_01")
}
func (t Table) month(from string) string { return t.Name + "_" + t.Time(from).UTC().Format("2006_01") }
func (t Table) past() string             { return t.Name + "_past" }
func (t Table) rest() string             { return t.Name + "_rest" }

// Needs is the version of the migration that programs must have to work on the table once it is split; empty: none.
func (t Table) Needs(d *db.DB) string {
	if t.needs == "" {
		return ""
	}
	return d.VersionOf(t.needs)
}

// limitName is the constraint by which a plain table proves that it can be a month.
func (t Table) limitName() string { return t.Name + "_ends" }

// Month is a part of a split table.
type Month struct {
	Name        string
	From, Below string // values of the column; empty: no bound
	Bytes       int64
}

// State is how a table stands.
type State struct {
	Table  Table
	Split  bool
	Bytes  int64   // with indexes
	Months []Month // by their bounds; of a split table

	limit     string       // the bound that a plain table is being moved with; empty: it is not
	unchecked []constraint // references to a split table that hold for new rows only as yet, or for each part of a table by itself
}

// rest is the last part.
func (s *State) rest() Month { return s.Months[len(s.Months)-1] }

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

// Split tells whether a table is split.
func Split(ctx context.Context, on db.Execer, table string) (bool, error) {
	return db.One(ctx, on, db.Value[bool], `SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass($1)`, table)
}

// Look tells how a table stands.
func Look(ctx context.Context, on db.Execer, t Table) (State, error) {
	s, err := db.One(ctx, on, func(s *State) []any { return []any{&s.Split, &s.Bytes} }, kindSQL, t.Name)
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
		return s, fmt.Errorf("look at %s: %w", t.Name, err)
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
			return nil, fmt.Errorf("its part %s is %s, which is no range of ids or times", all[i].Name, all[i].From)
		}
		all[i].From, all[i].Below = t.value(textOf(found[1])), t.value(textOf(found[2]))
	}
	slices.SortFunc(all, func(a, b Month) int { return strings.Compare(a.From, b.From) })
	if n := len(all); n == 0 || all[0].From != "" || all[n-1].Below != "" {
		return nil, fmt.Errorf("it is split, and its %d parts do not hold every id: a first or a last one is missing", n)
	}
	return all, nil
}

// limitOf is the bound that a table is being moved with; empty: it is not.
func limitOf(ctx context.Context, on db.Execer, t Table, table string) (string, error) {
	definition, err := db.One(ctx, on, db.Value[string], limitSQL, table, t.limitName())
	if found := limitText.FindStringSubmatch(definition); found != nil {
		return t.value(found[1]), err
	}
	return "", err
}

// textOf is the value of a bound, and nothing where there is no bound.
func textOf(text string) string {
	quoted, is := strings.CutPrefix(text, "'")
	if !is {
		return ""
	}
	return strings.TrimSuffix(quoted, "'")
}
