package months_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/db/months"
)

// Writers continue while a table is partitioned, through every kind of handle. No writer gets an error, and
// every row exists once afterwards.
func TestMoveDuringWrites(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, table months.Table) {
		d := newPlainDatabase(t)
		for range 300 {
			store(t, d, table, newRow(table))
		}
		w := startWriters(t, d, table)
		w.awaitTurns(t, 200)
		move(t, d, table)
		if _, err := months.Maintain(t.Context(), d, discard); err != nil {
			t.Fatal(err)
		}
		w.awaitTurns(t, 200)
		stored := w.stop(t) + 300
		if n := queryOne[int](t, d, `SELECT count(*) FROM `+table.Name); n != stored {
			t.Errorf("got %d rows, but %d were stored", n, stored)
		}
		if n := queryOne[int](t, d, `SELECT count(DISTINCT `+table.Column+`) FROM `+table.Name); n != stored {
			t.Errorf("got %d distinct ids, but %d were stored", n, stored)
		}
		state := readState(t, d, table)
		if !state.Split || state.UncheckedOf() > 0 || len(state.Months) < 2 {
			t.Errorf("the table %s has the state %+v", table.Name, state)
		}
		sameIndexes(t, d, newPlainDatabase(t), table, months.KeyNames(table)...)
	})
}

// sameIndexes compares the indexes and constraints of a partitioned table with those of a plain one, with
// some exceptions. One index is no longer unique, because ids now guarantee the same.
func sameIndexes(t *testing.T, split, plain *db.DB, table months.Table, but ...string) {
	t.Helper()
	const all = `SELECT string_agg(x, E'\n' ORDER BY x) FROM (
		SELECT replace(replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON '), 'UNIQUE INDEX webhookdelivery_event_id_webhook_id', 'INDEX webhookdelivery_event_id_webhook_id') || ' ' || indisvalid AS x FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE indrelid = $1::regclass AND c.relname <> ALL ($2)
		UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE (conrelid = $1::regclass OR confrelid = $1::regclass) AND conparentid = 0 AND conname <> ALL ($2)
		UNION ALL SELECT row_number() OVER (ORDER BY attnum) || ' ' || attname || ' ' || format_type(atttypid, atttypmod) || ' ' || attnotnull || ' ' || attcollation || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '') || ' ' || attstorage::text || attidentity::text
			FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped) s`
	if got, want := queryOne[string](t, split, all, table.Name, db.Array(but)), queryOne[string](t, plain, all,
		table.Name,
		db.Array(but)); got != want {
		t.Errorf("split:\n%s\nplain:\n%s", got, want)
	}
}

// writers store, change and claim rows until they are stopped.
type writers struct {
	cancel context.CancelFunc
	group  sync.WaitGroup
	stored atomic.Int64
	turns  atomic.Int64
	failed chan error
}

func startWriters(t *testing.T, d *db.DB, table months.Table) *writers {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w := &writers{cancel: cancel, failed: make(chan error, 100)}
	t.Cleanup(cancel)
	for _, door := range []db.Execer{d.SQL, d.Hot, d.Prepared, d.Prepared} {
		w.group.Go(func() {
			for ctx.Err() == nil {
				if err := w.write(door, table); err != nil {
					select {
					case w.failed <- err:
					default:
					}
				}
			}
		})
	}
	return w
}

