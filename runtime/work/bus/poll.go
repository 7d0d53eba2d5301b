package bus

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

// groupsWithWork selects those of the groups $1 that have a due message.
const groupsWithWork = `SELECT name FROM unnest($1::text[]) AS name WHERE EXISTS (SELECT FROM bus_messages WHERE consumer = name AND due_at <= now())`

// pollTask returns the task that searches for messages whose wake was lost: for all groups in one query, so
// that only groups with messages open a transaction.
func (b *Bus) pollTask(groups []*group) worker.Task {
	names := make([]string, len(groups))
	byName := make(map[string]*group, len(groups))
	for i, g := range groups {
		names[i], byName[g.name] = g.name, g
	}
	every := func() time.Duration { return b.options.Poll - b.options.Poll/10 + rand.N(b.options.Poll/5+1) }
	return worker.Task{Name: "poll of the bus", Drain: true, First: every(),
		Step: func(ctx context.Context) (wait time.Duration, err error) {
			ctx, cancel := context.WithTimeout(ctx, b.options.HandlerTimeout)
			defer cancel()
			found, err := db.All(ctx, b.db.Hot, db.Value[string], groupsWithWork, db.Array(names))
			if err != nil {
				return every(), fmt.Errorf("find messages: %w", err)
			}
			for _, name := range found {
				byName[name].requestPoll()
			}
			return every(), nil
		}}
}

// requestPoll signals the group to read, unless a signal is already pending.
func (g *group) requestPoll() {
	select {
	case g.polled <- struct{}{}:
	default:
	}
}
