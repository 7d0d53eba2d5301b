package months

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	// Months are created up to mostAhead when fewer than leastAhead start after the current one, so that
	// requests wait for this only a few times a year. Each additional month costs a little planning time for
	// a page of the newest rows.
	mostAhead, leastAhead = 2, 1
	// youngest is how long a month must be over before it may be dropped, because a clock may be late.
	youngest = 32 * 24 * time.Hour
	// analyzeAfter is the maximum age of the statistics of the whole table. Autovacuum updates only those
	// of each month.
	analyzeAfter = 24 * time.Hour
)

// Maintenance is the result of Maintain.
type Maintenance struct {
	Created, Dropped []string // months
	Full             []string // rests that have rows, for which the operator should run postrider admin partition
}

// DropRule decides when the rows of a month of a table are no longer needed, so that it is dropped with
// them.
type DropRule struct {
	Table string
	// Ask reports whether no row with a value below a bound (Table.At) is needed, at the time of the
	// database.
	Ask func(ctx context.Context, on db.Execer, below string, now time.Time) (bool, error)
}

// Maintain creates the months ahead of split tables, drops those that are over and empty or unneeded, and
// reverts the changes of a killed move. If another process is doing this, Maintain does nothing. It is
// fast if there is nothing to do.
func Maintain(ctx context.Context, d *db.DB, log *slog.Logger, unneeded ...DropRule) (kept Maintenance, err error) {
	now, err := db.Now(ctx, d.SQL)
	if err != nil {
		return kept, fmt.Errorf("keep months: %w", err)
	}
	var failed []error
	for _, t := range tables {
		state, err := ReadTableState(ctx, d.SQL, t)
		if err == nil && (state.Split || state.limit != "") {
			err = runInSession(ctx, d, log, keepPatience,
				func(s session) error { return s.keepTable(ctx, t, now, &kept, unneeded) })
		}
		if errors.Is(err, errBusy) {
			return kept, errors.Join(failed...)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("keep months: %w", err))
		}
	}
	return kept, errors.Join(failed...)
}

// IsLate reports whether rows are, or soon will be, past the last month of a split table.
func (s *TableState) IsLate(ctx context.Context, on db.Execer) (bool, error) {
	now, err := db.Now(ctx, on)
	if err != nil || s.restPart().From <= s.Table.SmallestKey(now.AddDate(0, 0, 7)) {
		return err == nil, err
	}
	return hasRows(ctx, on, s.restPart().Name)
}

func (s session) keepTable(ctx context.Context, t Table, now time.Time, kept *Maintenance, unneeded []DropRule) error {
	state, err := ReadTableState(ctx, s.conn, t)
	if err != nil {
		return err
	}
	if !state.Split { // no process is moving it, because that would hold the session
		return s.dropLimits(ctx, t)
	}
	if err := s.dropLimits(ctx, t); err != nil {
		return err
	}
	if err := s.createMonthsAhead(ctx, &state, now, kept); err != nil {
		return err
	}
	if err := s.dropOld(ctx, &state, now, kept, unneeded); err != nil {
		return err
	}
	if err := s.dropDetached(ctx, t); err != nil {
		return err
	}
	return s.analyzeTable(ctx, t)
}

// createMonthsAhead creates months between the last one and the rest.
func (s session) createMonthsAhead(ctx context.Context, state *TableState, now time.Time, kept *Maintenance) error {
	t, rest := state.Table, state.restPart()
	used, err := hasRows(ctx, s.conn, rest.Name)
	if err != nil {
		return err
	}
	if used {
		kept.Full = append(kept.Full, rest.Name)
		return nil
	}
	this := Begin(now)
	if rest.From > t.monthBound(this.AddDate(0, leastAhead, 0)) {
		return nil
	}
	hangs, err := shapeOfSplit(ctx, s.conn, t)
	if err != nil {
		return err
	}
	step := MoveStep{What: t.Name + " has months ahead",
		Statements: []string{hangs.lockStatement(t), detachStatement(t, rest.Name), dropTable(rest.Name)},
		empty:      []string{rest.Name}, Brief: true}
	from := rest.From
	var made []string
	for from < t.monthBound(this.AddDate(0, mostAhead+1, 0)) {
		below := t.monthBound(t.Time(from).AddDate(0, 1, 0))
		step.Statements = append(step.Statements, hangs.createPart(t, t.monthName(from), from, below))
		made = append(made, t.monthName(from))
		from = below
	}
	step.Statements = append(step.Statements, hangs.createPart(t, rest.Name, from, ""))
	if _, err := s.retryInTx(ctx, step.What, func(on db.Execer) error { return step.runStep(ctx, on) }); err != nil {
		return err
	}
	kept.Created = append(kept.Created, made...)
	return nil
}

