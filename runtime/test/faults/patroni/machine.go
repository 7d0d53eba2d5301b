package patroni

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
)

// Machine is one of the three: a member of etcd, Patroni, and the PostgreSQL that Patroni runs.
type Machine struct {
	Name string

	t      testing.TB
	cable  *cable // nil on loopback
	host   string
	folder string
	who    *syscall.Credential
	log    *expect.Log

	rest, postgres, client, peer string // ports
	etcdEnv, patroniEnv          []string
	patroniFile                  string

	mu      sync.Mutex
	running map[string]*exec.Cmd // "etcd", "patroni"
}

func newMachine(t testing.TB, name, folder string, who *syscall.Credential, cable *cable) *Machine {
	t.Helper()
	m := &Machine{Name: name, t: t, folder: folder, who: who, cable: cable, host: "127.0.0.1", log: &expect.Log{},
		running: map[string]*exec.Cmd{},
		rest:    expect.FreePort(t), postgres: expect.FreePort(t), client: expect.FreePort(t), peer: expect.FreePort(t)}
	if cable != nil {
		m.host = cable.address
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if who != nil {
		if err := os.Chown(folder, int(who.Uid), int(who.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		m.Thaw()
		m.Mend()
		m.Kill()
		if t.Failed() {
			text := m.log.String()
			t.Logf("end of the log of %s:\n%s", name, text[max(0, len(text)-4000):])
		}
	})
	return m
}

// configure reads the files and sets the values that differ between machines.
func (m *Machine) configure(t testing.TB, config string, all []*Machine) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(config, "etcd.env"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			m.etcdEnv = append(m.etcdEnv, line)
		}
	}
	at := func(port string) string { return "http://" + m.host + ":" + port }
	var peers, clients []string
	for _, one := range all {
		peers, clients = append(peers, one.Name+"=http://"+one.host+":"+one.peer), append(clients, one.host+
			":"+one.client)
	}
	m.etcdEnv = append(m.etcdEnv, "ETCD_NAME="+m.Name, "ETCD_DATA_DIR="+filepath.Join(m.folder, "etcd"),
		"ETCD_LISTEN_CLIENT_URLS="+at(m.client), "ETCD_ADVERTISE_CLIENT_URLS="+at(m.client),
		"ETCD_LISTEN_PEER_URLS="+at(m.peer), "ETCD_INITIAL_ADVERTISE_PEER_URLS="+at(m.peer), "ETCD_INITIAL_CLUSTER="+
			strings.Join(peers, ","))
	// Patroni reads its file as an unprivileged user, who may not be able to read the project.
	settings, err := os.ReadFile(filepath.Join(config, "patroni.yml"))
	if err != nil {
		t.Fatal(err)
	}
	m.patroniFile = filepath.Join(m.folder, "patroni.yml")
	if err := os.WriteFile(m.patroniFile, settings, 0o600); err != nil {
		t.Fatal(err)
	}
	if m.who != nil {
		if err := os.Chown(m.patroniFile, int(m.who.Uid), int(m.who.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	m.patroniEnv = []string{
		"PATRONI_NAME=" + m.Name,
		"PATRONI_RESTAPI_LISTEN=" + m.host + ":" + m.rest, "PATRONI_RESTAPI_CONNECT_ADDRESS=" + m.host + ":" + m.rest,
		"PATRONI_ETCD_HOSTS=" + strings.Join(clients, ","),
		"PATRONI_POSTGRESQL_LISTEN=" + m.host + ":" + m.postgres, "PATRONI_POSTGRESQL_CONNECT_ADDRESS=" + m.host + ":" +
			m.postgres,
		"PATRONI_POSTGRESQL_DATA_DIR=" + m.data(), "PATRONI_POSTGRESQL_BIN_DIR=" + binaries(),
		"PATRONI_POSTGRESQL_PGPASS=" + filepath.Join(m.folder, "pgpass"),
		"PATRONI_SUPERUSER_PASSWORD=" + superPassword, "PATRONI_REPLICATION_PASSWORD=drill-replication",
		"PATRONI_REWIND_PASSWORD=drill-rewind",
	}
}

func (m *Machine) data() string { return filepath.Join(m.folder, "data") }

// Start starts the processes that are not running.
func (m *Machine) Start() {
	m.t.Helper()
	m.start("etcd", m.etcdEnv, "etcd")
	m.start("patroni", m.patroniEnv, "patroni", m.patroniFile)
}

func (m *Machine) start(name string, env []string, program string, args ...string) {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running[name] != nil {
		return
	}
	who := m.who
	if m.cable != nil { // ip and setpriv exec the program: one process
		program, args = "ip", slices.Concat([]string{"netns", "exec", m.cable.space, "setpriv",
			fmt.Sprintf("--reuid=%d", who.Uid), fmt.Sprintf("--regid=%d", who.Gid), "--clear-groups", program}, args)
		who = nil
	}
	command := exec.Command(program, args...) // it runs until Kill
	command.Dir, command.Stdout, command.Stderr = m.folder, m.log, m.log
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.folder, "LC_ALL=C.UTF-8"}, env...)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	if err := command.Start(); err != nil {
		m.t.Fatalf("start %s of %s: %v", name, m.Name, err)
	}
	m.running[name] = command
}

// StopEtcd freezes the member of etcd; ResumeEtcd resumes it.
func (m *Machine) StopEtcd() { m.signal("etcd", syscall.SIGSTOP) }

// ResumeEtcd undoes StopEtcd.
func (m *Machine) ResumeEtcd() { m.signal("etcd", syscall.SIGCONT) }

func (m *Machine) signal(name string, what syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if command := m.running[name]; command != nil {
		_ = command.Process.Signal(what) // it may have ended
	}
}

// postmaster returns the process id of PostgreSQL, or 0 if it is not running.
func (m *Machine) postmaster() int {
	text, err := os.ReadFile(filepath.Join(m.data(), "postmaster.pid"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(string(text), "\n", 2)[0]))
	if err != nil {
		return 0
	}
	return pid
}

// backends returns the processes of PostgreSQL, the postmaster first.
func (m *Machine) backends() []int {
	first := m.postmaster()
	if first == 0 {
		return nil
	}
	all := []int{first}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", first, first))
	if err != nil {
		return all
	}
	for field := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// KillPostgres kills only PostgreSQL; Patroni keeps running.
func (m *Machine) KillPostgres() {
	if pid := m.postmaster(); pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

// Kill kills all processes of the machine.
func (m *Machine) Kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, command := range m.running {
		_ = command.Process.Kill() // it may have ended
		if name == "patroni" {
			for _, pid := range m.backends() {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
			}
		}
		_ = command.Wait() // ended by the signal
		delete(m.running, name)
	}
}

// Freeze makes the machine silent: its connections stay open but do not respond.
func (m *Machine) Freeze() { m.all(syscall.SIGSTOP) }

// Thaw ends Freeze. The machine continues with its old state.
func (m *Machine) Thaw() { m.all(syscall.SIGCONT) }

func (m *Machine) all(what syscall.Signal) {
	m.signal("patroni", what)
	for _, pid := range m.backends() {
		_ = syscall.Kill(pid, what) // it may have ended
	}
	m.signal("etcd", what)
}

// Cut unplugs the machine: all its processes continue without a network. It requires a cluster with Cables.
func (m *Machine) Cut() {
	m.t.Helper()
	m.plug("down")
}

// Mend ends Cut.
func (m *Machine) Mend() {
	m.t.Helper()
	if m.cable != nil {
		m.plug("up")
	}
}

func (m *Machine) plug(state string) {
	m.t.Helper()
	if err := ip("link", "set", m.cable.end, state); err != nil {
		m.t.Error(err)
	}
}

// members asks this machine's Patroni for the list of members.
func (m *Machine) members() (list []member, err error) {
	client := http.Client{Timeout: time.Second}
	request, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, "http://"+m.host+":"+m.rest+"/cluster",
		http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	var read struct {
		Members []member `json:"members"`
	}
	err = json.NewDecoder(answer.Body).Decode(&read)
	return read.Members, err
}
