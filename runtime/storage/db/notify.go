package db

import (
	"context"
	"fmt"
)

// Notify wakes the subscribers of a channel in every process when tx commits, or at
// once outside of a transaction. It is for changes that are rare, and for commands,
// which end before Signals would have sent.
func Notify(ctx context.Context, tx Execer, channel string) error {
	// The sender is nobody: this process's own Signals heed it too.
	if _, err := tx.ExecContext(ctx, `SELECT pg_notify($1, $2)`, signalChannel, ":"+channel); err != nil {
		return fmt.Errorf("notify %s: %w", channel, err)
	}
	return nil
}
