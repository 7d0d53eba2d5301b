package months

import (
	"context"
	"log/slog"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// MoveSteps runs the first steps of Move and stops like a killed process: nothing is cleaned up. It returns
// the number of steps.
func MoveSteps(ctx context.Context, d *db.DB, t Table, steps int) (all int, err error) {
	err = runInSession(ctx, d, slog.New(slog.DiscardHandler), movePatience, func(s session) error {
		planned, err := stepsOf(ctx, s.conn, t)
		if all = len(planned); err != nil {
			return err
		}
		return s.takeSteps(ctx, planned[:min(steps, all)], func(string) {})
	})
	return all, err
}

// KeepAt is Keep for one table at a time.
func KeepAt(ctx context.Context, d *db.DB, t Table, now time.Time, unneeded ...DropRule) (kept Maintenance, err error) {
	err = runInSession(ctx, d, slog.New(slog.DiscardHandler), keepPatience,
		func(s session) error { return s.keepTable(ctx, t, now, &kept, unneeded) })
	return kept, err
}

// LimitOf returns the bound of a move in progress.
func (s *TableState) LimitOf() string { return s.limit }

// UncheckedOf returns the number of references that are not validated yet.
func (s *TableState) UncheckedOf() int { return len(s.unchecked) }

// KeepersLock is the lock of sessions that change partitions.
const KeepersLock = int64(keepersLock)

// KeyNames are the indexes that differ between the forms of a table.
func KeyNames(t Table) (names []string) {
	for _, k := range t.allKeys() {
		names = append(names, k.name)
	}
	return names
}
