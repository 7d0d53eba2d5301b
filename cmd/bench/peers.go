package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/cmd/bench/machine"
	"github.com/postrider/postrider/cmd/bench/postfix"
	"github.com/postrider/postrider/cmd/bench/receivers"
)

// measurePeers compares delivery with Postfix and OpenDKIM. Both take messages from 1, 16 and 64 sessions, flush them
// to the same disk, sign them with RSA-2048 and deliver them to the same sink. Postfix runs without local delivery, TLS
// and DNS lookups, with the concurrency of Postrider.
func measurePeers(ctx context.Context, o options, dir string) ([]result, error) {
	if err := postfix.CheckInstalled(); err != nil {
		return nil, err
	}
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	logProgress("starting Postrider, Postfix and OpenDKIM to deliver to a sink on loopback")
	s, err := start(ctx, o, dir, "POSTRIDER_OUTBOUND=smtp://"+sink.Addr())
	if err != nil {
		return nil, err
	}
	defer s.stop()
	peer, err := postfix.Start(ctx, dir, sink.Addr())
	if err != nil {
		return nil, err
	}
	defer peer.Stop()
	warmUp := o.messages / 10
	if _, _, err := sendAndWait(ctx, s, sink, warmUp, 16); err != nil {
		return nil, err
	}
	c := comparison{server: s, peer: peer, sink: sink, size: sink.Bytes() / int64(warmUp)}
	if _, err := c.injectAndWait(ctx, warmUp, 16); err != nil {
		return nil, err
	}
	fmt.Printf("%-10s %16s %16s %20s %20s\n", "sessions", "Postrider", "Postfix+DKIM", "CPU/1,000 Postrider",
		"CPU/1,000 Postfix")
	var results []result
	for _, sessions := range clientCounts {
		messages := o.messages
		if sessions == 1 {
			messages /= 3
		}
		logProgress("%d rounds of %d messages of %d bytes from %d sessions with each", o.rounds, messages,
			c.size, sessions)
		r, err := c.measure(ctx, o.rounds, messages, sessions)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// comparison compares two servers that deliver to one sink.
type comparison struct {
	server *server
	peer   *postfix.Server
	sink   *receivers.Sink
	size   int64 // size of a message in bytes
}

func (c comparison) measure(ctx context.Context, rounds, messages, sessions int) (result, error) {
	r := result{name: fmt.Sprintf("delivered messages / Postfix+DKIM, %d sessions", sessions)}
	r.min = map[int]float64{1: 1, 16: 3.5, 64: 4.5}[sessions]
	var ours, theirs []float64
	var ourCPU, theirCPU time.Duration
	for range rounds {
		before := c.peer.CPU()
		theirTime, err := c.injectAndWait(ctx, messages, sessions)
		if err != nil {
			return r, err
		}
		theirCPU += c.peer.CPU() - before
		before = machine.ReadTreeCPU(c.server.pid())
		ourTime, _, err := sendAndWait(ctx, c.server, c.sink, messages, sessions)
		if err != nil {
			return r, err
		}
		ourCPU += machine.ReadTreeCPU(c.server.pid()) - before
		our, their := float64(messages)/ourTime.Seconds(), float64(messages)/theirTime.Seconds()
		ours, theirs, r.rounds = append(ours, our), append(theirs, their), append(r.rounds, our/their)
	}
	thousands := float64(rounds*messages) / 1000
	fmt.Printf("%-10d %14.0f/s %14.0f/s %18.2f s %18.2f s\n", sessions,
		median(ours), median(theirs), ourCPU.Seconds()/thousands, theirCPU.Seconds()/thousands)
	return r, nil
}

// injectAndWait sends messages through the peer and waits until the sink has received all of them.
func (c comparison) injectAndWait(ctx context.Context, messages, sessions int) (time.Duration, error) {
	arrived := c.sink.Expect(messages)
	begin := time.Now()
	err := postfix.Inject(ctx, c.peer.Addr, "someone@example.net", messages, sessions, c.size)
	if err == nil {
		err = waitArrived(ctx, c.sink, arrived)
	}
	if err != nil {
		err = errors.Join(err, errors.New("the log of Postfix: "+machine.ReadTail(c.peer.Log)))
	}
	return time.Since(begin), err
}

// measureInbound compares the rate of inbound mail with Postfix, with the same client (smtp-source with 16 sessions)
// and the same disk. Before it replies 250, Postrider parses, authenticates and stores a message in PostgreSQL; Postfix
// writes it to its queue.
func measureInbound(ctx context.Context, o options, dir string) ([]result, error) {
	r := result{name: "inbound messages / Postfix", min: 0.5}
	if err := postfix.CheckInstalled(); err != nil {
		return nil, err
	}
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	dns, err := receivers.NewNames(ctx) // without it, the resolver of the machine would be measured
	if err != nil {
		return nil, err
	}
	defer dns.Close()
	logProgress("starting Postrider and Postfix to receive mail")
	s, err := start(ctx, o, dir, "POSTRIDER_DNS="+dns.Addr())
	if err != nil {
		return nil, err
	}
	defer s.stop()
	if s.InboundAddr == "" || s.VerifiedDomain == "" {
		return nil, errors.New("inbound mail is disabled")
	}
	peer, err := postfix.Start(ctx, dir, sink.Addr())
	if err != nil {
		return nil, err
	}
	defer peer.Stop()
	ourAddress, theirAddress := "someone@"+s.VerifiedDomain, "someone@example.net"
	logProgress("a warm-up and %d rounds of %d messages of %d bytes with each", o.rounds, o.messages, inboundSize)
	var ours, theirs []float64
	for round := range o.rounds + 1 {
		messages := o.messages
		if round == 0 { // warm-up
			messages /= 10
		}
		their, err := receiveMail(ctx, peer.Addr, theirAddress, messages)
		if err != nil {
			return nil, fmt.Errorf("%w; the log of Postfix: %s", err, machine.ReadTail(peer.Log))
		}
		our, err := receiveMail(ctx, s.InboundAddr, ourAddress, messages)
		if err != nil {
			return nil, err
		}
		if round > 0 {
			ours, theirs, r.rounds = append(ours, our), append(theirs, their), append(r.rounds, our/their)
		}
	}
	fmt.Printf("%-44s %14s %14s\n", "", "Postrider", "Postfix")
	fmt.Printf("%-44s %12.0f/s %12.0f/s\n", "inbound messages stored, 16 sessions", median(ours), median(theirs))
	return []result{r}, nil
}

// inboundSize is the size of an inbound message in bytes.
const inboundSize = 4096

// receiveMail returns the rate at which a server accepts messages.
func receiveMail(ctx context.Context, addr, to string, messages int) (float64, error) {
	begin := time.Now()
	err := postfix.Inject(ctx, addr, to, messages, 16, inboundSize)
	return float64(messages) / time.Since(begin).Seconds(), err
}
