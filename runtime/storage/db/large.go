package db

import (
	"context"
	"fmt"
	"time"
)

// slowest is the speed, in bytes per second, at which a database still counts as available: a large item
// must not run out of time on an ordinary disk. At that speed, the default Timeout of a Joiner is enough for its
// MaxBytes.
const slowest = 4 << 20

// extraTime returns how much longer than the usual limits the server may take for a number of bytes.
func extraTime(bytes int) time.Duration { return time.Duration(bytes/slowest) * time.Second }

// RunSized calls fn with the entry point for a statement that has these arguments: Prepared, or for several megabytes
// a transaction with a longer statement timeout.
func (d *DB) RunSized(ctx context.Context, args []any, fn func(on Execer) error) error {
	if extraTime(argumentBytes(args)) == 0 {
		return fn(d.Prepared)
	}
	return d.InPreparedTx(ctx, func(tx *PreparedTx) error { return fn(tx) })
}

func argumentBytes(args []any) (bytes int) {
	for _, arg := range args {
		switch arg := arg.(type) {
		case array:
			bytes += len(arg.binary)
		case string:
			bytes += len(arg)
		case []byte:
			bytes += len(arg)
		}
	}
	return bytes
}

// allowTime raises the statement timeout of a transaction before a statement with large arguments.
func (p *PreparedTx) allowTime(ctx context.Context, args []any) error {
	extra := extraTime(argumentBytes(args))
	if extra <= p.extra {
		return nil
	}
	limit := formatMilliseconds(p.statementTimeout + extra)
	if _, err := p.Tx.ExecContext(ctx, `SELECT set_config('statement_timeout', $1, true)`, limit); err != nil {
		return fmt.Errorf("raise the statement timeout: %w", err)
	}
	p.extra = extra
	return nil
}
