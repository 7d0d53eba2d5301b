package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"github.com/postrider/postrider/cmd/bench/figures"
	"github.com/postrider/postrider/cmd/bench/postfix"
	"github.com/postrider/postrider/cmd/bench/process"
	"github.com/postrider/postrider/cmd/bench/receivers"
)

// benchPeers measures delivery beside Postfix with OpenDKIM: both take messages
// from 1, 16 and 64 sessions, flush them to the same disk, sign them with RSA-2048 and hand
// them to a sink of the same kind, by turns. What is not the peer's business is left out for
// Postfix (no local delivery, no TLS, no look-ups), and its concurrency is raised
// to Postrider's.
func benchPeers(ctx context.Context, p plan, dir string) ([]target, error) {
	if err := postfix.Find(); err != nil {
		return nil, err
	}
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	progress("starting Postrider to deliver to a sink on loopback")
	server, err := start(ctx, p.binary, dir, "POSTRIDER_OUTBOUND=smtp://"+sink.Addr())
	if err != nil {
		return nil, err
	}
	defer server.stop()
	if _, _, err := sendAndWait(ctx, server.Ready, sink, p.messages/10, 16); err != nil { // warm-up, and the size of a message
		return nil, err
	}
	size := sink.Size() / int64(p.messages/10)
	progress("starting Postfix and OpenDKIM to deliver to a sink on loopback")
	peer, err := postfix.Start(ctx, dir, sink.Addr())
	if err != nil {
		return nil, err
	}
	defer peer.Stop()
	both := race{server: server, peer: peer, sink: sink, size: size}
	if _, err := deliverBy(ctx, peer, sink, p.messages/10, 16, size); err != nil {
		return nil, fmt.Errorf("%w; its log: %s", err, process.Tail(peer.Log))
	}
	fmt.Printf("%-10s %16s %16s %20s %20s\n", "sessions", "Postrider", "Postfix+DKIM", "CPU/1,000 Postrider", "CPU/1,000 Postfix")
	var all []target
	for _, sessions := range clientCounts {
		messages := p.messages
		if sessions == 1 {
			messages /= 3
		}
		progress("%d rounds of %d messages of %d octets from %d sessions with each", p.rounds, messages, size, sessions)
		t, err := both.rounds(ctx, p.rounds, messages, sessions)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// race is two servers that deliver to one sink.
type race struct {
	server *server
	peer   *postfix.Server
	sink   *receivers.Sink
	size   int64 // of a message, in octets
}

func (r race) rounds(ctx context.Context, rounds, messages, sessions int) (target, error) {
	t := target{name: fmt.Sprintf("end to end / Postfix with OpenDKIM, %d sessions", sessions), least: map[int]float64{1: 1, 16: 3.5, 64: 4.5}[sessions]}
	var ours, theirs []float64
	var ourCPU, theirCPU time.Duration
	for range rounds {
		before := r.peer.CPU()
		took, err := deliverBy(ctx, r.peer, r.sink, messages, sessions, r.size)
		if err != nil {
			return t, fmt.Errorf("%w; its log: %s", err, process.Tail(r.peer.Log))
		}
		theirCPU += r.peer.CPU() - before
		before = process.CPUBelow(r.server.cmd.Process.Pid)
		mine, _, err := sendAndWait(ctx, r.server.Ready, r.sink, messages, sessions)
		if err != nil {
			return t, err
		}
		ourCPU += process.CPUBelow(r.server.cmd.Process.Pid) - before
		our, their := float64(messages)/mine.Seconds(), float64(messages)/took.Seconds()
		ours, theirs, t.ratios = append(ours, our), append(theirs, their), append(t.ratios, our/their)
	}
	thousands := float64(rounds*messages) / 1000
	fmt.Printf("%-10d %14.0f/s %14.0f/s %18.2f s %18.2f s\n", sessions, figures.Median(ours), figures.Median(theirs), ourCPU.Seconds()/thousands, theirCPU.Seconds()/thousands)
	return t, nil
}

// deliverBy injects messages from sessions that stay open, and waits until all
// have arrived.
func deliverBy(ctx context.Context, p *postfix.Server, s *receivers.Sink, messages, sessions int, size int64) (time.Duration, error) {
	arrived := s.Expect(messages)
	begin := time.Now()
	source := exec.CommandContext(ctx, "smtp-source", "-d", "-s", strconv.Itoa(sessions), "-l", strconv.FormatInt(size, 10), "-m", strconv.Itoa(messages),
		"-f", "bench@"+postfix.Domain, "-t", "someone@example.net", p.Addr)
	if output, err := source.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("smtp-source: %w: %s", err, output)
	}
	select {
	case <-arrived:
		return time.Since(begin), nil
	case <-time.After(2 * time.Minute):
		return 0, fmt.Errorf("%d messages are missing after two minutes", s.Left())
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
