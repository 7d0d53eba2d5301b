package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"time"
)

// benchPeers measures delivery beside Postfix with OpenDKIM: both take messages
// from 16 sessions, flush them to the same disk, sign them with RSA-2048 and hand
// them to a sink of the same kind. What is not the peer's business is left out for
// Postfix (no local delivery, no TLS, no look-ups), and its concurrency is raised
// to Postrider's.
func benchPeers(ctx context.Context, p plan, dir string) ([]target, error) {
	t := target{name: "end to end / Postfix with OpenDKIM", least: 2}
	if err := findPeers(); err != nil {
		return nil, err
	}
	sink, err := newSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.close()
	progress("starting Postrider to deliver to a sink on loopback")
	server, err := start(ctx, p.binary, dir, "POSTRIDER_OUTBOUND=smtp://"+sink.addr())
	if err != nil {
		return nil, err
	}
	defer server.stop()
	if _, _, err := sendAndWait(ctx, server.Ready, sink, p.messages/10); err != nil { // warm-up, and the size of a message
		return nil, err
	}
	size := sink.octets.Load() / int64(p.messages/10)
	progress("starting Postfix and OpenDKIM to deliver to a sink on loopback")
	peer, err := startPeer(ctx, dir, sink.addr())
	if err != nil {
		return nil, err
	}
	defer peer.stop()
	if _, err := peer.deliver(ctx, sink, p.messages/10, size); err != nil {
		return nil, fmt.Errorf("%w; its log: %s", err, tail(peer.log))
	}
	progress("%d rounds of %d messages of %d octets with each", p.rounds, p.messages, size)
	var ours, theirs []float64
	var ourCPU, theirCPU time.Duration
	for range p.rounds {
		before := peer.cpu()
		took, err := peer.deliver(ctx, sink, p.messages, size)
		if err != nil {
			return nil, fmt.Errorf("%w; its log: %s", err, tail(peer.log))
		}
		theirCPU += peer.cpu() - before
		before = cpuBelow(server.cmd.Process.Pid)
		mine, _, err := sendAndWait(ctx, server.Ready, sink, p.messages)
		if err != nil {
			return nil, err
		}
		ourCPU += cpuBelow(server.cmd.Process.Pid) - before
		our, their := float64(p.messages)/mine.Seconds(), float64(p.messages)/took.Seconds()
		ours, theirs, t.ratios = append(ours, our), append(theirs, their), append(t.ratios, our/their)
	}
	thousands := float64(p.rounds*p.messages) / 1000
	fmt.Printf("%-44s %14s %14s\n", "", "Postrider", "Postfix+DKIM")
	fmt.Printf("%-44s %12.0f/s %12.0f/s\n", "messages end to end, DKIM-signed", median(ours), median(theirs))
	fmt.Printf("%-44s %13.2fs %13.2fs\n", "CPU per 1,000 messages, all processes", ourCPU.Seconds()/thousands, theirCPU.Seconds()/thousands)
	return []target{t}, nil
}

// peerPrograms are what the comparison needs, and aptLine how Debian has them.
var peerPrograms = []string{"postfix", "postconf", "smtp-source", "opendkim"}

const aptLine = "apt-get install --no-install-recommends postfix opendkim"

func findPeers() error {
	for _, name := range peerPrograms {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is not on this machine's PATH, and nothing is installed by this: on Debian run %s, and stop what that starts", name, aptLine)
		}
	}
	return nil
}

// deliver injects messages from 16 sessions that stay open, and waits until all
// have arrived.
func (p *peer) deliver(ctx context.Context, s *sink, messages int, size int64) (time.Duration, error) {
	arrived := s.expect(messages)
	begin := time.Now()
	source := exec.CommandContext(ctx, "smtp-source", "-d", "-s", "16", "-l", strconv.FormatInt(size, 10), "-m", strconv.Itoa(messages),
		"-f", "bench@"+peerDomain, "-t", "someone@example.net", p.addr)
	if output, err := source.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("smtp-source: %w: %s", err, output)
	}
	select {
	case <-arrived:
		return time.Since(begin), nil
	case <-time.After(2 * time.Minute):
		return 0, fmt.Errorf("%d messages are missing after two minutes", s.left.Load())
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
