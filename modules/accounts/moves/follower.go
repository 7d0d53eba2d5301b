package moves

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/node"
)

// stepChannel is notified by each step of a move.
const stepChannel = "account moves"

// Node stores what this process has seen, as *node.Node does.
type Node interface {
	StoreAccountsSeen(ctx context.Context, snapshot string) error
}

var _ Node = (*node.Node)(nil)

// Follower makes a process notice the steps of moves at once, and confirm it.
type Follower struct {
	DB      *db.DB
	Signals worker.Signals
	Node    Node
	Forget  []func() // drop what the process remembers of accounts
	// Reload reads again what the process keeps of accounts.
	Reload []func(context.Context) error
}

// Task drops or reads again what the process remembers after each step of a move.
func (f Follower) Task() worker.Task {
	return worker.OnWake("notices of moved accounts", f.Signals, stepChannel, f.confirm)
}

func (f Follower) confirm(ctx context.Context) error {
	// A snapshot, unlike a time, is exact: it contains the transactions that what is read from now on reflects.
	seen, err := db.One(ctx, f.DB.SQL, db.Value[string], `SELECT pg_current_snapshot()::text`)
	if err != nil {
		return fmt.Errorf("confirm a step of a move: %w", err)
	}
	for _, forget := range f.Forget {
		forget()
	}
	for _, reload := range f.Reload {
		if err := reload(ctx); err != nil {
			return fmt.Errorf("confirm a step of a move: %w", err)
		}
	}
	return f.Node.StoreAccountsSeen(ctx, seen)
}
