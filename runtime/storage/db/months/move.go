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
	// nearLimit is the minimum distance to the bound of an interrupted move: no new row may reach it.
	nearLimit = 14 * 24 * time.Hour
	// farthest is how far in the future the latest id of a table may be.
	farthest = 366 * 24 * time.Hour
)

// Step is a part of Move or Undo, after which the database is consistent.
type Step struct {
	What       string
	Statements []string
	// Brief means that the statements run in one transaction that blocks all requests for the table; others
	// block none.
	Brief bool

	empty []string // parts that must be empty after the first statement
}

// Tell reports what has been done, or that a step begins that may take long.
type Tell func(what string)

// Move splits a plain table, or continues a split; in a split table it creates a month from a rest that has
// rows. It can be interrupted at any time and run again. Errors name the obstacle.
func Move(ctx context.Context, d *db.DB, t Table, log *slog.Logger, tell Tell) error {
	err := within(ctx, d, log, movePatience, func(s session) error {
		steps, err := stepsOf(ctx, s.conn, t)
		if err != nil {
			return err
		}
		return s.take(ctx, steps, tell)
	})
	if err == nil {
		return nil
	}
	// Otherwise new rows would eventually reach the bound. Keep does the same for a killed process. A
	// stopped session has lost its connection.
	undo := context.WithoutCancel(ctx)
	if cleared := within(undo, d, log, clearPatience, func(s session) error { return s.dropLimits(undo, t) }); cleared != nil {
		err = errors.Join(err, fmt.Errorf("and its bound is left, run it again or start a process: %w", cleared))
	}
	return fmt.Errorf("split %s: %w", t.Name, err)
}

// Plan returns the steps of Move. It changes nothing.
func Plan(ctx context.Context, d *db.DB, t Table) ([]Step, error) { return stepsOf(ctx, d.SQL, t) }

// take executes steps in order.
func (s session) take(ctx context.Context, steps []Step, tell Tell) error {
	for _, step := range steps {
		if !step.Brief {
			tell(step.What + "; requests go on meanwhile")
			for _, statement := range step.Statements {
				if err := s.beside(ctx, statement); err != nil {
					return err
				}
			}
			continue
		}
		took, err := s.patiently(ctx, step.What, func(on db.Execer) error { return step.run(ctx, on) })
		if err != nil {
			return err
		}
		tell(fmt.Sprintf("%s; requests waited for %s", step.What, took.Round(time.Millisecond)))
	}
	return nil
}

func (step Step) run(ctx context.Context, on db.Execer) error {
	if err := run(ctx, on, step.Statements[0]); err != nil {
		return err
	}
	for _, part := range step.empty {
		switch used, err := hasRows(ctx, on, part); {
		case err != nil:
			return err
		case used:
			return fmt.Errorf("%s has rows", part)
		}
	}
	return run(ctx, on, step.Statements[1:]...)
}

// stepsOf returns the remaining steps to a split table.
func stepsOf(ctx context.Context, on db.Execer, t Table) (steps []Step, err error) {
	state, err := Look(ctx, on, t)
	if err != nil {
		return nil, err
	}
	if state.Split {
		steps, err = closing(ctx, on, &state)
	} else {
		steps, err = splitting(ctx, on, &state)
	}
	if err != nil {
		return nil, err
	}
	steps = append(steps, check(t, state.unchecked)...)
	if len(steps) > 0 {
		steps = append(steps, Step{What: "reading the statistics of " + t.Name, Statements: []string{"ANALYZE " + quote(t.Name)}})
	}
	return steps, nil
}

// splitting returns the steps that turn a plain table into the first month of a split one.
func splitting(ctx context.Context, on db.Execer, state *State) ([]Step, error) {
	t := state.Table
	hangs, err := readShape(ctx, on, t)
	if err != nil {
		return nil, err
	}
	bound, err := limitFor(ctx, on, t)
	if err != nil {
		return nil, err
	}
	state.unchecked = hangs.references
	steps := limiting(t, t.Name, &bound, state.limit)
	first := t.first(bound)
	all := append([]string{hangs.lock(t)}, hangs.release()...)
	keys := t.rekey(hangs.indexes, t.split, t.Name, t.Name)
	hangs.indexes = keys.indexes
	steps, all = append(steps, keys.beside...), append(all, keys.brief...)
	all = append(all, fmt.Sprintf("ALTER TABLE %s RENAME TO %s", quote(t.Name), quote(first)))
	if t.numbered {
		all = append(all, setAside(t))
	}
	for _, i := range hangs.indexes {
		all = append(all, i.rename(first, aside(i.name)))
	}
	all = append(all, hangs.split(t, first)...)
	all = append(all, attach(t, first, "", bound), unlimit(t, first), hangs.part(t, t.rest(), bound, ""))
	if t.needs != "" {
		all = append(all, db.RequireSQL(t.needs))
	}
	return append(steps, Step{What: t.Name + " is split", Statements: append(all, hangs.refer()...), Brief: true}), nil
}

// closing returns the steps that turn a rest with rows into a month, followed by an empty rest.
func closing(ctx context.Context, on db.Execer, state *State) ([]Step, error) {
	t, rest := state.Table, state.rest()
	if used, err := hasRows(ctx, on, rest.Name); err != nil || !used {
		return nil, err
	}
	hangs, err := shapeOfSplit(ctx, on, t)
	if err != nil {
		return nil, err
	}
	bound, err := limitFor(ctx, on, t)
	if err != nil {
		return nil, err
	}
	begun, err := limitOf(ctx, on, t, rest.Name)
	if err != nil {
		return nil, err
	}
	state.unchecked = hangs.references
	steps := limiting(t, rest.Name, &bound, begun)
	month := t.month(rest.From)
	all := append([]string{hangs.lock(t)}, hangs.release()...)
	all = append(all, detach(t, rest.Name), fmt.Sprintf("ALTER TABLE %s RENAME TO %s", quote(rest.Name), quote(month)),
		attach(t, month, rest.From, bound), unlimit(t, month), hangs.part(t, t.rest(), bound, ""))
	return append(steps, Step{What: rest.Name + " is the month " + month, Statements: append(all, hangs.refer()...), Brief: true}), nil
}