// dropOld drops the oldest months that are over, and empty or unneeded. The past part then covers their
// range.
func (s session) dropOld(ctx context.Context, state *TableState, now time.Time, kept *Maintenance,
	unneeded []DropRule) error {
	t := state.Table
	var gone, empty []string
	below := ""
	for _, m := range state.Months[:len(state.Months)-1] {
		if m.Below > t.SmallestKey(now.Add(-youngest)) {
			break
		}
		used, err := hasRows(ctx, s.conn, m.Name)
		if err != nil {
			return err
		}
		if !used {
			empty = append(empty, m.Name)
		} else if whole, err := s.isMonthUnneeded(ctx, t, m, now, unneeded); err != nil {
			return err
		} else if !whole {
			break
		}
		gone, below = append(gone, m.Name), m.Below
	}
	if len(gone) == 0 || len(gone) == 1 && gone[0] == t.pastName() {
		return nil
	}
	// So that checking for rows under the lock is fast. It runs at the pace of autovacuum.
	if err := runStatements(ctx, s.conn, "SET vacuum_cost_delay = 2"); err != nil {
		return err
	}
	for _, name := range empty {
		if err := s.runConcurrently(ctx, "VACUUM "+quoteIdentifier(name)); err != nil {
			return err
		}
	}
	dropped, err := s.replaceOldest(ctx, t, gone, empty, below)
	kept.Dropped = append(kept.Dropped, dropped...)
	return err
}

// isMonthUnneeded reports whether the rows of a month are no longer needed. Rows in the past part are deleted
// individually, so it is kept.
func (s session) isMonthUnneeded(ctx context.Context, t Table, m Month, now time.Time,
	all []DropRule) (whole bool, err error) {
	for _, u := range all {
		if u.Table != t.Name || m.Name == t.pastName() {
			continue
		}
		if whole, err = u.Ask(ctx, s.conn, m.Below, now); err != nil || !whole {
			return false, err
		}
	}
	return whole, nil
}

// replaceOldest replaces the oldest parts with a new past part and drops them. Those in empty must still be
// empty.
func (s session) replaceOldest(ctx context.Context, t Table, gone, empty []string,
	below string) (dropped []string, err error) {
	hangs, err := shapeOfSplit(ctx, s.conn, t)
	if err != nil {
		return nil, err
	}
	step := MoveStep{What: t.Name + " loses " + fmt.Sprint(gone), Statements: []string{hangs.lockStatement(t)},
		Brief: true, empty: empty}
	for _, name := range gone {
		step.Statements = append(step.Statements, detachStatement(t, name))
	}
	if slices.Contains(gone, t.pastName()) {
		step.Statements = append(step.Statements, dropTable(t.pastName()))
	}
	step.Statements = append(step.Statements, hangs.createPart(t, t.pastName(), "", below))
	for _, name := range gone {
		if name != t.pastName() {
			dropped = append(dropped, name)
			step.Statements = append(step.Statements, fmt.Sprintf("COMMENT ON TABLE %s IS %s", quoteIdentifier(name),
				quoteLiteral(detachedMark)))
		}
	}
	if _, err := s.retryInTx(ctx, step.What, func(on db.Execer) error { return step.runStep(ctx, on) }); err != nil {
		return nil, err
	}
	return dropped, s.dropDetached(ctx, t)
}

// detachedMark is the comment of a detached month, to be dropped in a separate transaction: deleting its
// files may take longer than requests should wait.
const (
	detachedMark = "postrider: a month that is over, to be dropped"
	detachedSQL  = `
SELECT c.relname FROM pg_class c JOIN pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_class'::regclass AND d.objsubid = 0
WHERE d.description = $1 AND c.relkind = 'r' AND NOT c.relispartition AND starts_with(c.relname, $2) AND pg_table_is_visible(c.oid)`
)

func (s session) dropDetached(ctx context.Context, t Table) error {
	names, err := db.All(ctx, s.conn, db.Value[string], detachedSQL, detachedMark, t.Name+"_")
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := s.retryInTx(ctx, name,
			func(on db.Execer) error { return runStatements(ctx, on, dropTable(name)) }); err != nil {
			return err
		}
	}
	return nil
}

const analyzedSQL = `SELECT coalesce(greatest(last_analyze, last_autoanalyze) > now() - $2 * interval '1 second', false) FROM pg_stat_all_tables WHERE relid = $1::regclass`

// analyzeTable updates the planner's statistics of the whole split table.
func (s session) analyzeTable(ctx context.Context, t Table) error {
	fresh, err := db.One(ctx, s.conn, db.Value[bool], analyzedSQL, t.Name, analyzeAfter.Seconds())
	if err != nil || fresh {
		return err
	}
	return s.runConcurrently(ctx, "ANALYZE "+quoteIdentifier(t.Name))
}
