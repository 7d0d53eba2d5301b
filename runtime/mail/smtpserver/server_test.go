package smtpserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

// keeper accepts and stores every message.
type keeper struct {
	mu       sync.Mutex
	messages []string
	senders  []string
	to       []string
	refuse   error         // of Rcpt
	fail     error         // of Data, after the body
	inside   chan struct{} // notified when Data has begun; may be nil
}

func (k *keeper) NewSession(context.Context, smtpserver.Peer) (smtpserver.Session, error) {
	return &visit{keeper: k}, nil
}

func (k *keeper) storedMessages() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string{}, k.messages...)
}

type visit struct {
	keeper *keeper
	from   smtpserver.Path
}

func (v *visit) Mail(_ context.Context, from smtpserver.Path, _ smtpserver.MailOptions) error {
	v.from = from
	return nil
}

func (v *visit) Rcpt(_ context.Context, to smtpserver.Path) error {
	v.keeper.mu.Lock()
	defer v.keeper.mu.Unlock()
	v.keeper.to = append(v.keeper.to, to.String())
	return v.keeper.refuse
}

func (v *visit) Data(_ context.Context, body io.Reader) error {
	if v.keeper.inside != nil {
		v.keeper.inside <- struct{}{}
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if v.keeper.fail != nil {
		return v.keeper.fail
	}
	v.keeper.mu.Lock()
	defer v.keeper.mu.Unlock()
	v.keeper.messages = append(v.keeper.messages, string(text))
	v.keeper.senders = append(v.keeper.senders, v.from.String())
	return nil
}

func (v *visit) Reset() {}
func (v *visit) End()   {}

// running is a server on loopback.
type running struct {
	*smtpserver.Server

	addr  string
	ended chan error
}

func start(t testing.TB, k smtpserver.Handler, change func(*smtpserver.Config)) *running {
	t.Helper()
	c := smtpserver.Config{Name: "test", Hostname: "mx.test", Handler: k, Logger: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&c)
	}
	s, err := smtpserver.New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // loopback
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Server: s, addr: l.Addr().String(), ended: make(chan error, 1)}
	go func() { r.ended <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	return r
}

// client writes bytes and reads lines.
type client struct {
	net.Conn

	t testing.TB
	r *bufio.Reader
}

func (s *running) dial(t testing.TB) *client {
	t.Helper()
	c, err := net.Dial("tcp", s.addr) // loopback
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return newClient(t, c)
}

func newClient(t testing.TB, c net.Conn) *client {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(expect.Patience)); err != nil {
		t.Fatal(err)
	}
	return &client{Conn: c, t: t, r: bufio.NewReader(c)}
}

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c, format, args...); err != nil {
		c.t.Fatal(err)
	}
}

// readReply returns the next reply with all its lines, or "" after the connection has ended.
func (c *client) readReply() string {
	c.t.Helper()
	var all strings.Builder
	for {
		line, err := c.r.ReadString('\n')
		all.WriteString(line)
		if err != nil || len(line) < 4 || line[3] != '-' {
			return strings.TrimSpace(all.String())
		}
	}
}

// expect reads replies and compares their prefixes.
func (c *client) expect(prefixes ...string) {
	c.t.Helper()
	for _, want := range prefixes {
		if got := c.readReply(); !strings.HasPrefix(got, want) {
			c.t.Fatalf("got the reply %q, want %s", got, want)
		}
	}
}

// expectClose expects the connection to close without another reply.
func (c *client) expectClose() {
	c.t.Helper()
	if rest, err := io.ReadAll(c.r); err != nil && errors.Is(err, context.DeadlineExceeded) || len(rest) > 0 {
		c.t.Fatalf("got %q, %v, want the connection to close", rest, err)
	}
}

func (c *client) sendHello() *client {
	c.t.Helper()
	c.expect("220 mx.test")
	c.send("EHLO client.test\r\n")
	c.expect("250-mx.test Hello client.test")
	return c
}

// startTransaction sends a transaction up to DATA.
func (c *client) startTransaction() *client {
	c.t.Helper()
	c.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nDATA\r\n")
	c.expect("250 ", "250 ", "354 ")
	return c
}

func TestMessageIsAccepted(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	c := start(t, k, nil).dial(t).sendHello().startTransaction()
	c.send("Subject: x\r\n\r\n..dot\r\n.\r\nQUIT\r\n")
	c.expect("250 2.0.0", "221 ")
	c.expectClose()
	if got := k.storedMessages(); len(got) != 1 || got[0] != "Subject: x\r\n\r\n.dot\r\n" {
		t.Errorf("kept %q", got)
	}
}

// Data after a stalled body must not be read as commands: on an authenticated connection, a second message
// would be sent as the account.
func TestDataAfterAStalledBodyIsNeverACommand(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	c := start(t, k, func(c *smtpserver.Config) { c.BodyRead = 100 * time.Millisecond }).dial(t).sendHello().
		startTransaction()
	c.send("Subject: first\r\n\r\nbegins\r\n")
	// its time is over
	c.expect("451 4.4.2")
	fmt.Fprint(c, "RSET\r\nMAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nDATA\r\nSubject: smuggled\r\n\r\n.\r\n") // the connection may already be closed
	c.expectClose()
	if got := k.storedMessages(); len(got) != 0 {
		t.Errorf("kept %q", got)
	}
}

