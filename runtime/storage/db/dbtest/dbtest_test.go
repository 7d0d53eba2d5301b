package dbtest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary serve as the process that is killed.
func TestMain(m *testing.M) {
	if os.Getenv("DBTEST_CHILD") != "" {
		server, err := startFromCache(throwAway)
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(filepath.Dir(server.DataDir()), server.SocketDir())
		select {}
	}
	os.Exit(m.Run())
}

func TestDatabasesAreIsolated(t *testing.T) {
	t.Parallel()
	one, two := New(t), New(t)
	Exec(t, one, `UPDATE plans SET name = 'changed'`)
	plan, err := two.Ent.Plan.Get(t.Context(), "free")
	if err != nil {
		t.Fatal(err)
	}
	if plan.Name != "Free" {
		t.Errorf("the other database has the name %q", plan.Name)
	}
}

func TestGivenServer(t *testing.T) {
	t.Parallel()
	server := NewServer(t)
	for range 2 { // the second call finds the template
		a, err := onGivenServer(server.URL())
		if err != nil {
			t.Fatal(err)
		}
		name, err := a.cloneDatabase(a.template)
		if err != nil {
			t.Fatal(err)
		}
		d := openDatabase(t, patientConfig(databaseURL(a.url, name)))
		if n, err := d.Ent.Plan.Query().Count(t.Context()); err != nil || n == 0 {
			t.Errorf("got %d plans, %v", n, err)
		}
		if err := errors.Join(a.dropDatabase(name), a.handle.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestStopAndStartKeepData(t *testing.T) {
	t.Parallel()
	server := NewServer(t)
	d := server.Open()
	Exec(t, d, `UPDATE plans SET name = 'changed'`)
	before := server.PID()
	server.Stop()
	server.Start()
	plan, err := server.Open().Ent.Plan.Get(t.Context(), "free")
	if err != nil || plan.Name != "changed" || server.PID() == before {
		t.Errorf("after the restart, got %v, %v and the processes %d and %d", plan, err, before, server.PID())
	}
}

func TestKilledTestBinaryLeavesNoServer(t *testing.T) {
	t.Parallel()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "DBTEST_CHILD=yes")
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	folders := strings.Fields(line)
	if err != nil || len(folders) != 2 || folders[0] == "error" {
		t.Fatalf("the child process printed %q: %v", line, err)
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err == nil {
		t.Error("the child process was not killed")
	}
	deadline := time.Now().Add(2 * time.Minute)
	for _, folder := range folders {
		for {
			_, err := os.Stat(folder)
			if errors.Is(err, os.ErrNotExist) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s still exists: %v", folder, err)
			}
			<-time.After(20 * time.Millisecond)
		}
	}
}
