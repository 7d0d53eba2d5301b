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
)

// IsDatabaseAway tells an error of a database that is down, frozen, full,
// read-only or shutting down from one of a statement that is wrong. Work that
// met it was not stored and may be tried again. An *Error is judged by its kind
// alone: its cause may well be an error of the database, as a lock that another
// request holds is, and says nothing of the work of others.
func IsDatabaseAway(err error) bool {
	if err == nil {
		return false
	}
	var known *Error
	if errors.As(err, &known) {
		return known.Kind == Away
	}
	var server *pq.Error
	if errors.As(err, &server) {
		return serverAway(server)
	}
	var network net.Error
	var system *net.OpError
	return errors.As(err, &network) || errors.As(err, &system) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
}

// IsDuplicate tells that a row was refused because another one has its unique values.
func IsDuplicate(err error) bool {
	var server *pq.Error
	return errors.As(err, &server) && server.Code == "23505" // unique_violation
}

// serverAway classifies by SQLSTATE, PostgreSQL documentation appendix A.
func serverAway(err *pq.Error) bool {
	switch err.Code.Class() {
	case "08", // connection exception
		"28", // not let in: a password that was changed, a server that is being set up
		"40", // rolled back for the sake of another: deadlock, serialization
		"53", // insufficient resources: disk full, out of memory, too many connections
		"57", // operator intervention: shutdown, cannot connect now, statement timeout
		"58": // system error outside PostgreSQL
		return true
	}
	switch err.Code {
	case "25006", // read-only transaction: a standby, or default_transaction_read_only
		"25P03", // idle-in-transaction timeout
		"3D000", // no such database: not yet, or not any more
		"55P03": // lock not available in time
		return true
	}
	return false
}
