package patroni

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/lib/pq" // the driver

	"github.com/postrider/postrider/runtime/base/expect"
)

// Passwords of the cluster, which listens on loopback and exists only during a test.
const (
	superPassword = "drill-super"
	userPassword  = "drill-user"
)

// machines is the number of machines in a cluster.
const machines = 3

// Cluster runs three machines.
type Cluster struct {
	t        testing.TB
	Machines []*Machine
}

// Absent returns what this machine lacks to run such a cluster, or "".
func Absent() string {
	for _, program := range []string{"patroni", "etcd"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Sprintf("%s is not installed (Debian: apt-get install patroni etcd-server postgresql)", program)
		}
	}
	if binaries() == "" {
		return "no PostgreSQL server below /usr/lib/postgresql"
	}
	if os.Getuid() == 0 {
		if _, err := user.Lookup("postgres"); err != nil {
			return "root cannot run PostgreSQL, and the user postgres does not exist"
		}
	}
	return ""
}

// binaries returns the folder of the newest installed server.
func binaries() string {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

// Start creates the cluster and a database for Postrider, and waits until it has a leader and two standbys.
// config is the folder deploy/patroni.
func Start(t testing.TB, config string) *Cluster {
	t.Helper()
	root, err := os.MkdirTemp("", "postrider-patroni-") //nolint:usetesting // PostgreSQL has its own user, which cannot enter a folder of root
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	who := giveToPostgres(t, root)
	c := &Cluster{t: t}
	cables := newCables(t, machines)
	for i := range machines {
		var own *cable
		if cables != nil {
			own = &cables[i]
		}
		name := fmt.Sprintf("db%d", i+1)
		c.Machines = append(c.Machines, newMachine(t, name, filepath.Join(root, name), who, own))
	}
	for _, m := range c.Machines {
		m.configure(t, config, c.Machines)
		m.Start()
	}
	c.AwaitWhole(2 * time.Minute)
	for _, statement := range []string{`CREATE ROLE postrider LOGIN PASSWORD '` + userPassword + `'`,
		`CREATE DATABASE postrider OWNER postrider`, `GRANT pg_monitor TO postrider`} {
		c.execute(statement)
	}
	return c
}

// giveToPostgres changes the owner of root's folder to the user that runs PostgreSQL.
func giveToPostgres(t testing.TB, folder string) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, err1 := strconv.ParseUint(account.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(account.Gid, 10, 32)
	if err := errors.Join(err1, err2, os.Chown(folder, int(uid), int(gid))); err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// Cables reports whether each machine has a cable that can be cut.
func (c *Cluster) Cables() bool { return c.Machines[0].cable != nil }

// URL returns an address with all hosts, among which Postrider finds the primary.
func (c *Cluster) URL() string {
	hosts, ports := make([]string, len(c.Machines)), make([]string, len(c.Machines))
	for i, m := range c.Machines {
		hosts[i], ports[i] = m.host, m.postgres
	}
	return fmt.Sprintf("postgres://postrider:%s@%s/postrider?port=%s&sslmode=disable&target_session_attrs=read-write",
		userPassword, strings.Join(hosts, ","), url.QueryEscape(strings.Join(ports, ",")))
}

// execute runs a statement on the leader, as the superuser.
func (c *Cluster) execute(statement string) {
	c.t.Helper()
	leader := c.leader()
	command := exec.CommandContext(c.t.Context(), filepath.Join(binaries(), "psql"), "-h", leader.host, "-p",
		leader.postgres, "-U", "postgres", "-v", "ON_ERROR_STOP=1", "-c", statement, "postgres")
	command.Env = append(os.Environ(), "PGPASSWORD="+superPassword)
	if out, err := command.CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v: %s", statement, err, out)
	}
}

// member is an entry of Patroni's list.
type member struct {
	Name  string `json:"name"`
	Role  string `json:"role"`
	State string `json:"state"`
}

// members asks one machine after the other for the list of members.
func (c *Cluster) members() []member {
	for _, m := range c.Machines {
		if list, err := m.members(); err == nil && len(list) > 0 {
			return list
		}
	}
	return nil
}

// Leader returns the machine with the lock, according to Patroni, or nil.
func (c *Cluster) Leader() *Machine {
	for _, found := range c.members() {
		if found.Role == "leader" && found.State == "running" {
			for _, m := range c.Machines {
				if m.Name == found.Name {
					return m
				}
			}
		}
	}
	return nil
}

// leader returns the Leader, or fails the test.
func (c *Cluster) leader() *Machine {
	c.t.Helper()
	if found := c.Leader(); found != nil {
		return found
	}
	c.t.Fatal("the cluster has no leader")
	return nil
}

// AwaitWhole waits until there are a leader, a synchronous standby and another standby.
func (c *Cluster) AwaitWhole(limit time.Duration) {
	c.t.Helper()
	expect.EventuallyWithin(c.t, limit, "the cluster is complete", func() bool {
		standbys, synchronous := 0, 0
		for _, m := range c.members() {
			if m.State != "running" && m.State != "streaming" {
				return false
			}
			switch m.Role {
			case "sync_standby":
				standbys, synchronous = standbys+1, synchronous+1
			case "replica":
				standbys++
			}
		}
		return standbys == len(c.Machines)-1 && synchronous == 1 && c.Leader() != nil
	})
}

// Switchover transfers the lead to the synchronous standby.
func (c *Cluster) Switchover() {
	c.t.Helper()
	leader := c.leader()
	body, err := json.Marshal(map[string]string{"leader": leader.Name})
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+leader.host+":"+leader.rest+
		"/switchover", bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		c.t.Fatalf("the switchover returned %s", answer.Status)
	}
}
