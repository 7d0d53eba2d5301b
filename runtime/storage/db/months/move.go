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
	// nearLimit is the minimum distance to the bound of an interrupted move, which no new row may reach.
	nearLimit = 14 * 24 * time.Hour
	// farthest is how far in the future the latest id of a table may be.
	farthest = 366 * 24 * time.Hour
)

// MoveStep is a part of Move or Undo, after which the database is consistent.
type MoveStep struct {
	What       string
	Statements []string
	// Brief means that the statements run in one transaction that blocks all requests for the table; others
	// block none.
	Brief bool

	empty []string // parts that must be empty after the first statement
}

// Tell reports a completed step, or the beginning of a step that may take long.
type Tell func(what string)

// Move splits a plain table, or continues a split. In a split table it creates a month from a rest that has
// rows. It can be interrupted at any time and run again. Errors describe the obstacle.
func Move(ctx context.Context, d *db.DB, t Table, log *slog.Logger, tell Tell) error {
	err := runInSession(ctx, d, log, movePatience, func(s session) error {
		steps, err := stepsOf(ctx, s.conn, t)
		if err != nil {
			return err
		}
		return s.takeSteps(ctx, steps, tell)
	})
	if err == nil {
		return nil
	}
	// Otherwise new rows would eventually reach the bound. Maintain does the same for a killed process. A
	// stopped session has lost its connection.
	undo := context.WithoutCancel(ctx)
	if cleared := runInSession(undo, d, log, clearPatience,
		func(s session) error { return s.dropLimits(undo, t) }); cleared != nil {
		err = errors.Join(err, fmt.Errorf("and its bound remains, run it again or start a process: %w", cleared))
	}
	return fmt.Errorf("split %s: %w", t.Name, err)
}

// Plan returns the steps of Move. It changes nothing.
func Plan(ctx context.Context, d *db.DB, t Table) ([]MoveStep, error) { return stepsOf(ctx, d.SQL, t) }

// takeSteps executes steps in order.
func (s session) takeSteps(ctx context.Context, steps []MoveStep, tell Tell) error {
	for _, step := range steps {
		if !step.Brief {
			tell(step.What + "; requests continue meanwhile")
			for _, statement := range step.Statements {
				if err := s.runConcurrently(ctx, statement); err != nil {
					return err
				}
			}
			continue
		}
		took, err := s.retryInTx(ctx, step.What, func(on db.Execer) error { return step.runStep(ctx, on) })
		if err != nil {
			return err
		}
		tell(fmt.Sprintf("%s; requests waited for %s", step.What, took.Round(time.Millisecond)))
	}
	return nil
}

