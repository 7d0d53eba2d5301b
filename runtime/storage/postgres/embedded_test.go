package postgres

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var discard = slog.New(slog.DiscardHandler)

// quick contains settings for servers with disposable data.
var quick = map[string]string{"fsync": "off", "shared_buffers": "16MB", "max_connections": "10"}

// TestMain lets the test binary act as a program that starts a server and is killed.
func TestMain(m *testing.M) {
	if data := os.Getenv("EMBEDDED_TEST_CHILD"); data != "" {
		s, err := Start(context.Background(), Config{DataDir: data, Settings: quick, Logger: discard})
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("started", s.PID())
		select {}
	}
	os.Exit(m.Run())
}

func start(t *testing.T, data string) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	s, err := Start(ctx, Config{DataDir: data, Settings: quick, Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Errorf("Stop returned %v", err)
	}
}

// expectStartError expects Start to fail with an error that contains all of the words.
func expectStartError(t *testing.T, config Config, words ...string) {
	t.Helper()
	config.Logger = discard
	s, err := Start(t.Context(), config)
	if err == nil {
		stop(t, s)
		t.Fatal("started")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error %q does not contain %q", err, word)
		}
	}
}

func query(t *testing.T, s *Server, statement string) string {
	t.Helper()
	handle, err := sql.Open("postgres", s.URL())
	if err != nil {
		t.Fatal(err)
	}
	var answer sql.NullString
	err = handle.QueryRowContext(t.Context(), statement).Scan(&answer)
	if err := errors.Join(err, handle.Close()); err != nil {
		t.Fatalf("the query %s failed: %v", statement, err)
	}
	return answer.String
}

func exists(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestDataSurvivesRestart(t *testing.T) {
	t.Parallel()
	// The path is too long for a socket, below a folder that other users cannot access, like a clone in a
	// mktemp -d folder of root.
	closed := filepath.Join(t.TempDir(), "closed")
	data := filepath.Join(closed, strings.Repeat("deep/", 30), "data")
	if err := os.MkdirAll(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	s := start(t, data)
	query(t, s, `CREATE TABLE kept AS SELECT 'here' AS word; SELECT 1`)
	if got := query(t, s, `SELECT current_setting('listen_addresses') || current_setting('fsync')`); got != "off" {
		t.Errorf("listen_addresses and fsync are %q", got)
	}
	expectStartError(t, Config{DataDir: data}, "in use by process "+strconv.Itoa(os.Getpid()))
	if user := query(t, s, `SELECT current_user || ' ' || current_database()`); user != "postrider postrider" {
		t.Errorf("connected as %s", user)
	}
	pid := s.PID()
	stop(t, s)
	stop(t, s)
	if exists(pid) {
		t.Errorf("the process %d still exists", pid)
	}
	if _, err := os.Stat(s.SocketDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket's folder still exists: %v", err)
	}
	again := start(t, data)
	if got := query(t, again, `SELECT word FROM kept`); got != "here" {
		t.Errorf("the stored word is %q", got)
	}
	if again.URL() != s.URL() {
		t.Errorf("the address changed from %s to %s", s.URL(), again.URL())
	}
}

func TestKilledParentLeavesNoServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "EMBEDDED_TEST_CHILD="+data)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	word, number, _ := strings.Cut(strings.TrimSpace(line), " ")
	pid, convErr := strconv.Atoi(number)
	if err != nil || word != "started" || convErr != nil {
		t.Fatalf("the child process printed %q: %v", line, err)
	}
	if err := command.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err == nil {
		t.Error("the child process was not killed")
	}
	// Immediately, while the old server may still be shutting down.
	s := start(t, data)
	if exists(pid) {
		t.Errorf("the killed parent's server, process %d, still exists", pid)
	}
	query(t, s, `SELECT 1`)
}

func TestDeadServerIsRestarted(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	query(t, s, `CREATE TABLE kept AS SELECT 1 AS one; SELECT 1`)
	first := s.PID()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	handle, err := sql.Open("postgres", s.URL())
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(2 * time.Minute)
	for {
		_, err := handle.ExecContext(t.Context(), `SELECT one FROM kept`)
		if err == nil && s.PID() != first {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server was not restarted: %v", err)
		}
		<-time.After(20 * time.Millisecond)
	}
	if err := handle.Close(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(s.PID(), syscall.SIGSTOP); err != nil { // even a frozen server stops
		t.Fatal(err)
	}
	stop(t, s)
}

func TestForeignFilesAreKept(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file, content string
		words         []string
	}{
		"another major version": {"PG_VERSION", "9.6\n", []string{"PostgreSQL 9.6", "install PostgreSQL 9.6", "nothing was changed"}},
		"something else":        {"notes.txt", "mine", []string{"not empty", "nothing was changed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			files := filepath.Join(data, "postgres")
			if err := os.Mkdir(files, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(files, test.file), []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if os.Geteuid() == 0 {
				if err := os.Chown(files, 65534, 65534); err != nil {
					t.Fatal(err)
				}
			}
			expectStartError(t, Config{DataDir: data}, append(test.words, files)...)
			entries, err := os.ReadDir(files)
			if err != nil || len(entries) != 1 || entries[0].Name() != test.file {
				t.Errorf("the files afterwards are %v, %v", entries, err)
			}
		})
	}
}

func TestMissingBinaries(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	expectStartError(t, Config{DataDir: t.TempDir(), BinDir: empty}, empty, "POSTRIDER_POSTGRES_BIN")
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expectStartError(t, Config{DataDir: filepath.Join(blocked, "data")}, "data directory", blocked)
	expectStartError(t, Config{}, "DataDir")
}

// A pid file that contains a running process which is not a server: the container was restarted and the
// number was reused.
func TestStalePidOfAnotherProgram(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	stop(t, start(t, data))
	sleeper := exec.Command("sleep", "60")
	account, err := chooseAccount(filepath.Join(data, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	sleeper.Dir, sleeper.SysProcAttr = "/", &syscall.SysProcAttr{Credential: account.processCredential()}
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(data, "postgres", "postmaster.pid")
	content := fmt.Sprintf("%d\n%s\n1700000000\n5432\n/tmp\n\n  123456 7\nready\n", sleeper.Process.Pid,
		filepath.Join(data, "postgres"))
	if err := os.WriteFile(stale, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := account.giveFolder(stale); err != nil {
		t.Fatal(err)
	}
	s := start(t, data)
	query(t, s, `SELECT 1`)
	if err := sleeper.Process.Kill(); err != nil {
		t.Error(err)
	}
	if err := sleeper.Wait(); err == nil {
		t.Error("the sleeper ended on its own")
	}
}

// A server on our files that another program started must not be stopped.
func TestForeignServerIsReported(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, data)
	if err := s.lock.recordPostmaster(0); err != nil {
		t.Fatal(err)
	}
	if err := s.lock.release(); err != nil {
		t.Fatal(err)
	}
	expectStartError(t, Config{DataDir: data}, "process "+strconv.Itoa(s.PID()), "did not start")
	query(t, s, `SELECT 1`)
}
