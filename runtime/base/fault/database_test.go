package fault_test

import (
	"context"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Each class of SQLSTATE (PostgreSQL documentation, appendix A) blames either the server or the statement.
func TestEachClassOfSQLStateIsAnOutageOrADefect(t *testing.T) {
	t.Parallel()
	const outage, defect = true, false
	for class, want := range map[pqerror.Class]bool{
		"03": defect, "08": outage, "09": defect, "0A": defect, "0B": defect, "0F": defect, "0L": defect, "0P": defect, "0Z": defect,
		"10": defect, "20": defect, "21": defect, "22": defect, "23": defect, "24": defect, "25": defect, "26": outage, "27": defect,
		"28": outage, "2B": defect, "2D": defect, "2F": defect, "34": defect, "38": defect, "39": defect, "3B": defect, "3D": outage,
		"3F": defect, "40": outage, "42": defect, "44": defect, "53": outage, "54": defect, "55": outage, "57": outage, "58": outage,
		"72": outage, "F0": outage, "HV": defect, "P0": defect, "XX": outage,
	} {
		err := fmt.Errorf("store: %w", &pq.Error{Code: pqerror.Code(class + "000")})
		if got := fault.IsDatabaseUnavailable(err); got != want {
			t.Errorf("class %s (%s) is classified as an outage: %t, want %t", class, class.Name(), got, want)
		}
		wantKind := fault.Internal
		if want {
			wantKind = fault.Unavailable
		}
		if got := fault.Classify(err); got.Kind != wantKind || want && got.RetryAfter <= 0 {
			t.Errorf("class %s is mapped to kind %d with Retry-After %s, want kind %d", class, got.Kind,
				got.RetryAfter, wantKind)
		}
	}
}

// Some codes are more specific than their class.
func TestCodesOfSQLStateThatAreOutages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  *pq.Error
		want bool
	}{
		"a read-only transaction":                     {&pq.Error{Code: "25006"}, true},
		"a transaction that was idle for too long":    {&pq.Error{Code: "25P03"}, true},
		"a transaction that took too long":            {&pq.Error{Code: "25P04"}, true},
		"a statement in a failed transaction":         {&pq.Error{Code: "25P02"}, false},
		"a server in recovery":                        {&pq.Error{Code: "55000"}, true},
		"a lock that is held":                         {&pq.Error{Code: "55P03"}, true},
		"a full disk":                                 {&pq.Error{Code: "53100"}, true},
		"too many connections":                        {&pq.Error{Code: "53300"}, true},
		"a server that starts":                        {&pq.Error{Code: "57P03"}, true},
		"a statement that was canceled":               {&pq.Error{Code: "57014"}, true},
		"a damaged page":                              {&pq.Error{Code: "XX001"}, true},
		"transaction ids that would wrap around":      {&pq.Error{Code: "54000", Routine: "GetNewTransactionId"}, true},
		"multixact ids that would wrap around":        {&pq.Error{Code: "54000", Routine: "GetNewMultiXactId"}, true},
		"a row that is larger than PostgreSQL allows": {&pq.Error{Code: "54000", Routine: "RelationGetBufferForTuple"}, false},
		"a duplicate value":                           {&pq.Error{Code: "23505"}, false},
		"a column that does not exist":                {&pq.Error{Code: "42703"}, false},
		"a table without permission to read":          {&pq.Error{Code: "42501"}, false},
	} {
		if got := fault.IsDatabaseUnavailable(c.err); got != c.want {
			t.Errorf("%s (%s) is classified as an outage: %t, want %t", name, c.err.Code, got, c.want)
		}
	}
}

// closedPool returns the error of a pool that is closed.
func closedPool() error {
	pool, err := sql.Open("postgres", "host=/nowhere")
	if err != nil {
		return err
	}
	return errors.Join(pool.Close(), pool.Ping())
}

func TestErrorsOfConnectionsAreOutages(t *testing.T) {
	t.Parallel()
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for name, err := range map[string]error{
		"no response in time":                        context.DeadlineExceeded,
		"no response from the server in time":        os.ErrDeadlineExceeded,
		"a connection that is broken":                driver.ErrBadConn,
		"a connection that was returned":             sql.ErrConnDone,
		"a transaction that was rolled back already": sql.ErrTxDone,
		"a pool that is closed":                      closedPool(),
		"a connection that ended":                    io.EOF,
		"a connection that ended within a response":  io.ErrUnexpectedEOF,
		"a connection that was closed":               net.ErrClosed,
		"no listener":                                dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
		"a connection that was reset":                syscall.ECONNRESET,
		"a connection that is not read":              syscall.EPIPE,
		"no socket":                                  dial(os.NewSyscallError("connect", syscall.ENOENT)),
		"no such host":                               dial(&net.DNSError{Err: "no such host", Name: "db1"}),
		"a connection that could not be opened":      dial(x509.UnknownAuthorityError{}),
	} {
		if !fault.IsDatabaseUnavailable(fmt.Errorf("commit: %w", err)) {
			t.Errorf("%s (%v) is classified as a defect, want an outage", name, err)
		}
	}
	for name, err := range map[string]error{"no row": sql.ErrNoRows, "a caller that disconnected": context.Canceled,
		"anything else": errors.New("boom")} {
		if fault.IsDatabaseUnavailable(err) {
			t.Errorf("%s (%v) is classified as an outage", name, err)
		}
	}
}
