package smtpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

func TestAConnectionServesManyMessagesWithoutRSET(t *testing.T) {
	t.Parallel()
	for _, noPipelining := range []bool{false, true} {
		server, w := newOneHost(t, smtptest.Config{NoPipelining: noPipelining})
		for range 10 {
			expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
		}
		if n := server.Stats().Connections; n != 1 {
			t.Errorf("%d connections", n)
		}
		if strings.Contains(server.Transcript(), "RSET") {
			t.Error("RSET after success")
		}
	}
}

func TestConnectionIsResetAfterARejection(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	server.On(smtptest.Rcpt, "", smtptest.Reply(550, "5.1.1", "unknown"))
	w.send(t)
	expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	if n := strings.Count(server.Transcript(), "RSET\r\nMAIL FROM:"); n != 1 || server.Stats().Connections != 1 {
		t.Errorf("said %q", server.Transcript())
	}
}

func TestMessagesPerConnectionAreLimited(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{}, withLanes(t, "default 20 20 3 10m -"))
	for range 7 {
		expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	}
	perConnection := map[int]int{}
	for _, m := range server.Messages() {
		perConnection[m.Connection]++
	}
	if perConnection[1] != 3 || perConnection[2] != 3 || perConnection[3] != 1 {
		t.Errorf("messages per connection: %v", perConnection)
	}
	server.Wait(t, "two QUIT commands", func(now smtptest.Stats) bool { return now.Open == 1 })
	if n := strings.Count(server.Transcript(), "QUIT\r\n"); n != 2 {
		t.Errorf("%d QUIT commands", n)
	}
}

func TestIdleConnectionsExpire(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{}, func(c *smtpclient.Config) { c.IdleAge = 50 * time.Millisecond })
	expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	server.Wait(t, "QUIT", func(now smtptest.Stats) bool { return now.Open == 0 })
	if !strings.HasSuffix(server.Transcript(), "QUIT\r\n") {
		t.Errorf("said %q", server.Transcript())
	}
}

func TestConnectionsPerRouteAreLimited(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{}, withLanes(t, "default 3 3 100 10m -"))
	other := "other.test"
	w.hosts(t, other, server.Host())
	var mu sync.Mutex
	most := 0
	var senders sync.WaitGroup
	for i := range 20 {
		senders.Go(func() {
			to := smtpclient.Envelope{From: envelope.From, To: fmt.Sprintf("user%d@example.test", i)}
			got := w.Deliver(t.Context(), to, []byte(message), func() error {
				mu.Lock()
				defer mu.Unlock()
				most = max(most, server.Stats().Open)
				return nil
			})
			expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
		})
	}
	senders.Wait()
	if s := server.Stats(); s.Connections > 3 || most > 3 || s.Accepted != 20 {
		t.Errorf("%d open at once, %+v", most, s)
	}
}

func TestWaitingForAConnectionEndsWithTheContext(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{}, withLanes(t, "default 1 1 100 10m -"))
	server.On(smtptest.Dot, "", smtptest.Stall())
	first := make(chan smtpclient.Outcome, 1)
	go func() { first <- w.Deliver(t.Context(), envelope, []byte(message), nil) }()
	server.Wait(t, "the stall", func(now smtptest.Stats) bool { return now.Stalled == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	got := w.Deliver(ctx, envelope, []byte(message), nil)
	expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseWait)
	if !errors.Is(got.Err, context.DeadlineExceeded) {
		t.Errorf("error %v", got.Err)
	}
	server.Release()
	<-first
}

func TestDeadIdleConnectionIsReplacedWithoutAnAttempt(t *testing.T) {
	t.Parallel()
	for name, action := range map[string]smtptest.Action{
		"hangs up":       smtptest.Disconnect(),
		"421 and silent": smtptest.ReplyAndHangUp(421, "4.4.2", "idle for too long"),
	} {
		for _, noPipelining := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				server, w := newOneHost(t, smtptest.Config{NoPipelining: noPipelining})
				expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
				server.On(smtptest.Mail, "", action)
				expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
				if s := server.Stats(); s.Connections != 2 || s.Accepted != 2 {
					t.Errorf("after an idle connection died, the server counts %+v, want 2 connections and 2 messages",
						s)
				}
			})
		}
	}
}

func TestAConnectionDeadAtResetIsReplaced(t *testing.T) {
	t.Parallel()
	p := newPeer(t, "220 peer.test\r\n", map[string]string{"EHLO": pipelining, "RCPT": "550 5.1.1 unknown\r\n",
		"DATA": "503 no\r\n", "RSET": "502 never\r\n"})
	w := p.world(t)
	for range 2 {
		expect(t, w.send(t), smtpclient.Permanent, "", smtpclient.PhaseRcpt)
	}
	if n := strings.Count(p.transcript(), "EHLO"); n != 2 {
		t.Errorf("said %q", p.transcript())
	}
}

// A fresh connection that dies is an attempt: no endless redialling.
func TestAFreshConnectionThatDiesIsAnAttempt(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	server.Always(smtptest.Mail, "", smtptest.Disconnect())
	expect(t, w.send(t), smtpclient.Temporary, "", smtpclient.PhaseMail)
	if n := server.Stats().Connections; n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestReusedConnectionThatDiesLaterIsAnAttempt(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{NoPipelining: true})
	expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	server.On(smtptest.Rcpt, "", smtptest.Disconnect())
	expect(t, w.send(t), smtpclient.Temporary, "", smtpclient.PhaseRcpt)
}

func TestDomainsWithTheSameHostsShareConnections(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	w.dns.Add(t, "second.test. 300 IN MX 5 MX1.example.test.", "third.test. 300 IN A "+server.Host())
	for _, to := range []string{"a@example.test", "b@second.test", "c@third.test"} {
		got := w.Deliver(t.Context(), smtpclient.Envelope{To: to}, []byte(message), nil)
		expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	}
	m := server.Messages()
	if m[0].Connection != m[1].Connection || m[2].Connection == m[0].Connection {
		t.Errorf("connections %d, %d, %d", m[0].Connection, m[1].Connection, m[2].Connection)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	server.On(smtptest.Dot, "carol@example.test", smtptest.Stall())
	stalled := make(chan smtpclient.Outcome, 1)
	go func() {
		stalled <- w.Deliver(t.Context(), smtpclient.Envelope{To: "carol@example.test"}, []byte(message), nil)
	}()
	server.Wait(t, "the stall", func(now smtptest.Stats) bool { return now.Stalled == 1 })
	expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot) // on a second connection, now idle
	w.Close()
	if got := <-stalled; !got.Ambiguous || !errors.Is(got.Err, smtpclient.ErrClosed) {
		t.Errorf("in progress: %+v", got)
	}
	got := w.send(t)
	expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseWait)
	if !errors.Is(got.Err, smtpclient.ErrClosed) {
		t.Errorf("after Close: %v", got.Err)
	}
	server.Release()
	server.Wait(t, "all connections to end", func(now smtptest.Stats) bool { return now.Open == 0 })
	w.Close() // a second call does no harm
}
