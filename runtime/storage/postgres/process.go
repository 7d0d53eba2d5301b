package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lib/pq"
)

// serverSettings returns the command line settings of the server; all others come from postgresql.conf.
func (s *Server) serverSettings() map[string]string {
	result := map[string]string{
		"listen_addresses":        "", // socket only
		"unix_socket_directories": s.socket,
		"unix_socket_permissions": "0700",
		"port":                    "5432",
		"max_connections":         "100",
		"shared_buffers":          "128MB",
		"wal_compression":         "on",
		"max_wal_size":            "4GB", // fewer checkpoints, after each of which every changed page is written to the WAL
		"checkpoint_timeout":      "15min",
		"jit":                     "off", // all statements are short
		"random_page_cost":        "1.1", // assumes SSDs
		"timezone":                "UTC",
		"log_timezone":            "UTC",
		"log_destination":         "stderr",
		"logging_collector":       "off",
		"log_line_prefix":         "",
		"log_checkpoints":         "off",
		"cluster_name":            "postrider",
	}
	maps.Copy(result, s.config.Settings)
	return result
}

// process is one run of the server.
type process struct {
	pid    int
	exited chan struct{}
	err    error // of Wait, valid after exited is closed
	output *output
}

// launchProcess starts the server on a dedicated thread: the kernel sends the death signal when the thread that
// forked ends, not when the process does.
func (s *Server) launchProcess() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.isStopping() {
		return nil
	}
	started := make(chan error, 1)
	p := &process{exited: make(chan struct{}), output: &output{log: s.log}}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		command := s.serverCommand()
		command.Stderr, command.WaitDelay = p.output, time.Second
		if err := command.Start(); err != nil {
			started <- fmt.Errorf("start %s: %w", s.binaries.programPath("postgres"), err)
			return
		}
		p.pid = command.Process.Pid
		started <- nil
		p.err = command.Wait()
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return err
	}
	s.process = p
	return s.lock.recordPostmaster(p.pid)
}

func (s *Server) serverCommand() *exec.Cmd {
	arguments := []string{"-D", s.folder.path}
	values := s.serverSettings()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		arguments = append(arguments, "-c", name+"="+values[name])
	}
	command := exec.Command(s.binaries.programPath("postgres"), arguments...) //nolint:noctx // runs until Stop, not until a call is over
	command.Dir, command.Env = "/", serverEnvironment()
	command.ExtraFiles = s.folder.inheritedFiles()
	// A separate process group: Ctrl-C in the terminal reaches only Postrider, which drains before it stops
	// the database.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: s.account.processCredential()}
	endWithParent(command.SysProcAttr)
	return command
}

// superviseProcess restarts the server if it ends unexpectedly.
func (s *Server) superviseProcess() {
	defer close(s.finished)
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		s.mutex.Lock()
		current := s.process
		s.mutex.Unlock()
		began := time.Now()
		<-current.exited
		if s.isStopping() {
			return
		}
		if time.Since(began) > time.Minute {
			wait = time.Second
		}
		s.log.Error("embedded postgres exited unexpectedly, restarting it", "pid", current.pid, "error", current.err,
			"said", current.output.String(), "wait", wait)
		select {
		case <-s.stopping:
			return
		case <-time.After(wait):
		}
		if err := s.launchProcess(); err != nil {
			s.log.Error("embedded postgres failed to start", "error", err)
		}
	}
}

func (s *Server) isStopping() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}

// firstRun starts the server and returns when it accepts connections and has our database. Remaining
// processes of a killed server may hold its shared memory for a moment.
func (s *Server) firstRun(ctx context.Context) error {
	handle, err := sql.Open("postgres", s.DatabaseURL("postgres"))
	if err != nil {
		return err
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		if err = s.launchProcess(); err != nil {
			break
		}
		err = s.awaitReady(ctx, handle)
		if err == nil || !strings.Contains(err.Error(), "shared memory block") || time.Now().After(deadline) {
			break
		}
		s.log.InfoContext(ctx, "waiting for the last processes of a killed server")
	}
	return errors.Join(err, handle.Close())
}

func (s *Server) awaitReady(ctx context.Context, handle *sql.DB) error {
	s.mutex.Lock()
	first := s.process
	s.mutex.Unlock()
	report := time.Now().Add(3 * time.Second)
	for {
		err := createDatabase(ctx, handle)
		var answer *pq.Error
		if err == nil || errors.As(err, &answer) && answer.Code != "57P03" { // cannot_connect_now: starting up
			return err
		}
		select {
		case <-first.exited:
			return fmt.Errorf("the server exited immediately: %s", first.output)
		case <-ctx.Done():
			return fmt.Errorf("the server does not respond: %w (%s)", ctx.Err(), first.output)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(report) {
			s.log.InfoContext(ctx, "waiting for embedded postgres", "pid", first.pid, "answer", err.Error())
			report = time.Now().Add(5 * time.Second)
		}
	}
}

func createDatabase(ctx context.Context, handle *sql.DB) error {
	var exists bool
	if err := handle.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, role).Scan(&exists); err != nil {
		return err
	}
	if exists {
		return nil
	}
	_, err := handle.ExecContext(ctx, `CREATE DATABASE `+pq.QuoteIdentifier(role))
	return err
}

// haltProcess stops the process: SIGINT requests PostgreSQL's fast shutdown, SIGQUIT its immediate one. A frozen
// server cannot react to either, hence SIGCONT.
func (s *Server) haltProcess(ctx context.Context) error {
	s.mutex.Lock() // a concurrent launch has ended, or will see that the server is stopping
	s.stop.Do(func() { close(s.stopping) })
	current := s.process
	s.mutex.Unlock()
	if current == nil {
		return nil
	}
	for _, step := range []struct {
		signal   syscall.Signal
		patience time.Duration
	}{{syscall.SIGINT, 15 * time.Second}, {syscall.SIGQUIT, 5 * time.Second}, {syscall.SIGKILL, 5 * time.Second}} {
		select {
		case <-current.exited:
		default:
			if err := errors.Join(sendSignal(current.pid, step.signal),
				sendSignal(current.pid, syscall.SIGCONT)); err != nil {
				return fmt.Errorf("stop embedded postgres, process %d: %w", current.pid, err)
			}
		}
		patience, cancel := context.WithTimeout(ctx, step.patience)
		select {
		case <-current.exited:
			cancel()
			<-s.finished
			return nil
		case <-patience.Done():
			cancel()
			s.log.Warn("embedded postgres does not stop", "pid", current.pid, "signal", step.signal.String())
		}
	}
	return fmt.Errorf("embedded postgres, process %d, does not end", current.pid)
}

func sendSignal(pid int, what syscall.Signal) error {
	if err := syscall.Kill(pid, what); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
