package fault

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// IsDatabaseUnavailable reports whether an error means that the database cannot work right now: it is down,
// frozen, full, read-only, overloaded or shutting down, or the connection or transaction ended early. The
// statement itself was not at fault, so nothing was stored and the work can be retried. An *Error is judged
// by its kind alone: for example, a lock that another request holds is a conflict of that request and says
// nothing about other work.
func IsDatabaseUnavailable(err error) bool {
	if err == nil {
		return false
	}
	var known *Error
	if errors.As(err, &known) {
		return known.Kind == Unavailable
	}
	var server *pq.Error
	if errors.As(err, &server) {
		return isServerUnavailable(server)
	}
	var network net.Error
	var system *net.OpError
	if errors.As(err, &network) || errors.As(err, &system) {
		return true
	}
	for _, lost := range connectionErrors {
		if errors.Is(err, lost) {
			return true
		}
	}
	return false
}

// connectionErrors are Go's errors for a connection or a transaction that ended before its work was done.
var connectionErrors = []error{
	context.DeadlineExceeded, os.ErrDeadlineExceeded, // our own timeouts
	driver.ErrBadConn, sql.ErrConnDone, errDatabaseClosed,
	sql.ErrTxDone, // database/sql rolled back when the transaction's deadline passed
	io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
	syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, syscall.ENOENT, // no socket
}

// errDatabaseClosed is the error of a closed pool: a request outlived the shutdown of the process. The
// standard library does not export it.
var errDatabaseClosed = func() error {
	pool := sql.OpenDB(noConnector{})
	if err := pool.Close(); err != nil {
		return err
	}
	return pool.PingContext(context.Background())
}()

type noConnector struct{}

func (noConnector) Connect(context.Context) (driver.Conn, error) { return nil, driver.ErrBadConn }

func (noConnector) Driver() driver.Driver { return nil }

// IsDuplicate reports whether a row was rejected because its unique values already exist.
func IsDuplicate(err error) bool {
	var server *pq.Error
	return errors.As(err, &server) && server.Code == pqerror.UniqueViolation
}

// outageClasses are the classes of SQLSTATE (PostgreSQL documentation, appendix A) that blame the server or the session.
// All other classes blame the statement: the same one would fail again, and a defect must not pass for an outage.
var outageClasses = map[pqerror.Class]bool{
	pqerror.ClassConnectionException: true, // 08
	// 26: the session lost a prepared statement, for example because of a connection pooler
	pqerror.ClassInvalidSQLStatementName: true,
	// 28: a changed password, or a server that is still being set up
	pqerror.ClassInvalidAuthorizationSpecification: true,
	pqerror.ClassInvalidCatalogName:                true, // 3D: the database does not exist yet, or was dropped
	pqerror.ClassTransactionRollback:               true, // 40: deadlock or serialization failure
	pqerror.ClassInsufficientResources:             true, // 53: disk full, out of memory, too many connections
	pqerror.ClassObjectNotInPrerequisiteState:      true, // 55: in recovery, in use, or locked for too long
	pqerror.ClassOperatorIntervention:              true, // 57: shutdown, start, statement timeout
	pqerror.ClassSystemError:                       true, // 58: I/O error, missing file
	"72":                                           true, // snapshot too old, before PostgreSQL 17
	pqerror.ClassConfigFileError:                   true, // F0: the server cannot read its own files
	pqerror.ClassInternalError:                     true, // XX: damaged data or index, or a server bug
}

// outageCodes blame the server or the session although their class blames the statement.
var outageCodes = map[pqerror.Code]bool{
	pqerror.ReadOnlySQLTransaction:          true, // 25006: a standby, or default_transaction_read_only
	pqerror.IdleInTransactionSessionTimeout: true, // 25P03
	pqerror.TransactionTimeout:              true, // 25P04
}

func isServerUnavailable(err *pq.Error) bool {
	return outageClasses[err.Code.Class()] || outageCodes[err.Code] || isOutOfTransactionIDs(err)
}

// isOutOfTransactionIDs reports whether a server rejects writes because its transaction or multixact ids
// would wrap around. Its code, program_limit_exceeded, is also that of rows that are too large.
func isOutOfTransactionIDs(err *pq.Error) bool {
	return err.Code == pqerror.ProgramLimitExceeded &&
		(err.Routine == "GetNewTransactionId" || err.Routine == "GetNewMultiXactId")
}
