package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/postrider/postrider/cmd/bench/receivers"
)

const healthyDomains = 10

// holes are destinations that take mail from nobody: as what listens there.
var holes = []struct {
	name string
	open func(ctx context.Context, port string) (closer func() error, err error)
}{
	{"connections taken, never greeted", receivers.OpenSilent},
	{"connections never taken", receivers.OpenFull},
}

// benchBlackhole compares how soon messages for destinations that are well arrive,
// by themselves and beside as many for one destination that never answers. All are
// in the queue before delivery begins.
func benchBlackhole(ctx context.Context, p plan, dir string) ([]target, error) {
	var targets []target
	for _, hole := range holes {
		targets = append(targets, target{name: "beside a black hole: " + hole.name, least: 0.9})
	}
	for round := range p.rounds {
		alone, err := drainHealthy(ctx, p, filepath.Join(dir, fmt.Sprintf("alone-%d", round)), nil)
		if err != nil {
			return nil, err
		}
		fmt.Printf("%-54s %10.0f /s\n", "messages to those that are well, alone", alone)
		for i, hole := range holes {
			beside, err := drainHealthy(ctx, p, filepath.Join(dir, fmt.Sprintf("hole-%d-%d", i, round)), hole.open)
			if err != nil {
				return nil, err
			}
			fmt.Printf("%-54s %10.0f /s\n", hole.name, beside)
			targets[i].ratios = append(targets[i].ratios, beside/alone)
		}
	}
	return targets, nil
}

// drainHealthy fills a queue, begins to deliver, and gives how many messages for
// those that are well arrive in a second. It waits a minute at most, and then
// reckons with what has arrived.
func drainHealthy(ctx context.Context, p plan, dir string, hole func(context.Context, string) (func() error, error)) (rate float64, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil { // PostgreSQL runs as another user when we are root
		return 0, err
	}
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return 0, err
	}
	defer sink.Close()
	_, port, err := net.SplitHostPort(sink.Addr())
	if err != nil {
		return 0, err
	}
	if hole != nil {
		closer, err := hole(ctx, port)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, closer()) }()
	}
	dns, err := receivers.ServeNames(ctx, func(domain string) string {
		if domain == receivers.DeadDomain {
			return receivers.DeadAddress
		}
		return "127.0.0.1"
	})
	if err != nil {
		return 0, err
	}
	defer dns.Close()
	env := []string{"POSTRIDER_OUTBOUND=mx", "POSTRIDER_DNS=" + dns.Addr(), "POSTRIDER_MX_PORT=" + port, "POSTRIDER_MX_ALLOW=127.0.0.0/8"}
	progress("queuing %d messages for %d destinations%s", p.messages, healthyDomains, map[bool]string{true: ", and as many for one that is dead"}[hole != nil])
	if err := fillQueue(ctx, p, dir, hole != nil, env); err != nil {
		return 0, err
	}
	arrived := sink.Expect(p.messages)
	server, err := start(ctx, p.binary, dir, env...)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	defer server.kill() // a drain would wait for the hole
	select {
	case <-arrived:
	case <-time.After(time.Minute):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	took := time.Since(begin)
	return float64(int64(p.messages)-sink.Left()) / took.Seconds(), nil
}

// fillQueue accepts with delivery switched off.
func fillQueue(ctx context.Context, p plan, dir string, dead bool, env []string) error {
	server, err := start(ctx, p.binary, dir, append([]string{"POSTRIDER_DELIVERY_CONCURRENCY=0"}, env...)...)
	if err != nil {
		return err
	}
	defer server.stop()
	var sample map[string]any
	if err := json.Unmarshal(sampleEmail(server.Ready, "someone@example.net"), &sample); err != nil {
		return err
	}
	var items [][]byte
	for i := range p.messages {
		to := []string{fmt.Sprintf("someone@d%d.test", i%healthyDomains)}
		if dead {
			to = append(to, "someone@"+receivers.DeadDomain)
		}
		for _, address := range to {
			sample["to"] = address
			item, err := json.Marshal(sample)
			if err != nil {
				return err
			}
			items = append(items, item)
		}
		if len(items) < batchSize-1 && i < p.messages-1 {
			continue
		}
		body := append(append([]byte(`{"emails":[`), bytes.Join(items, []byte(","))...), "]}"...)
		answer, err := postTo(ctx, http.DefaultClient, server.Ready, "/emails/batch", body)
		if err != nil {
			return err
		}
		if n := bytes.Count(answer, []byte(`"status":"sent"`)); n != len(items) {
			return fmt.Errorf("%d of %d items were accepted: %s", n, len(items), answer)
		}
		items = items[:0]
	}
	return nil
}

// kill ends the server at once. Its PostgreSQL goes with it.
func (s *server) kill() {
	if err := s.cmd.Process.Kill(); err != nil {
		progress("kill: %v", err)
	}
	<-s.ended
}