func (step MoveStep) runStep(ctx context.Context, on db.Execer) error {
	if err := runStatements(ctx, on, step.Statements[0]); err != nil {
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
	return runStatements(ctx, on, step.Statements[1:]...)
}

// stepsOf returns the remaining steps to a split table.
func stepsOf(ctx context.Context, on db.Execer, t Table) (steps []MoveStep, err error) {
	state, err := ReadTableState(ctx, on, t)
	if err != nil {
		return nil, err
	}
	if state.Split {
		steps, err = closeSteps(ctx, on, &state)
	} else {
		steps, err = splitSteps(ctx, on, &state)
	}
	if err != nil {
		return nil, err
	}
	steps = append(steps, validationSteps(t, state.unchecked)...)
	if len(steps) > 0 {
		steps = append(steps, MoveStep{What: "reading the statistics of " + t.Name,
			Statements: []string{"ANALYZE " + quoteIdentifier(t.Name)}})
	}
	return steps, nil
}

// splitSteps returns the steps that turn a plain table into the first month of a split one.
func splitSteps(ctx context.Context, on db.Execer, state *TableState) ([]MoveStep, error) {
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
	steps := limitSteps(t, t.Name, &bound, state.limit)
	first := t.firstMonthName(bound)
	all := append([]string{hangs.lockStatement(t)}, hangs.dropReferences()...)
	keys := t.replaceKeys(hangs.indexes, t.split, t.Name, t.Name)
	hangs.indexes = keys.indexes
	steps, all = append(steps, keys.beside...), append(all, keys.brief...)
	all = append(all, fmt.Sprintf("ALTER TABLE %s RENAME TO %s", quoteIdentifier(t.Name), quoteIdentifier(first)))
	if t.numbered {
		all = append(all, setAside(t))
	}
	for _, i := range hangs.indexes {
		all = append(all, i.renameStatement(first, firstMonthIndexName(i.name)))
	}
	all = append(all, hangs.splitStatements(t, first)...)
	all = append(all, attachStatement(t, first, "", bound), unlimitStatement(t, first),
		hangs.createPart(t, t.restName(), bound, ""))
	if t.needs != "" {
		all = append(all, db.RequireSQL(t.needs))
	}
	return append(steps, MoveStep{What: t.Name + " is split", Statements: append(all, hangs.createReferences()...),
		Brief: true}), nil
}

// closeSteps returns the steps that turn a rest with rows into a month, followed by an empty rest.
func closeSteps(ctx context.Context, on db.Execer, state *TableState) ([]MoveStep, error) {
	t, rest := state.Table, state.restPart()
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
	steps := limitSteps(t, rest.Name, &bound, begun)
	month := t.monthName(rest.From)
	all := append([]string{hangs.lockStatement(t)}, hangs.dropReferences()...)
	all = append(all, detachStatement(t, rest.Name),
		fmt.Sprintf("ALTER TABLE %s RENAME TO %s", quoteIdentifier(rest.Name), quoteIdentifier(month)),
		attachStatement(t, month, rest.From, bound), unlimitStatement(t, month),
		hangs.createPart(t, t.restName(), bound, ""))
	return append(steps, MoveStep{What: rest.Name + " is the month " + month,
		Statements: append(all, hangs.createReferences()...), Brief: true}), nil
}

// limitSteps returns the steps that prove that a table holds no id at or after the bound. A constraint of an
// earlier attempt is reused with its own bound.
func limitSteps(t Table, table string, bound *string, begun string) []MoveStep {
	var steps []MoveStep
	if begun != "" && time.Until(t.Time(begun)) > nearLimit {
		*bound = begun
	} else {
		steps = append(steps, MoveStep{What: table + " takes no " + t.Column + " from " + t.dateOf(*bound) +
			" on, until it is split", Statements: []string{unlimitStatement(t, table),
			limitStatement(t, table, *bound)}, Brief: true})
	}
	return append(steps, MoveStep{What: "checking that every " + t.Column + " of " + table + " is before " +
		t.dateOf(*bound),
		Statements: []string{fmt.Sprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s", quoteIdentifier(table),
			quoteIdentifier(t.limitName()))}})
}

// limitFor returns the bound for the current rows of a table: a full month lies between it and all ids that
// exist or are created soon.
func limitFor(ctx context.Context, on db.Execer, t Table) (string, error) {
	now, err := db.Now(ctx, on)
	if err != nil {
		return "", err
	}
	latest, err := db.One(ctx, on, db.Value[string], `SELECT coalesce(max(`+t.Column+`)::text, '') FROM `+quoteIdentifier(t.Name))
	if err != nil {
		return "", err
	}
	at := t.Time(latest)
	if at.After(now.Add(farthest)) {
		return "", fmt.Errorf("the %s %s is from %s: a clock was wrong; delete that row first", t.Column, latest,
			at.UTC().Format(time.DateOnly))
	}
	if at.Before(now) {
		at = now
	}
	return t.monthBound(Begin(at).AddDate(0, 2, 0)), nil
}

