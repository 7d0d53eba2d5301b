// Package store opens what the modules share: the database, including the server if it is embedded, and the
// keys that open sealed values. The service and its commands both start with Open.
package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/replica"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/storage/postgres"
	"github.com/postrider/postrider/runtime/work/node/machine"
)

// Store is the database and the keys. Call Close at the end.
type Store struct {
	DB      *db.DB
	Replica *replica.Replica // nil if not configured; not checked yet
	Box     *secret.Box
	URL     string // URL of the database

	server *postgres.Server // nil with DATABASE_URL
}

// StopLimit is how long a stop may take: Docker and Kubernetes users typically allow half a minute.
const StopLimit = 30 * time.Second

const (
	// How long a start waits for an unavailable database: machines boot in any order.
	awayLimit = time.Minute
	awayPause = 2 * time.Second
	// How long a command waits for a service on the same machine that is starting.
	besidePause = 100 * time.Millisecond
)

// Open opens the configured database, or runs an embedded server, and migrates it to the schema of this
// version, unless POSTRIDER_MIGRATE is off. It waits a minute for an unavailable database.
func Open(ctx context.Context, cfg setting.Values, log *slog.Logger) (*Store, error) {
	check := mayBegin
	if config.Migrate.Get(cfg) == config.MigrateOff { // no tables will be created
		check = anyDatabase
	}
	s, err := open(ctx, cfg, log, check)
	if err == nil {
		shareRoom(ctx, cfg, s.DB, log)
	}
	return s, err
}

// OpenExisting is Open for commands. A missing database is an error, and nothing is created.
func OpenExisting(ctx context.Context, cfg setting.Values, log *slog.Logger) (*Store, error) {
	if config.IsEmbedded(cfg) && !HoldsData(config.DataDir.Get(cfg)) {
		if err := otherData(cfg); err != nil {
			return nil, err
		}
		// A service that is starting may be creating one.
		if holder, _, err := postgres.Holder(config.DataDir.Get(cfg)); err != nil || holder == 0 {
			return nil,
				errors.Join(fmt.Errorf("POSTRIDER_DATA_DIR: %s has no database, and none was created: set the data directory or the DATABASE_URL of the service, or start the service first", config.DataDir.Get(cfg)), err)
		}
	}
	if config.IsEmbedded(cfg) { // a service creates the tables
		return open(ctx, cfg, log, anyDatabase)
	}
	return open(ctx, cfg, log, hasTables)
}

func anyDatabase(context.Context, *db.DB) error { return nil }

// mayBegin rejects a database that has no tables and may belong to another installation.
func mayBegin(ctx context.Context, d *db.DB) error { return d.CheckMayCreate(ctx) }

// hasTables rejects an external database without our schema.
func hasTables(ctx context.Context, d *db.DB) error {
	there, err := d.HasTables(ctx)
	if err == nil && !there {
		err = errors.New("the database has no Postrider tables, and none were created: start the service first, or run postrider migrate")
	}
	return err
}

func open(ctx context.Context, cfg setting.Values, log *slog.Logger,
	check func(context.Context, *db.DB) error) (_ *Store, err error) {
	id.SetCell(config.Cell.Get(cfg))
	s := &Store{URL: config.DatabaseURL.Get(cfg).Reveal()}
	defer func() {
		if err != nil {
			s.Close(log, StopLimit)
		}
	}()
	if err := makeDataDir(cfg); err != nil {
		return nil, err
	}
	if s.Box, err = openBox(cfg); err != nil {
		return nil, err
	}
	if config.IsEmbedded(cfg) {
		if err := s.startServer(ctx, cfg, log); err != nil {
			return nil, err
		}
	}
	if s.DB, err = connect(ctx, cfg, s.URL, log, check); err != nil {
		return nil, err
	}
	if err := s.openReplica(cfg, log); err != nil {
		return nil, err
	}
	if config.Migrate.Get(cfg) == config.MigrateOff {
		return s, db.CheckSchema(ctx, s.DB)
	}
	if err := db.Migrate(ctx, s.DB, log); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	compareCells(ctx, cfg, s.DB, log)
	return s, nil
}

// Reach returns the address of the database for external programs, and runs the embedded server if no process
// does. It does not migrate. It fails if the data directory has no database (it creates none), or if no host
// of DATABASE_URL may be used.
func Reach(ctx context.Context, cfg setting.Values, log *slog.Logger) (*Store, error) {
	if !config.IsEmbedded(cfg) {
		url, err := HostInUse(ctx, cfg)
		return &Store{URL: url}, err
	}
	s := &Store{}
	if !HoldsData(config.DataDir.Get(cfg)) {
		return nil, fmt.Errorf("POSTRIDER_DATA_DIR: %s has no database, and DATABASE_URL is not set",
			config.DataDir.Get(cfg))
	}
	return s, s.startServer(ctx, cfg, log)
}