// limiting returns the steps that prove that a table holds no id at or after the bound. A constraint of an
// earlier attempt is reused with its own bound.
func limiting(t Table, table string, bound *string, begun string) []Step {
	var steps []Step
	if begun != "" && time.Until(t.Time(begun)) > nearLimit {
		*bound = begun
	} else {
		steps = append(steps, Step{What: table + " takes no " + t.Column + " from " + t.dateOf(*bound) + " on, until it is split", Statements: []string{unlimit(t, table), limit(t, table, *bound)}, Brief: true})
	}
	return append(steps, Step{What: "looking whether every " + t.Column + " of " + table + " is before " + t.dateOf(*bound),
		Statements: []string{fmt.Sprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s", quote(table), quote(t.limitName()))}})
}

// limitFor returns the bound for the current rows of a table: a full month lies between it and all ids that
// exist or are created soon.
func limitFor(ctx context.Context, on db.Execer, t Table) (string, error) {
	now, err := db.Now(ctx, on)
	if err != nil {
		return "", err
	}
	latest, err := db.One(ctx, on, db.Value[string], `SELECT coalesce(max(`+t.Column+`)::text, '') FROM `+quote(t.Name))
	if err != nil {
		return "", err
	}
	at := t.Time(latest)
	if at.After(now.Add(farthest)) {
		return "", fmt.Errorf("the %s %s is of %s: a clock was wrong; delete that row first", t.Column, latest, at.UTC().Format(time.DateOnly))
	}
	if at.Before(now) {
		at = now
	}
	return t.bound(Begin(at).AddDate(0, 2, 0)), nil
}

// dropLimits removes the constraint and everything else left by an unfinished move.
func (s session) dropLimits(ctx context.Context, t Table) error {
	_, nexts := t.keyNames()
	left, err := db.All(ctx, s.conn, db.Value[string], `SELECT name FROM unnest($1::text[]) name WHERE to_regclass(name) IS NOT NULL`, db.Array(nexts))
	if err != nil {
		return err
	}
	for _, name := range left {
		if err := s.beside(ctx, dropNext(name)); err != nil {
			return err
		}
	}
	for _, table := range []string{t.Name, t.rest()} {
		begun, err := limitOf(ctx, s.conn, t, table)
		if err != nil {
			return err
		}
		if begun == "" {
			continue
		}
		if _, err := s.patiently(ctx, table, func(on db.Execer) error { return run(ctx, on, unlimit(t, table)) }); err != nil {
			return err
		}
	}
	return nil
}

func limit(t Table, table, bound string) string {
	return fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s < %s) NOT VALID", quote(table), quote(t.limitName()), t.Column, literal(bound))
}

func unlimit(t Table, table string) string {
	return fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s", quote(table), quote(t.limitName()))
}

func (t Table) dateOf(bound string) string { return t.Time(bound).UTC().Format(time.DateOnly) }

// Undo makes a split table plain again. It fails unless only its first month has rows.
func Undo(ctx context.Context, d *db.DB, t Table, log *slog.Logger, tell Tell) error {
	err := within(ctx, d, log, movePatience, func(s session) error {
		state, err := Look(ctx, s.conn, t)
		if err != nil || !state.Split {
			return err
		}
		steps, err := joining(ctx, s.conn, &state)
		if err != nil {
			return err
		}
		return s.take(ctx, steps, tell)
	})
	if err != nil {
		return fmt.Errorf("join %s: %w", t.Name, err)
	}
	return nil
}

// joining returns the steps that turn the first month into the plain table again.
func joining(ctx context.Context, on db.Execer, state *State) ([]Step, error) {
	t, first := state.Table, state.Months[0]
	hangs, err := shapeOfSplit(ctx, on, t)
	if err != nil {
		return nil, err
	}
	step := Step{What: t.Name + " is plain", Brief: true}
	for _, m := range state.Months[1:] {
		used, err := hasRows(ctx, on, m.Name)
		if err != nil {
			return nil, err
		}
		if used {
			return nil, fmt.Errorf("%s has rows: it goes back only while all are in %s", m.Name, first.Name)
		}
		step.empty = append(step.empty, m.Name)
	}
	all := append([]string{hangs.lock(t)}, hangs.release()...)
	all = append(all, detach(t, first.Name))
	if t.numbered {
		all = append(append(all, setAside(t)), hangs.renumber(t, first.Name)...)
	}
	all = append(all, "DROP TABLE "+quote(t.Name), fmt.Sprintf("ALTER TABLE %s RENAME TO %s", quote(first.Name), quote(t.Name)))
	indexes, err := db.All(ctx, on, func(i *index) []any { return []any{&i.name, &i.definition, &i.primary} }, pairsSQL, first.Name)
	if err != nil {
		return nil, err
	}
	for _, i := range indexes { // former parts of indexes
		all = append(all, i.rename(t.Name, i.definition))
	}
	var steps []Step
	if len(t.plain) > 0 {
		keys := t.rekey(hangs.indexes, t.plain, first.Name, t.Name)
		steps, all = append(steps, keys.beside...), append(all, keys.brief...)
	}
	step.Statements = slices.Concat(all, hangs.refer())
	return append(append(steps, step), check(t, hangs.references)...), nil
}