// dropLimits removes the constraint and everything else left by an unfinished move.
func (s session) dropLimits(ctx context.Context, t Table) error {
	_, nexts := t.keyNames()
	left, err := db.All(ctx, s.conn, db.Value[string], `SELECT name FROM unnest($1::text[]) name WHERE to_regclass(name) IS NOT NULL`, db.Array(nexts))
	if err != nil {
		return err
	}
	for _, name := range left {
		if err := s.runConcurrently(ctx, dropNext(name)); err != nil {
			return err
		}
	}
	for _, table := range []string{t.Name, t.restName()} {
		begun, err := limitOf(ctx, s.conn, t, table)
		if err != nil {
			return err
		}
		if begun == "" {
			continue
		}
		if _, err := s.retryInTx(ctx, table,
			func(on db.Execer) error { return runStatements(ctx, on, unlimitStatement(t, table)) }); err != nil {
			return err
		}
	}
	return nil
}

func limitStatement(t Table, table, bound string) string {
	return fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s < %s) NOT VALID", quoteIdentifier(table),
		quoteIdentifier(t.limitName()), t.Column, quoteLiteral(bound))
}

func unlimitStatement(t Table, table string) string {
	return fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s", quoteIdentifier(table),
		quoteIdentifier(t.limitName()))
}

func (t Table) dateOf(bound string) string { return t.Time(bound).UTC().Format(time.DateOnly) }

// Undo makes a split table plain again. It fails unless only its first month has rows.
func Undo(ctx context.Context, d *db.DB, t Table, log *slog.Logger, tell Tell) error {
	err := runInSession(ctx, d, log, movePatience, func(s session) error {
		state, err := ReadTableState(ctx, s.conn, t)
		if err != nil || !state.Split {
			return err
		}
		steps, err := joinSteps(ctx, s.conn, &state)
		if err != nil {
			return err
		}
		return s.takeSteps(ctx, steps, tell)
	})
	if err != nil {
		return fmt.Errorf("join %s: %w", t.Name, err)
	}
	return nil
}

// joinSteps returns the steps that turn the first month into the plain table again.
func joinSteps(ctx context.Context, on db.Execer, state *TableState) ([]MoveStep, error) {
	t, first := state.Table, state.Months[0]
	hangs, err := shapeOfSplit(ctx, on, t)
	if err != nil {
		return nil, err
	}
	step := MoveStep{What: t.Name + " is plain", Brief: true}
	for _, m := range state.Months[1:] {
		used, err := hasRows(ctx, on, m.Name)
		if err != nil {
			return nil, err
		}
		if used {
			return nil, fmt.Errorf("%s has rows: the split can be undone only while all rows are in %s", m.Name,
				first.Name)
		}
		step.empty = append(step.empty, m.Name)
	}
	all := append([]string{hangs.lockStatement(t)}, hangs.dropReferences()...)
	all = append(all, detachStatement(t, first.Name))
	if t.numbered {
		all = append(append(all, setAside(t)), hangs.moveSequence(t, first.Name)...)
	}
	all = append(all, "DROP TABLE "+quoteIdentifier(t.Name),
		fmt.Sprintf("ALTER TABLE %s RENAME TO %s", quoteIdentifier(first.Name), quoteIdentifier(t.Name)))
	indexes, err := db.All(ctx, on, func(i *index) []any { return []any{&i.name, &i.definition, &i.primary} }, pairsSQL,
		first.Name)
	if err != nil {
		return nil, err
	}
	for _, i := range indexes { // former parts of indexes
		all = append(all, i.renameStatement(t.Name, i.definition))
	}
	var steps []MoveStep
	if len(t.plain) > 0 {
		keys := t.replaceKeys(hangs.indexes, t.plain, first.Name, t.Name)
		steps, all = append(steps, keys.beside...), append(all, keys.brief...)
	}
	step.Statements = slices.Concat(all, hangs.createReferences())
	return append(append(steps, step), validationSteps(t, hangs.references)...), nil
}