// HostInUse returns the address of the one host of DATABASE_URL that the service would use.
func HostInUse(ctx context.Context, cfg setting.Values) (string, error) {
	url, err := db.HostInUse(ctx, config.DatabaseURL.Get(cfg).Reveal())
	if err != nil {
		return "", fmt.Errorf("DATABASE_URL: %w", err)
	}
	return url, nil
}

// KeyMark returns a value that identifies the master key but reveals nothing about it. It is empty if no key
// is known.
func KeyMark(cfg setting.Values) string {
	if !HasKeys(cfg) {
		return ""
	}
	box, err := openBox(cfg)
	if err != nil {
		return ""
	}
	return hex.EncodeToString(box.Derive("mark of backups")[:8])
}

// Server returns the data directory of the embedded PostgreSQL, and where to look for its programs.
func Server(cfg setting.Values, log *slog.Logger) postgres.Config {
	// Connections for one service and for commands.
	most := strconv.Itoa(max(100, 2*db.PerProcess(config.Connections.Get(cfg))+10))
	return postgres.Config{DataDir: config.DataDir.Get(cfg), BinDir: config.PostgresBin.Get(cfg),
		Fallback: config.PostgresFallback.Get(cfg), Logger: log,
		Settings: map[string]string{"max_connections": most, "shared_buffers": sharedBuffers(machine.Memory())}}
}

// sharedBuffers returns a sixteenth of the memory of the machine, because Postrider itself and the file cache need the
// rest; at least PostgreSQL's default.
func sharedBuffers(memory int64) string {
	return strconv.FormatInt(min(max(memory>>4, 128<<20), 1<<30)>>20, 10) + "MB"
}

