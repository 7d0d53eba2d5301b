package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/lib/pq"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db/capacity"
	"github.com/postrider/postrider/runtime/storage/db/failover"
)

// DB is the database of this process. The package comment describes its entry points.
type DB struct {
	SQL      *sql.DB     // the ordinary pool
	Ent      *ent.Client // over SQL
	Hot      *sql.DB     // hand-written SQL
	Prepared *Prepared   // hand-written constant SQL, over Hot

	config  Config
	hosts   *hosts
	fitness *fitness
	share   *capacity.Share
	bounds  []*capacity.Pool // of SQL and Hot
	watch   *failover.Watch  // nil if there is only one host
	log     *slog.Logger

	standbys standbys
	reader   Reader // nil: the primary answers all reads
}

// Reader answers reads in place of the primary, and never returns less than was committed before the call.
// Package replica implements it.
type Reader interface {
	Read(ctx context.Context, fn func(on *ent.Client) error) error
}

// Execer runs SQL: every entry point, and every transaction opened through one. All, One, Each and Exec
// accept it.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

var (
	_ Execer = (*sql.DB)(nil)
	_ Execer = (*sql.Conn)(nil)
	_ Execer = (*sql.Tx)(nil)
	_ Execer = (*ent.Tx)(nil)
	_ Execer = (*ent.Client)(nil)
)

// Open connects, and checks that the server keeps confirmed data. Each new connection repeats this check.
// Open does not migrate.
func Open(ctx context.Context, config Config, log *slog.Logger) (*DB, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	config = config.withDefaults()
	given, err := pq.NewConfig(config.URL)
	if err != nil {
		return nil, errors.New("open database: invalid connection string") // err would reveal the password
	}
	shared := &dialer{timeout: config.OpTimeout}
	share := capacity.NewShare(config.Connections)
	d := &DB{config: config, hosts: hostsOf(given), standbys: standbys{wanted: config.Standbys}, log: log, share: share,
		fitness: &fitness{riskAccepted: config.RiskLosingAcceptedMail, standbys: config.Standbys,
			share: share, log: log}}
	if len(d.hosts.all) > 1 {
		if d.watch, err = d.newWatch(); err != nil {
			return nil, fmt.Errorf("open database: %w", err)
		}
	}
	if d.SQL, err = d.openBounded(shared); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	d.Ent = ent.NewClient(ent.Driver(entsql.OpenDB(dialect.Postgres, d.SQL)))
	if d.Hot, err = d.openBounded(shared, parameter{"binary_parameters", "yes"}, parameter{"enable_seqscan", "off"},
		parameter{"plan_cache_mode", "force_generic_plan"}); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), d.SQL.Close())
	}
	d.Prepared = &Prepared{hot: d.Hot}
	for _, pool := range []*sql.DB{d.SQL, d.Hot} {
		if _, err := pool.ExecContext(ctx, "SELECT 1"); err != nil {
			return nil, errors.Join(fmt.Errorf("open database: %w", persistentReason(err, len(d.hosts.all))), d.Close())
		}
	}
	return d, nil
}

// openPool opens a pool with a maximum number of connections.
func (d *DB) openPool(config Config, most int, on *dialer, parameters ...parameter) (*sql.DB, error) {
	c, err := d.newConnector(config, on, parameters...)
	if err != nil {
		return nil, err
	}
	handle := sql.OpenDB(c)
	handle.SetMaxOpenConns(most)
	handle.SetMaxIdleConns(most) // the default of 2 would cause constant reconnecting
	handle.SetConnMaxLifetime(time.Hour)
	return handle, nil
}

// idleTime is how long a pool keeps an unused connection. Otherwise, processes that do not know of each other
// would keep the server's last connections from each other.
const idleTime = 30 * time.Second

// openBounded opens a pool that has a part of the connections of the process.
func (d *DB) openBounded(on *dialer, parameters ...parameter) (*sql.DB, error) {
	c, err := d.newConnector(d.config, on, parameters...)
	if err != nil {
		return nil, err
	}
	c.pool = d.share.NewPool(d.config.OpTimeout)
	handle := sql.OpenDB(c)
	handle.SetConnMaxLifetime(time.Hour)
	handle.SetConnMaxIdleTime(idleTime)
	c.pool.Bound(handle)
	d.bounds = append(d.bounds, c.pool)
	return handle, nil
}