// write stores a row, reads it, changes it and claims an old one.
func (w *writers) write(door db.Execer, table months.Table) error {
	ctx := context.Background() // an iteration that has begun is completed
	made := newRow(table)
	if n, err := db.Exec(ctx, door, storeSQL(table), made); err != nil || n != 1 {
		return fmt.Errorf("store %s: %d rows, %w", made, n, err)
	}
	w.stored.Add(1)
	column := map[string]string{"emails": "subject", "facts": "type", "received_emails": "subject",
		"webhook_deliveries": "event_type", "recipients": "destination", "attempts": "reply", "statistics_days": "key",
		"statistics_months": "key", "statistics_reasons": "host", "statistics_received": "domain_id"}[table.Name]
	by := table.Column
	if n, err := db.Exec(ctx, door, `UPDATE `+table.Name+` SET `+column+` = `+column+` || 'x' WHERE `+by+` = $1`, made); err != nil || n != 1 {
		return fmt.Errorf("change %s: %d rows, %w", made, n, err)
	}
	if n, err := db.Exec(ctx, door, `UPDATE `+table.Name+` e SET `+column+` = 'claimed' FROM (SELECT `+by+` FROM `+
		table.Name+` WHERE `+column+` <> 'claimed' AND `+by+` <= $1 ORDER BY `+by+
		` LIMIT 2 FOR UPDATE SKIP LOCKED) o WHERE e.`+by+` = o.`+by, made); err != nil {
		return fmt.Errorf("claim: %d rows, %w", n, err)
	}
	found, err := db.All(ctx, door, db.Value[string], `SELECT `+by+` FROM `+table.Name+` WHERE account_id = $1 AND `+by+
		` <= $2 ORDER BY `+by+` DESC LIMIT 1`, "acc_1", made)
	if err != nil || len(found) != 1 || found[0] != made {
		return fmt.Errorf("the newest is %v, want %s: %w", found, made, err)
	}
	w.turns.Add(1)
	return nil
}

// awaitTurns waits for a number of further iterations.
func (w *writers) awaitTurns(t *testing.T, turns int64) {
	t.Helper()
	before := w.turns.Load()
	expect.EventuallyWithin(t, time.Minute, "the writers continue",
		func() bool { return w.turns.Load() >= before+turns || len(w.failed) > 0 })
}

func (w *writers) stop(t *testing.T) int {
	t.Helper()
	w.cancel()
	w.group.Wait()
	close(w.failed)
	for err := range w.failed {
		t.Error(err)
	}
	return int(w.stored.Load())
}

// A move that was killed after any of its steps leaves a working database, and continues when it is run
// again.
func TestMoveResumesAfterInterruption(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, table months.Table) {
		for cut, all := 0, 1; cut < all; cut++ {
			d := newPlainDatabase(t)
			store(t, d, table, newRow(table))
			var err error
			if all, err = months.MoveSteps(t.Context(), d, table, cut); err != nil {
				t.Fatal(err)
			}
			store(t, d, table, newRow(table))
			move(t, d, table)
			store(t, d, table, newRow(table))
			state := readState(t, d, table)
			if n := queryOne[int](t, d, `SELECT count(*) FROM `+table.Name); n != 3 || !state.Split || state.UncheckedOf() > 0 {
				t.Errorf("after an interruption at %d of %d steps, got %d rows and %+v", cut, all, n, state)
			}
			if steps, err := months.Plan(t.Context(), d, table); err != nil || len(steps) > 0 {
				t.Errorf("after an interruption at %d of %d steps, the remaining steps are %v, %v", cut, all,
					steps, err)
			}
		}
	})
}

// Programs that do not support partitioned deliveries are rejected from the exchange on, but not because of a
// move that was interrupted earlier.
func TestOlderProgramsAreRejectedAfterExchange(t *testing.T) {
	t.Parallel()
	d, table := newPlainDatabase(t), findTable(t, "webhook_deliveries")
	dbtest.Exec(t, d, `UPDATE schema_migrations SET oldest = NULL`)
	refused := func() int {
		t.Helper()
		return queryOne[int](t, d, `SELECT count(*) FROM schema_migrations WHERE oldest = version AND name LIKE '%_delivery_ids_of_events.sql'`)
	}
	all, err := months.MoveSteps(t.Context(), d, table, 0)
	if err == nil {
		_, err = months.MoveSteps(t.Context(), d, table, all-2) // the exchange and the statistics remain
	}
	if err != nil || readState(t, d, table).Split || refused() != 0 {
		t.Errorf("before the exchange, %d migrations are required: %v", refused(), err)
	}
	move(t, d, table)
	if !readState(t, d, table).Split || refused() != 1 {
		t.Errorf("after the exchange, %d migrations are required, want 1", refused())
	}
}

