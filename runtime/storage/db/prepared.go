package db

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// maxPrepared limits the number of prepared statements. Their texts are constants, so a larger number means
// that texts are generated somewhere.
const maxPrepared = 64

// Prepared runs constant statements individually on the hot pool. A statement is prepared at its first use,
// once per connection: the server parses and plans it once. That takes one round trip, whereas a transaction
// takes three and one for each statement; so Prepared is for work that needs a single statement.
//
// A cached plan does not adapt to a growing table: the package comment says which statements belong here.
type Prepared struct {
	hot        *sql.DB
	statements statements
}

// PreparedTx is Prepared within a transaction. A statement that must be planned again, or runs after an
// error within the transaction, uses its Tx. Statements with large arguments have a longer timeout.
type PreparedTx struct {
	*sql.Tx
	statements       *statements
	missing          []string      // used for the first time
	statementTimeout time.Duration // the usual one
	extra            time.Duration // added to it for large arguments
}

var (
	_ Execer = (*Prepared)(nil)
	_ Execer = (*PreparedTx)(nil)
)

// ExecContext runs a statement.
func (p *Prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if statement := p.preparedStatement(ctx, query); statement != nil { //nolint:sqlclosecheck // kept permanently
		return statement.ExecContext(ctx, args...)
	}
	return p.hot.ExecContext(ctx, query, args...)
}

// QueryContext runs a statement that returns rows.
func (p *Prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if statement := p.preparedStatement(ctx, query); statement != nil { //nolint:sqlclosecheck // kept permanently
		return statement.QueryContext(ctx, args...)
	}
	return p.hot.QueryContext(ctx, query, args...)
}

// preparedStatement returns nil if the statement cannot be prepared; executing it unprepared returns the
// error.
func (p *Prepared) preparedStatement(ctx context.Context, query string) *sql.Stmt {
	if statement := p.statements.findStatement(query); statement != nil {
		return statement
	}
	p.statements.prepareAll(ctx, p.hot, []string{query})
	return p.statements.findStatement(query)
}

// ExecContext runs a statement, prepared if it has been used before.
func (p *PreparedTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := p.allowTime(ctx, args); err != nil {
		return nil, err
	}
	if statement := p.statements.findStatement(query); statement != nil {
		return p.StmtContext(ctx, statement).ExecContext(ctx, args...) //nolint:sqlclosecheck // the transaction's end closes its copy of the statement
	}
	p.missing = append(p.missing, query)
	return p.Tx.ExecContext(ctx, query, args...)
}

// QueryContext runs a statement that returns rows, prepared if it has been used before.
func (p *PreparedTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := p.allowTime(ctx, args); err != nil {
		return nil, err
	}
	if statement := p.statements.findStatement(query); statement != nil {
		return p.StmtContext(ctx, statement).QueryContext(ctx, args...) //nolint:sqlclosecheck // the transaction's end closes its copy of the statement
	}
	p.missing = append(p.missing, query)
	return p.Tx.QueryContext(ctx, query, args...)
}

// InPreparedTx is InHotTx with prepared statements.
func (d *DB) InPreparedTx(ctx context.Context, fn func(tx *PreparedTx) error) error {
	kept := &d.Prepared.statements
	var missing []string
	err := d.InHotTx(ctx, func(tx *sql.Tx) error {
		p := &PreparedTx{Tx: tx, statements: kept, statementTimeout: d.config.StatementTimeout}
		defer func() { missing = p.missing }()
		return fn(p)
	})
	if err == nil {
		// After the transaction: preparing takes another connection, and waiting for a connection while
		// holding one can deadlock.
		kept.prepareAll(ctx, d.Hot, missing)
	}
	return err
}

// statements are prepared statements by text.
type statements struct {
	mutex  sync.RWMutex
	byText map[string]*sql.Stmt
}

func (s *statements) findStatement(query string) *sql.Stmt {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	return s.byText[query]
}

// prepareAll prepares statements for later use. A statement that cannot be prepared is run unprepared, which
// returns the error.
func (s *statements) prepareAll(ctx context.Context, handle *sql.DB, queries []string) {
	for _, query := range queries {
		if s.findStatement(query) != nil {
			continue
		}
		statement, err := handle.PrepareContext(ctx, query)
		if err != nil {
			return
		}
		if !s.keepStatement(query, statement) && statement.Close() != nil { //nolint:sqlclosecheck // kept permanently, unless another was first
			return // the statement ended with its connection
		}
	}
}

func (s *statements) keepStatement(query string, statement *sql.Stmt) bool {
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
