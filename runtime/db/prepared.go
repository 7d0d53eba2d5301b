package db

import (
	"context"
	"database/sql"
	"sync"
)

// maxPrepared bounds the kept statements: their texts are constants, so a larger
// number means that somebody builds texts.
const maxPrepared = 64

// PreparedTx is a transaction of the hot pool that runs ExecContext, and what goes
// through Look, as prepared statements, kept per connection, so that the server parses
// and plans them once.
//
// It is for statements of constant text. A kept plan does not see how a table grows;
// the hot pool's sessions do without sequential scans, so that a look-up in an index
// has the right plan from the first row on. Other searches belong in InHotTx or in
// QueryContext, which plan anew each time.
type PreparedTx struct {
	*sql.Tx
	statements *statements
	missing    []string // met for the first time
}

var _ Execer = (*PreparedTx)(nil)

// ExecContext runs a statement, prepared if it has been met before.
func (p *PreparedTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if statement := p.statements.find(query); statement != nil {
		return p.StmtContext(ctx, statement).ExecContext(ctx, args...) //nolint:sqlclosecheck // the transaction's end closes its copy of the statement
	}
	p.missing = append(p.missing, query)
	return p.Tx.ExecContext(ctx, query, args...)
}

// Look is QueryContext, prepared if the statement has been met before.
func (p *PreparedTx) Look(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if statement := p.statements.find(query); statement != nil {
		return p.StmtContext(ctx, statement).QueryContext(ctx, args...) //nolint:sqlclosecheck // the transaction's end closes its copy of the statement
	}
	p.missing = append(p.missing, query)
	return p.Tx.QueryContext(ctx, query, args...)
}

// InPreparedTx is InHotTx with prepared statements.
func (d *DB) InPreparedTx(ctx context.Context, fn func(tx *PreparedTx) error) error {
	var missing []string
	err := d.InHotTx(ctx, func(tx *sql.Tx) error {
		p := &PreparedTx{Tx: tx, statements: &d.statements}
		defer func() { missing = p.missing }()
		return fn(p)
	})
	if err == nil {
		// After the transaction: preparing takes a connection of its own, and whoever
		// waits for one while holding one can wait for ever.
		d.statements.prepare(ctx, d.Hot, missing)
	}
	return err
}

// QueryPrepared runs one constant statement by itself on the hot pool, prepared. It
// is one round trip, where a transaction takes three and one for each statement; so
// it is for a statement that does all there is to do. What is said of PreparedTx
// about plans holds here too, but for look-ups in an index: the hot pool's sessions
// do without sequential scans.
func (d *DB) QueryPrepared(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement := d.statements.find(query) //nolint:sqlclosecheck // kept for good
	if statement == nil {
		d.statements.prepare(ctx, d.Hot, []string{query})
		if statement = d.statements.find(query); statement == nil { //nolint:sqlclosecheck // kept for good
			return d.Hot.QueryContext(ctx, query, args...)
		}
	}
	return statement.QueryContext(ctx, args...)
}

// statements are kept by text.
type statements struct {
	mutex  sync.RWMutex
	byText map[string]*sql.Stmt
}

func (s *statements) find(query string) *sql.Stmt {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	return s.byText[query]
}

// prepare keeps statements for the next time. One that cannot be prepared is run
// as it is, whose error says why.
func (s *statements) prepare(ctx context.Context, handle *sql.DB, queries []string) {
	for _, query := range queries {
		if s.find(query) != nil {
			continue
		}
		statement, err := handle.PrepareContext(ctx, query)
		if err != nil {
			return
		}
		if !s.keep(query, statement) && statement.Close() != nil { //nolint:sqlclosecheck // kept for good, unless another was first
			return // the connection is gone, and the statement with it
		}
	}
}

func (s *statements) keep(query string, statement *sql.Stmt) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.byText[query] != nil || len(s.byText) >= maxPrepared {
		return false
	}
	if s.byText == nil {
		s.byText = map[string]*sql.Stmt{}
	}
	s.byText[query] = statement
	return true
}
