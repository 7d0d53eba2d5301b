package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// role is the server's superuser, which owns everything in it. Only users that can enter the socket's
// folder can connect as it.
const role = "postrider"

// createFiles creates the server's files under another name and renames them when they are complete: a
// killed initdb leaves nothing that looks like data.
func (s *Server) createFiles(ctx context.Context, files string) error {
	s.log.InfoContext(ctx, "first start: creating the database", "data", files, "version", s.binaries.version)
	started := time.Now()
	staging := files + ".new"
	if err := os.RemoveAll(staging); err != nil {
		return fmt.Errorf("clear %s: %w", staging, err)
	}
	if err := os.Mkdir(staging, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if err := s.account.giveFolder(staging); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if err := s.runInitdb(ctx, staging); err != nil {
		return errors.Join(err, os.RemoveAll(staging))
	}
	// at most an empty folder, see dataVersion
	if err := os.Remove(files); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("data directory: %w", err)
	}
	if err := os.Rename(staging, files); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	s.log.InfoContext(ctx, "database created", "duration", time.Since(started).Round(time.Millisecond))
	return nil
}

func (s *Server) runInitdb(ctx context.Context, staging string) error {
	target, err := openFolder(staging, s.account)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, s.binaries.programPath("initdb"), "--pgdata", target.path, "--username", role,
		"--auth-local=trust", "--auth-host=reject", "--encoding=UTF8", "--locale=C", "--no-instructions")
	command.Dir, command.Env = "/", serverEnvironment()
	command.ExtraFiles = target.inheritedFiles()
	command.SysProcAttr = &syscall.SysProcAttr{Credential: s.account.processCredential(), Setpgid: true}
	endWithParent(command.SysProcAttr)
	runtime.LockOSThread() // see launchProcess
	defer runtime.UnlockOSThread()
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	output, err := command.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("initdb: %w: %s", err, lastLines(string(output), 5))
	}
	return errors.Join(err, target.close())
}

// serverEnvironment returns the environment of the server and its tools: without PGDATA and similar variables,
// without a locale, without our secrets.
func serverEnvironment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
}

func lastLines(text string, count int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "; ")
}
