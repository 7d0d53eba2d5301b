package dnsx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// 1232 bytes pass every path without fragmentation (DNS flag day 2020).
const udpSize = 1232

// exchangeQuestion queries the servers in turn until one answers.
func (r *Resolver) exchangeQuestion(ctx context.Context, q question) (*answer, error) {
	var failure *Error
	for range r.cfg.Rounds {
		for _, server := range r.servers {
			if err := ctx.Err(); err != nil {
				return nil, newTemporaryError(q, server, "the lookup was stopped", err)
			}
			a, err := r.askServer(ctx, q, server)
			if err == nil {
				return a, nil
			}
			failure = err
			r.log.DebugContext(ctx, "dns query", slog.String("name", q.name), slog.String("type", err.Type),
				slog.String("server", server), slog.String("error", err.Reason))
		}
	}
	return nil, failure
}

func (r *Resolver) askServer(ctx context.Context, q question, server string) (*answer, *Error) {
	reply, err := r.queryServer(ctx, q, server, true)
	if err == nil && (reply.Rcode == dns.RcodeFormatError || reply.Rcode == dns.RcodeNotImplemented) {
		reply, err = r.queryServer(ctx, q, server, false) // a server from before EDNS0 (RFC 6891, 7)
	}
	if err != nil {
		return nil, newTemporaryError(q, server, reasonOf(err, server), err)
	}
	switch reply.Rcode {
	case dns.RcodeSuccess, dns.RcodeNameError:
		return r.readReply(q, reply, server)
	}
	return nil, newTemporaryError(q, server, fmt.Sprintf("%s answered %s", server, dns.RcodeToString[reply.Rcode]), nil)
}

// queryServer uses UDP, and then TCP if the reply did not fit.
func (r *Resolver) queryServer(ctx context.Context, q question, server string, edns bool) (*dns.Msg, error) {
	msg := new(dns.Msg)
	msg.SetQuestion(q.name, q.qtype)
	msg.AuthenticatedData = true // asks for the AD bit (RFC 6840, 5.7)
	if edns {
		msg.SetEdns0(udpSize, false)
	}
	reply, err := r.sendQuery(ctx, msg, server, "udp")
	if err == nil && reply.Truncated {
		reply, err = r.sendQuery(ctx, msg, server, "tcp")
	}
	return reply, err
}

func (r *Resolver) sendQuery(ctx context.Context, msg *dns.Msg, server, network string) (*dns.Msg, error) {
	client := &dns.Client{Net: network, Timeout: r.cfg.Timeout, UDPSize: dns.MinMsgSize}
	conn, err := client.DialContext(ctx, server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	// The library only uses the deadline of the context; closing interrupts a read immediately.
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	reply, _, err := client.ExchangeWithConnContext(ctx, msg, conn)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	// A reply to another query may be forged (RFC 5452, 9.1).
	if !reply.Response || len(reply.Question) != 1 ||
		!strings.EqualFold(reply.Question[0].Name, msg.Question[0].Name) ||
		reply.Question[0].Qtype != msg.Question[0].Qtype {
		return nil, errors.New("the reply is to another question")
	}
	return reply, nil
}

func reasonOf(err error, server string) string {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return server + " did not answer in time"
	}
	return fmt.Sprintf("asking %s: %v", server, err)
}

// ttlOf limits the TTL given by a server.
func ttlOf(seconds uint32, most time.Duration) time.Duration {
	return min(time.Duration(seconds)*time.Second, most)
}