// keepersSQL returns the connection with the lock of sessions that change partitions, or 0.
const keepersSQL = `SELECT coalesce(min(pid), 0) FROM pg_locks WHERE locktype = 'advisory' AND classid = ($1::bigint >> 32)::oid AND objid = ($1::bigint & 4294967295)::oid
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// If the connection of a move is killed while the move waits for its lock, a bound remains that would reject
// rows later. Housekeeping removes it.
func TestKeepCleansUpAfterKilledMove(t *testing.T) {
	t.Parallel()
	d, table := newPlainDatabase(t), findTable(t, "emails")
	reader, err := d.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Rollback() }()
	if _, err := months.MoveSteps(t.Context(), d, table, 2); err != nil { // up to the exchange
		t.Fatal(err)
	}
	if _, err := reader.ExecContext(t.Context(), `SELECT FROM emails`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := months.MoveSteps(t.Context(), d, table, 100)
		done <- err
	}()
	expect.EventuallyWithin(t, 30*time.Second, "the move has started",
		func() bool { return queryOne[int](t, d, keepersSQL, months.KeepersLock) != 0 })
	if _, err := months.Maintain(t.Context(), d, discard); err != nil {
		t.Errorf("housekeeping failed during a move: %v", err)
	}
	dbtest.Exec(t, d, `SELECT pg_terminate_backend($1)`, queryOne[int](t, d, keepersSQL, months.KeepersLock))
	if err := <-done; err == nil {
		t.Error("the killed move returned no error")
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	if state := readState(t, d, table); state.Split || state.LimitOf() == "" {
		t.Fatalf("the move left %+v, but this test requires a remaining bound", state)
	}
	if _, err := months.Maintain(t.Context(), d, discard); err != nil {
		t.Fatal(err)
	}
	if state := readState(t, d, table); state.Split || state.LimitOf() != "" {
		t.Errorf("housekeeping left %+v", state)
	}
	move(t, d, table)
}

// A long statement prevents a move from getting its lock. The move does not make others wait, and removes its
// bound when it is stopped.
func TestStoppedMoveRemovesItsBound(t *testing.T) {
	t.Parallel()
	d, table := newPlainDatabase(t), findTable(t, "facts")
	reader, err := d.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Rollback() }()
	if _, err := months.MoveSteps(t.Context(), d, table, 2); err != nil { // up to the exchange
		t.Fatal(err)
	}
	if _, err := reader.ExecContext(t.Context(), `SELECT FROM facts`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- months.Move(ctx, d, table, discard, ignoreStep) }()
	for range 20 {
		began := time.Now()
		store(t, d, table, newRow(table))
		// if the move waited for the reader, this would take a minute and fail
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("a writer waited for %s during a move that cannot get its lock", took)
		}
	}
	cancel()
	if err := reader.Rollback(); err != nil { // removing the bound requires its lock
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("a stopped move returned no error")
	}
	if state := readState(t, d, table); state.LimitOf() != "" {
		t.Errorf("the stopped move left the bound %s", state.LimitOf())
	}
}

// Objects that an operator attached to a table would stay with the old one. Move reports them in an error.
func TestMoveRejectsAttachedObjects(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]string{
		`CREATE VIEW mine AS SELECT id FROM facts`:                                         "the view or rule mine",
		`CREATE UNIQUE INDEX mine ON facts (subject_id)`:                                   "the unique index mine",
		`CREATE STATISTICS mine ON account_id, type FROM facts`:                            "the statistics mine",
		`ALTER TABLE facts ADD CONSTRAINT mine CHECK (type <> 'x') NOT VALID`:              "the constraint mine",
		`CREATE TABLE mine () INHERITS (facts)`:                                            "the child table mine",
		`INSERT INTO facts VALUES ('evt_7zzzzzzzzz0000000000000000', 'a', 'x', 's', '{}')`: "a clock was wrong",
		`CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER mine BEFORE INSERT ON facts FOR EACH ROW EXECUTE FUNCTION mine()`: "the trigger mine",
	} {
		d, table := newPlainDatabase(t), findTable(t, "facts")
		dbtest.Exec(t, d, statement)
		err := months.Move(t.Context(), d, table, discard, ignoreStep)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the move returned %v, want %q", statement, err, want)
		}
		if state := readState(t, d, table); state.Split || state.LimitOf() != "" {
			t.Errorf("%s: a rejected move left %+v", statement, state)
		}
	}
}

// References remain enforced, in both directions, on old rows and new ones.
func TestReferencesAreEnforcedOnPartitions(t *testing.T) {
	t.Parallel()
	d, table := newPlainDatabase(t), findTable(t, "emails")
	old := id.New(id.Email)
	store(t, d, table, old)
	dbtest.Exec(t, d, `GRANT SELECT ON emails TO pg_monitor`)
	move(t, d, table)
	if _, err := months.KeepAt(t.Context(), d, table, time.Now().AddDate(0, 3, 0)); err != nil {
		t.Fatal(err)
	}
	late := keyAt(table, time.Now().AddDate(0, 3, 0), 1)
	store(t, d, table, late)
	if place := placeOf(t, d, table, late); place == placeOf(t, d, table, old) || strings.HasSuffix(place, "rest") {
		t.Errorf("a row three months ahead is stored in %s", place)
	}
	const alone = `INSERT INTO recipients (email_id, account_id, kind, destination, address, state, fence, attempts, created_at, queued_at, via) VALUES ($1, 'a', 'to', 'x', 'y', 'queued', 0, 0, now(), now(), '')`
	if _, err := db.Exec(t.Context(), d.SQL, alone, id.New(id.Email)); err == nil {
		t.Error("a recipient without its email was stored")
	}
	for _, rowID := range []string{old, late} {
		dbtest.Exec(t, d, alone, rowID)
		dbtest.Exec(t, d, `DELETE FROM emails WHERE id = $1`, rowID)
		if n := queryOne[int](t, d, `SELECT count(*) FROM recipients WHERE email_id = $1`, rowID); n != 0 {
			t.Errorf("%d recipients of the deleted email %s remain", n, rowID)
		}
	}
	if !queryOne[bool](t, d, `SELECT has_table_privilege('pg_monitor', 'emails', 'SELECT')`) {
		t.Error("the grants on the table were lost")
	}
}

// Undo restores the plain table, with its indexes and references, as long as no other month has rows.
func TestUndo(t *testing.T) {
	t.Parallel()
	eachTable(t, func(t *testing.T, table months.Table) {
		d := newPlainDatabase(t)
		store(t, d, table, newRow(table))
		move(t, d, table)
		if _, err := months.Maintain(t.Context(), d, discard); err != nil {
			t.Fatal(err)
		}
		late := keyAt(table, time.Now().AddDate(0, 3, 0), 1)
		store(t, d, table, late)
		err := months.Undo(t.Context(), d, table, discard, ignoreStep)
		if err == nil || !strings.Contains(err.Error(), "has rows") {
			t.Errorf("with rows in two months, Undo returned %v", err)
		}
		dbtest.Exec(t, d, `DELETE FROM `+table.Name+` WHERE `+table.Column+` = $1`, late)
		store(t, d, table, newRow(table))
		if err := months.Undo(t.Context(), d, table, discard, ignoreStep); err != nil {
			t.Fatal(err)
		}
		if state := readState(t, d, table); state.Split {
			t.Errorf("%s is still partitioned: %+v", table.Name, state)
		}
		store(t, d, table, newRow(table))
		if n := queryOne[int](t, d, `SELECT count(*) FROM `+table.Name); n != 3 {
			t.Errorf("got %d rows, want 3", n)
		}
		sameIndexes(t, d, newPlainDatabase(t), table)
		move(t, d, table)
	})
}