// newConnector returns the connector of a pool. A handshake must not take longer than an operation may.
func (d *DB) newConnector(config Config, on *dialer, parameters ...parameter) (connector, error) {
	seconds := max(1, int(on.timeout/time.Second))
	dsn, err := config.buildDSN(append(parameters, parameter{"connect_timeout", strconv.Itoa(seconds)})...)
	if err != nil {
		return connector{}, err
	}
	given, err := pq.NewConfig(dsn)
	if err != nil {
		return connector{}, fmt.Errorf("database url: invalid connection string")
	}
	if d.watch != nil && (given.TargetSessionAttrs == "" || given.TargetSessionAttrs == pq.TargetSessionAttrsAny) {
		given.TargetSessionAttrs = pq.TargetSessionAttrsReadWrite // no statement works on a standby
	}
	return connector{config: given, hosts: d.hosts, dialer: on, fitness: d.fitness,
		index: given.Runtime["enable_seqscan"] == "off", watch: d.watch}, nil
}

// ShareWith divides the connections that the server has room for among the given number of live processes,
// including this one.
func (d *DB) ShareWith(processes int) { d.share.SetProcesses(processes) }

// ConnectionRoom returns the number of connections that all processes may open together, the number of processes that
// share them, and the number that the pools of each may open.
func (d *DB) ConnectionRoom() (connections, processes, each int) { return d.share.Figures() }

// ReadFrom makes Read use a replica from now on. Call it before the first Read.
func (d *DB) ReadFrom(r Reader) { d.reader = r }

// Read runs fn, which must only read, for lists, search and statistics: on a replica that has everything
// committed before the call, if there is one, else on the ordinary pool. After an error, fn may run a
// second time. On a replica it runs in one transaction.
func (d *DB) Read(ctx context.Context, fn func(on *ent.Client) error) error {
	if d.reader == nil {
		return fn(d.Ent)
	}
	return d.reader.Read(ctx, fn)
}

// OpenReplica returns a pool of connections to standbys of this server, for package replica. It does not
// connect yet. Connections to a server that is not a standby fail with the reason.
func (d *DB) OpenReplica(url string, connections int, opTimeout time.Duration) (*sql.DB, error) {
	given, err := pq.NewConfig(url)
	if err != nil {
		return nil, errors.New("invalid connection string") // err would reveal the password
	}
	config := Config{URL: url, OpTimeout: opTimeout}.withDefaults()
	beside := &DB{hosts: hostsOf(given), fitness: &fitness{primary: d.fitness, log: d.log}}
	return beside.openPool(config, connections, &dialer{timeout: config.OpTimeout},
		parameter{"default_transaction_read_only", "on"})
}

// Ping checks that the server responds. (sql.DB.Ping would try three times.)
func (d *DB) Ping(ctx context.Context) error {
	if _, err := d.SQL.ExecContext(ctx, "SELECT 1"); err != nil {
		return fmt.Errorf("ping database: %w", err)
	}
	return nil
}

// FlushTime returns the default time limit of a joined write: one second more than an operation may take.
func (d *DB) FlushTime() time.Duration {
	if d == nil {
		return 0
	}
	return d.config.OpTimeout + time.Second
}

// Close closes both pools. Connections to a dead server are closed without a farewell message.
func (d *DB) Close() error {
	for _, pool := range d.bounds {
		pool.Close()
	}
	if d.watch != nil {
		d.watch.Close()
	}
	for _, handle := range []*sql.DB{d.Hot, d.SQL} {
		if err := handle.Close(); err != nil && !fault.IsDatabaseUnavailable(err) {
			return fmt.Errorf("close database: %w", err)
		}
	}
	return nil
}

// Connections returns the number of open connections of both pools, and how many of them are in use.
func (d *DB) Connections() (open, used int) {
	ordinary, hot := d.SQL.Stats(), d.Hot.Stats()
	return ordinary.OpenConnections + hot.OpenConnections, ordinary.InUse + hot.InUse
}
