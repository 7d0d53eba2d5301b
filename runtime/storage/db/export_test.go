package db

import (
	"database/sql/driver"
	"log/slog"
	"time"

	"github.com/lib/pq"
)

// JoinFor is how long wakes of other processes are collected.
const JoinFor = joinFor

// Heard is closed once the signals of other processes are received.
func (s *Signals) Heard() <-chan struct{} { return s.heard }

// WakeEverybody does the work that follows a new connection.
func (s *Signals) WakeEverybody() { s.wakeEverybody() }

// The migration runner for any set of files, and the check for any result.
var (
	MigrateFrom = migrateFiles
	Judge       = durability.checkSettings
	WaitsFor    = waitsFor
)

// Durability is what a server reports about itself.
type Durability = durability

// NewDurability creates a Durability.
func NewDurability(version int, fsync, commit, standbys, throwAway string) Durability {
	return durability{version: version, text: "x", fsync: fsync, commit: commit, standbys: standbys,
		throwAway: throwAway}
}

// Addresses returns a connection string for each host in the string.
func Addresses(dsn string) ([]string, error) {
	given, err := pq.NewConfig(dsn)
	if err != nil {
		return nil, err
	}
	return hostsOf(given).hostAddresses(dsn), nil
}

// NewConnector creates a connector like that of a pool.
func NewConnector(dsn string) (driver.Connector, error) {
	given, err := pq.NewConfig(dsn)
	return connector{config: given, hosts: hostsOf(given), dialer: &dialer{timeout: 4 * time.Second},
		fitness: &fitness{riskAccepted: true, log: slog.New(slog.DiscardHandler)}}, err
}
