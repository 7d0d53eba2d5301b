package months

import (
	"context"
	"log/slog"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// MoveSteps takes the first steps of Move and stops as a process that is killed: nothing is cleaned up. It gives how many
// steps there are.
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

// KeepAt is Keep of one table at a time.
func KeepAt(ctx context.Context, d *db.DB, t Table, now time.Time, unneeded ...DropRule) (kept Maintenance, err error) {
	err = runInSession(ctx, d, slog.New(slog.DiscardHandler), keepPatience, func(s session) error { return s.keepTable(ctx, t, now, &kept, unneeded) })
	return kept, err
}

// LimitOf is the bound of a move that has begun.
func (s *State) LimitOf() string { return s.limit }

// UncheckedOf is how many references are still to be checked.
func (s *State) UncheckedOf() int { return len(s.unchecked) }

// KeepersLock is the lock of whoever changes parts.
const KeepersLock = int64(keepersLock)

// KeyNames are the indexes that differ between the forms of a table.
func KeyNames(t Table) (names []string) {
	for _, k := range t.allKeys() {
		names = append(names, k.name)
	}
	return names
}
