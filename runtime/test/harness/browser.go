package harness

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const scriptTimeout = 10 * time.Minute

// Script runs a script of .ci/browser in Chromium and returns its output. The test fails if the script does.
// Variables are passed as NAME=value. Without Node.js or Chromium the test is skipped.
func Script(t testing.TB, name string, variables ...string) string {
	t.Helper()
	// The headless shell renders like Chromium, and starts in a third of the time.
	chromium := findProgram(t, "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
	node := findProgram(t, "node")
	folder := installScripts(t)
	ctx, cancel := context.WithTimeout(t.Context(), scriptTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, name)
	cmd.Dir, cmd.Env = folder, append(append(os.Environ(), "CHROMIUM="+chromium), variables...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the browser ends with the script
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

func findProgram(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed; on Debian: apt-get install chromium-headless-shell nodejs npm", names[0])
	return ""
}

// installScripts returns the folder of the scripts with their dependencies. One of several processes installs them.
func installScripts(t testing.TB) string {
	t.Helper()
	folder := findUp(t, filepath.Join(".ci", "browser"))
	lock, err := os.Open(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	wanted, err := os.ReadFile(lock.Name())
	if err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(folder, "node_modules", ".installed")
	if have, err := os.ReadFile(mark); err == nil && bytes.Equal(have, wanted) {
		return folder
	}
	cmd := exec.CommandContext(t.Context(), findProgram(t, "npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund",
		"--no-update-notifier", "--loglevel=error")
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm ci in %s: %v\n%s", folder, err, out)
	}
	if err := os.WriteFile(mark, wanted, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// findUp finds a path in the working directory or a parent.
func findUp(t testing.TB, path string) string {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(at, path)); err == nil {
			return filepath.Join(at, path)
		}
		if filepath.Dir(at) == at {
			t.Fatalf("%s is not in this folder or a parent", path)
		}
		at = filepath.Dir(at)
	}
}
