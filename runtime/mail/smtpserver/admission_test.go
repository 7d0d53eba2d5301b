package smtpserver_test

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

// trustLoopbackProxy makes 127.0.0.1 a proxy that reports the addresses of its clients.
func trustLoopbackProxy(c *smtpserver.Config) {
	c.ProxyTrusted = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
}

// dialAs connects as a client of an address would, through the proxy.
func (s *running) dialAs(t testing.TB, from string) *client {
	t.Helper()
	c := s.dial(t)
	family, to := "TCP4", "192.0.2.9"
	if strings.Contains(from, ":") {
		family, to = "TCP6", "2001:db8::9"
	}
	c.send("PROXY %s %s %s 4711 25\r\n", family, from, to)
	return c
}

// Fifty /64 networks of one IPv6 /48 connect as often as allowed and stay silent. Clients from other networks are
// still served immediately.
func TestSilentConnectionsOfOneNetworkDoNotFillTheListener(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	s := start(t, k, func(c *smtpserver.Config) {
		trustLoopbackProxy(c)
		c.Connections, c.PerAddress, c.SMTPUTF8 = 100, 20, true
	})
	for i := range 300 {
		s.dialAs(t, fmt.Sprintf("2001:db8:1:%x::1", i%50))
	}
	for i := range 90 {
		began := time.Now()
		c := s.dialAs(t, fmt.Sprintf("203.%d.113.1", i)).sendHello().startTransaction()
		c.send("Subject: %d\r\n\r\nx\r\n.\r\n", i)
		c.expect("250 ")
		if took := time.Since(began); took > time.Minute {
			t.Errorf("newcomer %d was served after %s", i, took)
		}
	}
	if got := len(k.storedMessages()); got != 90 {
		t.Errorf("%d of 90 messages were accepted", got)
	}
}

// A client that is evicted gets a reply.
func TestDisplacedConnectionGetsAReply(t *testing.T) {
	t.Parallel()
	s := start(t, &keeper{}, func(c *smtpserver.Config) {
		trustLoopbackProxy(c)
		c.Connections = 16
	})
	silent := s.dialAs(t, "203.0.113.1")
	silent.expect("220 ")
	greeted := s.dialAs(t, "203.0.113.2").sendHello()
	inside := s.dialAs(t, "203.0.113.3").sendHello().startTransaction()
	for i := range 13 {
		s.dialAs(t, fmt.Sprintf("198.%d.100.1", i)).sendHello()
	}
	s.dialAs(t, "192.0.2.1").sendHello()
	silent.expect("421 4.7.0 Too many connections, and this one was idle")
	silent.expectClose()
	s.dialAs(t, "192.1.2.1").sendHello()
	greeted.expect("421 4.7.0")
	greeted.expectClose()
	s.dialAs(t, "192.2.2.1").expect("421 4.7.0 Too many connections")
	inside.send("Subject: x\r\n\r\nx\r\n.\r\n")
	inside.expect("250 ")
}

// A message that is stored outside of its connection's memory must arrive at a minimum rate or is rejected: in
// one piece, in chunks, and between chunks.
func TestLargeMessageMustKeepTheMinimumRate(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	s := start(t, k, func(c *smtpserver.Config) { c.Pace = intake.Rate{Bytes: 10_000, Period: time.Second} })
	much := strings.Repeat(strings.Repeat("x", 98)+"\r\n", 700)
	data := s.dial(t).sendHello().startTransaction()
	data.send("%s", much)
	chunk := s.dial(t).sendHello()
	chunk.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nBDAT 100000 LAST\r\n%s", much)
	chunk.expect("250 ", "250 ")
	between := s.dial(t).sendHello()
	between.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nBDAT %d\r\n%s", len(much), much)
	between.expect("250 ", "250 ", "250 ")
	for _, c := range []*client{data, chunk, between} {
		c.expect("451 4.4.2 The message arrives too slowly")
		c.expectClose()
	}
	// A small message has only the time limits of the protocol.
	small := s.dial(t).sendHello().startTransaction()
	small.send("x\r\n")
	<-time.After(3 * time.Second)
	small.send("y\r\n.\r\n")
	small.expect("250 ")
	if got := k.storedMessages(); len(got) != 1 || got[0] != "x\r\ny\r\n" {
		t.Errorf("%d messages were kept, want the small one", len(got))
	}
}

// cutter creates sessions that cut their messages.
type cutter struct{ keeper }

func (k *cutter) NewSession(context.Context, smtpserver.Peer) (smtpserver.Session, error) {
	return &cutting{visit{keeper: &k.keeper}}, nil
}

type cutting struct{ visit }

func (v *cutting) Data(ctx context.Context, body io.Reader) error {
	time.AfterFunc(50*time.Millisecond,
		func() { smtpserver.Cut(body, smtpserver.Refuse(452, "4.3.1", "Others need the room")) })
	return v.visit.Data(ctx, body)
}

func TestCutBodyGetsAReply(t *testing.T) {
	t.Parallel()
	k := &cutter{}
	s := start(t, k, nil)
	data := s.dial(t).sendHello().startTransaction()
	data.send("Subject: x\r\n")
	chunk := s.dial(t).sendHello()
	chunk.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nBDAT 100 LAST\r\nSubject")
	chunk.expect("250 ", "250 ")
	for _, c := range []*client{data, chunk} {
		c.expect("452 4.3.1 Others need the room")
		c.expectClose()
	}
	if got := k.storedMessages(); len(got) != 0 {
		t.Errorf("kept %q", got)
	}
}

// A line of a message may be as long as the message.
func TestMessageLinesMayBeLong(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	c := start(t, k, nil).dial(t).sendHello()
	long := strings.Repeat("x", 300_000) + "\r\n"
	c.startTransaction().send("%s.\r\n", long)
	c.expect("250 ")
	c.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nBDAT %d LAST\r\n%sMAIL FROM:<a@client.test>\r\n", len(long), long)
	c.expect("250 ", "250 ", "250 ", "250 ")
	if got := k.storedMessages(); len(got) != 2 || got[0] != long || got[1] != long {
		t.Errorf("%d messages were kept", len(got))
	}
}

// Command lines are limited, and use no memory beyond the limit.
func TestCommandLinesAreLimited(t *testing.T) {
	t.Parallel()
	s := start(t, &keeper{}, nil)
	c := s.dial(t).sendHello()
	go fmt.Fprintf(c, "NOOP %s\r\n", strings.Repeat("x", 200_000)) // the connection may already be closed
	c.expect("500 5.5.2 The line is too long")
	expect.EventuallyWithin(t, 10*time.Second, "the connection ends", func() bool { return c.readReply() == "" })
}