func TestDataAfterAStalledChunkIsNeverACommand(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	c := start(t, k, func(c *smtpserver.Config) { c.BodyRead = 100 * time.Millisecond }).dial(t).sendHello()
	c.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nBDAT 100 LAST\r\nSubject")
	c.expect("250 ", "250 ", "451 4.4.2")
	fmt.Fprint(c, "MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nDATA\r\n\r\n.\r\n") // the connection may already be closed
	c.expectClose()
	if got := k.storedMessages(); len(got) != 0 {
		t.Errorf("kept %q", got)
	}
}

// go-smtp treats the last chunk as complete if the connection ends inside it.
func TestTruncatedChunkIsNotAMessage(t *testing.T) {
	t.Parallel()
	k := &keeper{inside: make(chan struct{}, 1)}
	s := start(t, k, nil)
	for _, cut := range []string{"", "Subject: x\r\n"} {
		c := s.dial(t).sendHello()
		c.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nBDAT 100 LAST\r\n%s", cut)
		c.expect("250 ", "250 ")
		<-k.inside
		c.Conn.(*net.TCPConn).CloseWrite() //nolint:forcetypeassert // the reply shows it
		c.expect("451 4.4.2")
	}
	if got := k.storedMessages(); len(got) != 0 {
		t.Errorf("kept %q", got)
	}
}

// A message may take longer than one read.
func TestEachReadOfAMessageHasATimeLimit(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	const each = time.Second
	s := start(t, k, func(c *smtpserver.Config) { c.BodyRead, c.MessageTime = each, time.Hour })
	for range 20 {
		slow := s.dial(t).sendHello().startTransaction()
		longest, last := time.Duration(0), time.Now()
		for range 5 { // longer than one read may take
			<-time.After(each * 2 / 5)
			_, err := fmt.Fprint(slow, "x\r\n")
			longest, last = max(longest, time.Since(last)), time.Now()
			if err != nil && longest < each*4/5 {
				t.Fatal(err)
			}
		}
		if longest > each*4/5 { // the machine stalled, so the read may have timed out
			continue
		}
		slow.send(".\r\n")
		slow.expect("250 ")
		return
	}
	t.Error("the machine stalls repeatedly")
}

// However often data arrives, a message may not take longer than its total limit.
func TestMessageHasATotalTimeLimit(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	s := start(t, k, func(c *smtpserver.Config) { c.BodyRead, c.MessageTime = time.Hour, time.Second })
	endless := s.dial(t).sendHello().startTransaction()
	sending := make(chan struct{})
	go func() {
		defer close(sending)
		for {
			if _, err := fmt.Fprint(endless, "x\r\n"); err != nil {
				return // the connection has ended
			}
			<-time.After(100 * time.Millisecond)
		}
	}()
	endless.expect("451 4.4.2")
	if err := endless.Close(); err != nil {
		t.Error(err)
	}
	<-sending
	if len(k.storedMessages()) != 0 {
		t.Errorf("kept %q", k.storedMessages())
	}
}

func TestIdleClientsAreDisconnected(t *testing.T) {
	t.Parallel()
	c := start(t, &keeper{}, func(c *smtpserver.Config) { c.Idle = 100 * time.Millisecond }).dial(t)
	c.expect("220 ")
	c.send("EH") // a line that never ends is idle too
	c.expect("421 4.4.2")
	c.expectClose()
}

func TestConnectionHasATimeLimit(t *testing.T) {
	t.Parallel()
	c := start(t, &keeper{}, func(c *smtpserver.Config) { c.ConnectionTime = 300 * time.Millisecond }).dial(t)
	expect.Eventually(t, "the connection ends", func() bool {
		if _, err := fmt.Fprint(c, "NOOP\r\n"); err != nil {
			return true
		}
		line := c.readReply()
		return strings.HasPrefix(line, "421 ") || line == ""
	})
}

func TestUnavailableDatabaseIsTemporary(t *testing.T) {
	t.Parallel()
	k := &keeper{fail: errors.New("connection refused")}
	c := start(t, k, nil).dial(t).sendHello().startTransaction()
	c.send("x\r\n.\r\n")
	c.expect("451 4.3.0 Try again later")
}

func TestSessionCanAcceptWithItsOwnText(t *testing.T) {
	t.Parallel()
	k := &keeper{fail: smtpserver.Accept("OK msg_1\r\nX: y")}
	c := start(t, k, nil).dial(t).sendHello().startTransaction()
	c.send("Subject: x\r\n\r\nx\r\n.\r\n")
	c.expect("250 2.0.0 OK msg_1  X: y")
	c.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nBDAT 12 LAST\r\nSubject: x\r\n")
	c.expect("250 ", "250 ", "250 2.0.0 OK msg_1")
	// A malformed message is rejected even if the session accepts it.
	c.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nDATA\r\n")
	c.expect("250 ", "250 ", "354 ")
	c.send("bare\nlf\r\n.\r\n")
	c.expect("554 5.5.2 ")
}
