package db

import (
	"context"
	"fmt"
)

// Notify wakes the subscribers of a channel in every process when tx commits, or immediately outside of a
// transaction. It is for rare changes, and for commands, which end before Signals would send.
func Notify(ctx context.Context, tx Execer, channel string) error {
	// Without a sender, so that this process's own Signals react as well.
	if _, err := tx.ExecContext(ctx, `SELECT pg_notify($1, $2)`, signalChannel, ":"+channel); err != nil {
		return fmt.Errorf("notify %s: %w", channel, err)
	}
	return nil
}
