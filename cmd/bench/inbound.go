package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"time"

	"github.com/miekg/dns"

	"github.com/postrider/postrider/cmd/bench/figures"
	"github.com/postrider/postrider/cmd/bench/postfix"
	"github.com/postrider/postrider/cmd/bench/process"
	"github.com/postrider/postrider/cmd/bench/receivers"
)

// inboundSize is the octets of a message of benchInbound.
const inboundSize = 4096

// benchInbound measures how fast mail is taken in beside Postfix, with the same client
// (smtp-source, 16 sessions that stay open) and on the same disk: Postrider parses,
// authenticates and stores each message in PostgreSQL before its 250, Postfix writes
// it into its queue.
func benchInbound(ctx context.Context, p plan, dir string) ([]target, error) {
	t := target{name: "mail taken in / Postfix", least: 0.5}
	if err := postfix.Find(); err != nil {
		return nil, err
	}
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	progress("starting Postrider, which receives for its development domain, and Postfix")
	resolver, stopDNS, err := emptyDNS(ctx)
	if err != nil {
		return nil, err
	}
	defer stopDNS() //nolint:errcheck // the process ends
	server, err := start(ctx, p.binary, dir, "POSTRIDER_DNS="+resolver)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	if server.Ready.InboundAddr == "" || server.Ready.VerifiedDomain == "" {
		return nil, errors.New("postrider receives no mail")
	}
	peer, err := postfix.Start(ctx, dir, sink.Addr())
	if err != nil {
		return nil, err
	}
	defer peer.Stop()
	our, their := "someone@"+server.Ready.VerifiedDomain, "someone@example.net"
	for _, warm := range [][2]string{{server.Ready.InboundAddr, our}, {peer.Addr, their}} {
		if _, err := bringIn(ctx, warm[0], warm[1], p.messages/10); err != nil {
			return nil, err
		}
	}
	progress("%d rounds of %d messages of %d octets with each", p.rounds, p.messages, inboundSize)
	var ours, theirs []float64
	for range p.rounds {
		theirRate, err := bringIn(ctx, peer.Addr, their, p.messages)
		if err != nil {
			return nil, fmt.Errorf("%w; its log: %s", err, process.Tail(peer.Log))
		}
		ourRate, err := bringIn(ctx, server.Ready.InboundAddr, our, p.messages)
		if err != nil {
			return nil, err
		}
		ours, theirs, t.ratios = append(ours, ourRate), append(theirs, theirRate), append(t.ratios, ourRate/theirRate)
	}
	fmt.Printf("%-44s %14s %14s\n", "", "Postrider", "Postfix")
	fmt.Printf("%-44s %12.0f/s %12.0f/s\n", "messages taken in durably, 16 sessions", figures.Median(ours), figures.Median(theirs))
	return []target{t}, nil
}

// bringIn gives the rate at which messages are answered 250.
func bringIn(ctx context.Context, addr, to string, messages int) (float64, error) {
	began := time.Now()
	source := exec.CommandContext(ctx, "smtp-source", "-d", "-s", "16", "-l", strconv.Itoa(inboundSize), "-m", strconv.Itoa(messages),
		"-f", "bench@"+postfix.Domain, "-t", to, addr)
	if output, err := source.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("smtp-source: %w: %s", err, output)
	}
	return float64(messages) / time.Since(began).Seconds(), nil
}

// emptyDNS answers that nothing exists: what is measured is neither the network nor
// somebody else's resolver.
func emptyDNS(ctx context.Context) (addr string, stop func() error, err error) {
	conn, err := new(net.ListenConfig).ListenPacket(ctx, "udp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		if err := w.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeNameError)); err != nil {
			progress("dns: %v", err)
		}
	})}
	go func() {
		if err := s.ActivateAndServe(); err != nil {
			progress("dns: %v", err)
		}
	}()
	return conn.LocalAddr().String(), s.Shutdown, nil
}
