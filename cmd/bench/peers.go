package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"github.com/postrider/postrider/cmd/bench/postfix"
	"github.com/postrider/postrider/cmd/bench/process"
	"github.com/postrider/postrider/cmd/bench/receivers"
)

// benchPeers measures delivery beside Postfix with OpenDKIM: both take messages
// from 16 sessions, flush them to the same disk, sign them with RSA-2048 and hand
// them to a sink of the same kind. What is not the peer's business is left out for
// Postfix (no local delivery, no TLS, no look-ups), and its concurrency is raised
// to Postrider's.
func benchPeers(ctx context.Context, p plan, dir string) ([]target, error) {
	t := target{name: "end to end / Postfix with OpenDKIM", least: 2}
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
	if _, _, err := sendAndWait(ctx, server.Ready, sink, p.messages/10); err != nil { // warm-up, and the size of a message
		return nil, err
	}
	size := sink.Size() / int64(p.messages/10)
	progress("starting Postfix and OpenDKIM to deliver to a sink on loopback")
	peer, err := postfix.Start(ctx, dir, sink.Addr())
	if err != nil {
		return nil, err
	}
	defer peer.Stop()
	if _, err := deliverBy(ctx, peer, sink, p.messages/10, size); err != nil {
		return nil, fmt.Errorf("%w; its log: %s", err, process.Tail(peer.Log))
	}
	progress("%d rounds of %d messages of %d octets with each", p.rounds, p.messages, size)
	var ours, theirs []float64
	var ourCPU, theirCPU time.Duration
	for range p.rounds {
		before := peer.CPU()
		took, err := deliverBy(ctx, peer, sink, p.messages, size)
		if err != nil {
			return nil, fmt.Errorf("%w; its log: %s", err, process.Tail(peer.Log))
		}
		theirCPU += peer.CPU() - before
		before = process.CPUBelow(server.cmd.Process.Pid)
		mine, _, err := sendAndWait(ctx, server.Ready, sink, p.messages)
		if err != nil {
			return nil, err
		}
		ourCPU += process.CPUBelow(server.cmd.Process.Pid) - before
		our, their := float64(p.messages)/mine.Seconds(), float64(p.messages)/took.Seconds()
		ours, theirs, t.ratios = append(ours, our), append(theirs, their), append(t.ratios, our/their)
	}
	thousands := float64(p.rounds*p.messages) / 1000
	fmt.Printf("%-44s %14s %14s\n", "", "Postrider", "Postfix+DKIM")
	fmt.Printf("%-44s %12.0f/s %12.0f/s\n", "messages end to end, DKIM-signed", median(ours), median(theirs))
	fmt.Printf("%-44s %13.2fs %13.2fs\n", "CPU per 1,000 messages, all processes", ourCPU.Seconds()/thousands, theirCPU.Seconds()/thousands)
	return []target{t}, nil
}

// deliverBy injects messages from 16 sessions that stay open, and waits until all
// have arrived.
func deliverBy(ctx context.Context, p *postfix.Server, s *receivers.Sink, messages int, size int64) (time.Duration, error) {
	arrived := s.Expect(messages)
	begin := time.Now()
	source := exec.CommandContext(ctx, "smtp-source", "-d", "-s", "16", "-l", strconv.FormatInt(size, 10), "-m", strconv.Itoa(messages),
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
