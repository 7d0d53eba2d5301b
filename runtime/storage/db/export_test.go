package db

import (
	"database/sql/driver"
	"log/slog"
	"time"

	"github.com/lib/pq"
)

// JoinFor is how long wakes of other processes wait for company.
const JoinFor = joinFor

// Heard is closed once the signals of other processes are heard.
func (s *Signals) Heard() <-chan struct{} { return s.heard }

// WakeEverybody does what follows a new connection.
func (s *Signals) WakeEverybody() { s.wakeEverybody() }

// The migration runner over any set of files, and the check over any answers.
var (
	MigrateFrom = migrateFiles
	Judge       = durability.checkSettings
	WaitsFor    = waitsFor
)

// Durability is what a server says of itself.
type Durability = durability

// NewDurability makes one.
func NewDurability(version int, fsync, commit, standbys, throwAway string) Durability {
	return durability{version: version, text: "x", fsync: fsync, commit: commit, standbys: standbys, throwAway: throwAway}
}

// Addresses gives a connection string for each host that the string names.
func Addresses(dsn string) ([]string, error) {
	given, err := pq.NewConfig(dsn)
	if err != nil {
		return nil, err
	}
	return hostsOf(given).hostAddresses(dsn), nil
}

// NewConnector makes one as that of a pool.
func NewConnector(dsn string) (driver.Connector, error) {
	given, err := pq.NewConfig(dsn)
	return connector{config: given, hosts: hostsOf(given), dialer: &dialer{timeout: 4 * time.Second},
		fitness: &fitness{riskAccepted: true, log: slog.New(slog.DiscardHandler)}}, err
}