// startServer runs the embedded PostgreSQL. A command uses the one of a running service, if there is one.
func (s *Store) startServer(ctx context.Context, cfg setting.Values, log *slog.Logger) error {
	log.InfoContext(ctx, "starting the embedded PostgreSQL", "data_dir", config.DataDir.Get(cfg))
	limit := time.Now().Add(awayLimit)
	for {
		server, err := postgres.Start(ctx, Server(cfg, log))
		if err == nil {
			s.server, s.URL = server, server.URL()
			return nil
		}
		var busy *postgres.InUseError
		if cfg.Mode != setting.Tool || !errors.As(err, &busy) {
			return err
		}
		found, findErr := postgres.Find(config.DataDir.Get(cfg))
		if findErr == nil {
			log.InfoContext(ctx, "using the PostgreSQL of the running service", "pid", busy.Holder)
			s.URL = found
			return nil
		}
		if !errors.Is(findErr, postgres.ErrNotReady) || time.Now().After(limit) {
			return errors.Join(err, findErr)
		}
		select {
		case <-time.After(besidePause):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// makeDataDir creates the data directory if it is needed: for the embedded database, or for the key of
// development mode. No other user can access it. A scratch image has no place for it, and needs none.
func makeDataDir(cfg setting.Values) error {
	if !config.IsEmbedded(cfg) && cfg.Mode != setting.Dev {
		return nil
	}
	if err := otherData(cfg); err != nil {
		return err
	}
	if err := os.MkdirAll(config.DataDir.Get(cfg), 0o700); err != nil {
		return fmt.Errorf("POSTRIDER_DATA_DIR: %s is not a folder and cannot be created: %w", config.DataDir.Get(cfg),
			err)
	}
	return nil
}

// otherData prevents a command from creating a second database in the default data directory while a
// database of development mode exists here, which was probably meant.
func otherData(cfg setting.Values) error {
	if cfg.Mode != setting.Tool || config.DataDir.Get(cfg) != config.DefaultDataDir ||
		HoldsData(config.DataDir.Get(cfg)) || !HoldsData(config.DevDataDir) {
		return nil
	}
	return fmt.Errorf("POSTRIDER_DATA_DIR: %s has no database yet, but ./%s has one from development mode: use "+
		"--data-dir %s, or run the command in another folder to create a new one",
		config.DataDir.Get(cfg), config.DevDataDir, config.DevDataDir)
}

// HoldsData reports whether the data directory contains an embedded database.
func HoldsData(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "postgres", "PG_VERSION"))
	return err == nil
}

func databaseConfig(cfg setting.Values, url string) db.Config {
	return db.Config{URL: url, Connections: config.Connections.Get(cfg), Standbys: config.Standbys.Get(cfg),
		RiskLosingAcceptedMail: config.RiskLosingAcceptedMail.Get(cfg)}
}

// connect waits for a server that does not respond yet. A server that responds but is rejected, by the server
// itself or by check, is an immediate error.
func connect(ctx context.Context, cfg setting.Values, url string, log *slog.Logger,
	check func(context.Context, *db.DB) error) (*db.DB, error) {
	limit, name := time.Now().Add(awayLimit), "DATABASE_URL"
	if config.IsEmbedded(cfg) {
		name = "embedded postgres"
	}
	for {
		opened, err := db.Open(ctx, databaseConfig(cfg, url), log)
		if err == nil {
			if err = check(ctx, opened); err == nil {
				return opened, nil
			}
			err = errors.Join(err, opened.Close())
		}
		refused := notLetIn(err) && !config.IsEmbedded(cfg) // an embedded server is still being set up
		if !fault.IsDatabaseUnavailable(err) || refused || time.Now().After(limit) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		log.WarnContext(ctx, "database unavailable, retrying", "until", limit.Format(time.TimeOnly), telemetry.KeyError,
			err)
		select {
		case <-time.After(awayPause):
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w", name, errors.Join(ctx.Err(), err))
		}
	}
}

// ReplicaConfig returns the configuration of the database replica.
func ReplicaConfig(cfg setting.Values) replica.Config {
	return replica.Config{URL: config.ReplicaURL.Get(cfg).Reveal(), Connections: config.Connections.Get(cfg) / 2,
		RiskLosingAcceptedMail: config.RiskLosingAcceptedMail.Get(cfg)}
}

// openReplica does not connect, so that an unavailable replica does not prevent the start.
func (s *Store) openReplica(cfg setting.Values, log *slog.Logger) (err error) {
	if config.ReplicaURL.Get(cfg).IsZero() {
		return nil
	}
	s.Replica, err = replica.Open(s.DB, ReplicaConfig(cfg), log)
	if err != nil {
		return fmt.Errorf("POSTRIDER_DATABASE_REPLICA_URL: %w", err)
	}
	s.DB.ReadFrom(s.Replica)
	return nil
}

// notLetIn reports whether a server rejected the user, password or database. At runtime this may be
// temporary; at the start it is a mistake in the setting.
func notLetIn(err error) bool {
	var server *pq.Error
	return errors.As(err, &server) && (server.Code.Class() == "28" || server.Code == "3D000")
}

// openBox loads the master key: from a setting, or in development mode from a file that is created at the
// first start.
func openBox(cfg setting.Values) (*secret.Box, error) {
	keys, file := config.MasterKey.Get(cfg), keyFile(cfg)
	if len(keys) == 0 && file == "" {
		return secret.NewBox(secret.NewKey()) // for a command that seals nothing permanent
	}
	if len(keys) == 0 {
		text, err := secret.KeyFile(file)
		if err != nil {
			return nil, fmt.Errorf("POSTRIDER_DATA_DIR: %w", err)
		}
		if keys, err = secret.ParseKeys(text); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Clean(file), err)
		}
	}
	return secret.NewBox(keys...)
}

// keyFile returns the path of the master key file of development mode, next to its own database. A command
// uses the file if it exists, and never creates it; otherwise the result is empty.
func keyFile(cfg setting.Values) string {
	file := filepath.Join(config.DataDir.Get(cfg), "master.key")
	switch _, err := os.Stat(file); {
	case cfg.Mode == setting.Dev:
		return file
	case cfg.Mode == setting.Tool && err == nil && config.IsEmbedded(cfg):
		return file
	}
	return ""
}

// HasKeys reports whether there are keys that open the sealed values of the database.
func HasKeys(cfg setting.Values) bool {
	return len(config.MasterKey.Get(cfg)) > 0 || keyFile(cfg) != ""
}

// Cursors returns the codec of page cursors, which all processes of the installation share.
func (s *Store) Cursors() *page.Codec { return page.NewCodec(s.Box.Derive("page cursors")) }

// ServerPID returns the process id of the embedded server, or 0.
func (s *Store) ServerPID() int {
	if s.server == nil {
		return 0
	}
	return s.server.PID()
}

// Close closes the database and stops the server within the limit.
func (s *Store) Close(log *slog.Logger, limit time.Duration) {
	if s.Replica != nil {
		if err := s.Replica.Close(); err != nil {
			log.Error("close the database replica", telemetry.KeyError, err)
		}
	}
	if s.DB != nil {
		if err := s.DB.Close(); err != nil {
			log.Error("close database", telemetry.KeyError, err)
		}
	}
	if s.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := s.server.Stop(ctx); err != nil {
			log.Error("stop the embedded PostgreSQL", telemetry.KeyError, err)
		}
	}
}
