package faults_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// drainDelay is longer than the balancer needs on a busy machine to notice that a process stops.
const drainDelay = "POSTRIDER_DRAIN_DELAY=8s"

// All processes are restarted one after the other, behind a load balancer that checks whether each is ready.
// No client has to retry.
func TestDrillRollingRestartFailsNoRequest(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	nodes := faults.StartCluster(t, dbtest.URL(t), 3, outbound(host), drainDelay)
	front := faults.Balance(t, nodes)
	expect.Eventually(t, "all are ready", func() bool { return front.Ready() == len(nodes) })
	client := front.Behind(nodes[0])
	load := faults.Begin(client, lengthOf(1, 2))
	expect.Eventually(t, "the load is running", func() bool { return sink.Count() > 50 })
	var longest time.Duration
	rounds := lengthOf(1, 10)
	for range rounds {
		for _, node := range nodes {
			begin := time.Now()
			if err := node.Stop(); err != nil {
				t.Errorf("a node exited with %v", err)
			}
			longest = max(longest, time.Since(begin))
			node.Launch()
			expect.Eventually(t, "it is ready again", func() bool { return front.Ready() == len(nodes) })
		}
	}
	load.End()
	expect.Eventually(t, "all accepted mail has arrived", func() bool { return load.Missing(sink) == 0 })
	awaitIdle(t, nodes[0])
	counts, _ := load.Statuses()
	failed := 0
	for status, n := range counts {
		if status != http.StatusOK {
			failed += n
		}
	}
	figure(t, "restarts", rounds*len(nodes), "-")
	figure(t, "answers", fmt.Sprint(counts), "200 only")
	figure(t, "failed requests", failed, "0")
	atMost(t, "SIGTERM to exit, with a delay of 8s", longest, 30*time.Second)
	result := load.Audit(sink, nil, nil)
	audit(t, result)
	if failed > 0 || result.Duplicates > 0 {
		t.Errorf("%d requests failed, %d duplicates: %v", failed, result.Duplicates, counts)
	}
}

// Between "not ready" and closed listeners a process keeps serving: over HTTP, with a hint to use another
// connection next time, and over SMTP.
func TestDrainDelayKeepsServing(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	const delay = 15 * time.Second // the maximum; the steps below must finish before it is over
	sink := faults.NewSink(t)
	server := faults.Start(t, dbtest.URL(t), outbound(sink.Listen("127.0.0.1:0")), "POSTRIDER_DRAIN_DELAY="+
		delay.String())
	ledger := faults.NewLedger()
	if a := ledger.Ask(t.Context(), server, "before@example.net"); a.Status != http.StatusOK ||
		a.Header.Get("Connection") != "" {
		t.Fatalf("before the stop: %d %v", a.Status, a.Header)
	}
	begin := time.Now()
	server.Signal(syscall.SIGTERM)
	expect.Eventually(t, "readiness reports draining", func() bool {
		a := server.Do(t.Context(), http.MethodGet, "/readyz", "")
		return a.Status == http.StatusServiceUnavailable && strings.Contains(string(a.Body), "draining")
	})
	if a := ledger.Ask(t.Context(), server, "while@example.net"); a.Status != http.StatusOK {
		t.Errorf("a request while it drains: %d %s", a.Status, a.Body)
	}
	if !server.ClosesConnections(t.Context()) {
		t.Error("a connection is kept open while it drains")
	}
	if greeting := greetingOf(t.Context(), server.Inbound); !strings.HasPrefix(greeting, "220 ") {
		t.Errorf("SMTP while it drains: %q, want a greeting", greeting)
	}
	if err := server.Ended(); err != nil {
		t.Errorf("it exited with %v", err)
	}
	took := time.Since(begin)
	if took < delay {
		t.Errorf("it exited after %s, want at least the delay of %s", took, delay)
	}
	atMost(t, "SIGTERM to exit, with a delay of 15s", took, 30*time.Second)
	if greeting := greetingOf(t.Context(), server.Inbound); greeting != "" {
		t.Errorf("SMTP after the exit: %q", greeting)
	}
	server.Launch()
	expect.Eventually(t, "all accepted mail has arrived", func() bool { return ledger.Missing(sink) == 0 })
}

// greetingOf returns the first line of an SMTP server, or "".
func greetingOf(ctx context.Context, addr string) string {
	ctx, cancel := context.WithTimeout(ctx, expect.Patience)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return ""
	}
	defer conn.Close()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return ""
	}
	return line
}
