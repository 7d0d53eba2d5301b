package faults

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/postrider/postrider/runtime/base/expect"
)

// brokerPassword is the password of all clients of a test broker.
const brokerPassword = "w0rd"

// Broker runs three nats-servers in separate processes, with the files of deploy/nats.
type Broker struct {
	t       testing.TB
	program string
	dir     string
	clients []string // host:port
	env     [][]string
	log     *expect.Log

	mu      sync.Mutex
	running []*exec.Cmd // nil if stopped
}

// StartBroker builds nats-server from its Go module, and starts three of them.
func StartBroker(t testing.TB) *Broker {
	t.Helper()
	dir := t.TempDir()
	return StartBrokerIn(t, filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "3"))
}

// StartBrokerIn is StartBroker with a storage folder for each of the three.
func StartBrokerIn(t testing.TB, stores ...string) *Broker {
	t.Helper()
	b := &Broker{t: t, dir: t.TempDir(), log: &expect.Log{}, running: make([]*exec.Cmd, 3)}
	b.program = filepath.Join(b.dir, "nats-server")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", b.program,
		"github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		t.Fatalf("build nats-server: %v\n%s", err, out)
	}
	var routes, cluster []string
	for range b.running {
		b.clients, cluster = append(b.clients, expect.FreeAddress(t)), append(cluster, expect.FreeAddress(t))
	}
	for _, address := range cluster {
		routes = append(routes, fmt.Sprintf("%q", "nats://route:"+brokerPassword+"@"+address))
	}
	for i := range b.running {
		word := `"` + brokerPassword + `"`
		b.env = append(b.env, []string{fmt.Sprintf("NATS_NAME=nats-%d", i+1), "NATS_LISTEN=" + b.clients[i],
			"NATS_CLUSTER_LISTEN=" + cluster[i], "NATS_MONITOR=" + expect.FreeAddress(t),
			"NATS_STORE=" + stores[i], "NATS_STORE_MAX=1GB", "NATS_ROUTES=[" + strings.Join(routes, ", ") + "]",
			"NATS_ROUTE_PASSWORD=" + word, "NATS_POSTRIDER_PASSWORD=" + word, "NATS_READER_PASSWORD=" + word})
	}
	t.Cleanup(func() {
		b.Stop()
		if t.Failed() {
			t.Logf("end of the log of the nats-servers:\n%s", tail(b.log.String()))
		}
	})
	b.StartAll()
	return b
}

// StartAll starts the stopped servers.
func (b *Broker) StartAll() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, command := range b.running {
		if command != nil {
			continue
		}
		// it outlives contexts; Stop ends it
		command = exec.Command(b.program, "-c", filepath.Join("..", "..", "..", "deploy", "nats", "nats-server.conf"))
		command.Env, command.Stdout, command.Stderr = append(os.Environ(), b.env[i]...), b.log, b.log
		if err := command.Start(); err != nil {
			b.t.Fatalf("start nats-server: %v", err)
		}
		b.running[i] = command
	}
}

// Kill kills a server, by its server_name.
func (b *Broker) Kill(name string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end(b.index(name), syscall.SIGKILL)
}

// Restart stops a server gracefully, by its server_name, and starts it again.
func (b *Broker) Restart(name string) {
	b.t.Helper()
	b.mu.Lock()
	b.end(b.index(name), syscall.SIGTERM)
	b.mu.Unlock()
	b.StartAll()
}

// index must be called with the lock held.
func (b *Broker) index(name string) int {
	b.t.Helper()
	for i := range b.running {
		if b.env[i][0] == "NATS_NAME="+name && b.running[i] != nil {
			return i
		}
	}
	b.t.Fatalf("no nats-server %q is running", name)
	return 0
}

// Stop stops all running servers.
func (b *Broker) Stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, command := range b.running {
		if command != nil {
			b.end(i, syscall.SIGTERM)
		}
	}
}

// end must be called with the lock held.
func (b *Broker) end(i int, signal syscall.Signal) {
	if err := b.running[i].Process.Signal(signal); err != nil {
		b.t.Errorf("end nats-server: %v", err)
	}
	_ = b.running[i].Wait() // ended by the signal
	b.running[i] = nil
}

// URL returns the value of POSTRIDER_EVENTS_TO.
func (b *Broker) URL() string {
	return "nats://postrider:" + brokerPassword + "@" + strings.Join(b.clients, ",")
}

// Reader returns a client that may read the stream.
func (b *Broker) Reader() nats.JetStreamContext {
	b.t.Helper()
	conn, err := nats.Connect("nats://"+strings.Join(b.clients, ","), nats.UserInfo("reader", brokerPassword),
		nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true), nats.ReconnectWait(100*time.Millisecond))
	if err != nil {
		b.t.Fatalf("connect to the nats-servers: %v", err)
	}
	b.t.Cleanup(conn.Close)
	js, err := conn.JetStream(nats.MaxWait(20 * time.Second))
	if err != nil {
		b.t.Fatal(err)
	}
	return js
}

// Leader returns the server that leads a stream, or "" if there is none.
func Leader(ctx context.Context, js nats.JetStreamContext, stream string) string {
	info, err := js.StreamInfo(stream, nats.Context(ctx))
	if err != nil || info.Cluster == nil {
		return ""
	}
	return info.Cluster.Leader
}
