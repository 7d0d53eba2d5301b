package failover

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// Identity is what a server reports about itself.
type Identity struct {
	System   string // the identifier of its cluster
	Timeline string // in hexadecimal digits, like in WAL file names, so that newer ones sort after older ones
	Started  string // the start time, which is different for every server
	Standby  bool
	ReadOnly bool // its transactions are read-only by default
}

// Primary reports whether the server accepts writes.
func (i Identity) Primary() bool { return i.System != "" && !i.Standby && !i.ReadOnly }

// ErrHidden is returned for a server that does not reveal its identity, as with some providers.
var ErrHidden = errors.New("the server does not reveal which cluster it belongs to")

const identitySQL = `
SELECT system_identifier::text, CASE WHEN pg_is_in_recovery() THEN upper(lpad(to_hex(greatest((SELECT timeline_id FROM pg_control_checkpoint()),
		(SELECT min_recovery_end_timeline FROM pg_control_recovery()), coalesce((SELECT received_tli FROM pg_stat_wal_receiver), 0))), 8, '0'))
	ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END,
	extract(epoch FROM pg_postmaster_start_time())::text, pg_is_in_recovery()::text, current_setting('default_transaction_read_only')
FROM pg_control_system()`

// ReadIdentity returns the identity of a connection's server.
func ReadIdentity(ctx context.Context, conn driver.Conn) (Identity, error) {
	said, err := Row(ctx, conn, identitySQL)
	var refused *pq.Error
	switch {
	case errors.As(err, &refused) && (refused.Code.Class() == pqerror.ClassSyntaxErrorOrAccessRuleViolation ||
		refused.Code.Class() == pqerror.ClassFeatureNotSupported):
		return Identity{}, ErrHidden
	case err != nil:
		return Identity{}, fmt.Errorf("query the server's identity: %w", err)
	}
	return Identity{System: said[0], Timeline: said[1], Started: said[2], Standby: said[3] == "true",
		ReadOnly: said[4] == "on"}, nil
}

// Row reads one row of texts.
func Row(ctx context.Context, conn driver.Conn, query string) (_ []string, err error) {
	on, is := conn.(driver.QueryerContext)
	if !is {
		return nil, errors.New("the driver does not support queries")
	}
	rows, err := on.QueryContext(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(values); err != nil {
		return nil, err
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprintf("%s", v)
	}
	return texts, nil
}
