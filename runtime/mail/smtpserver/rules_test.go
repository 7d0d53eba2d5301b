package smtpserver_test

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

func TestASecondMailInATransactionIsRefused(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	c := start(t, k, nil).dial(t).sendHello()
	c.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<first@mx.test>\r\nMAIL FROM:<b@client.test>\r\nRSET\r\nMAIL FROM:<b@client.test>\r\n")
	c.expect("250 ", "250 ", "503 5.5.1", "250 ", "250 ")
}

func TestBareLineEndsAreRefused(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	s := start(t, k, nil)
	for _, bad := range []string{"a\nb\r\n.\r\n", "a\rb\r\n.\r\n", "a\n.\n\r\n.\r\n", "a\r\n.\rb\r\n.\r\n",
		"a\r\r\nb\r\n.\r\n", "a\n.\r\n\r\n.\r\n"} {
		c := s.dial(t).sendHello().startTransaction()
		c.send("%s", bad)
		c.expect("554 5.5.2")
		c.expectClose()
	}
	command := s.dial(t).sendHello()
	command.send("NOOP\nMAIL FROM:<a@client.test>\r\n")
	command.expect("554 5.5.2")
	command.expectClose()
	bdat := s.dial(t).sendHello()
	bdat.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nBDAT 6 LAST\r\na\nb\n\r\n")
	bdat.expect("250 ", "250 ", "554 5.5.2")
	if got := k.storedMessages(); len(got) != 0 {
		t.Errorf("kept %q", got)
	}
}

// Only CRLF.CRLF ends a message.
func TestSmuggledEndOfDataIsRejected(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	s := start(t, k, nil)
	for _, end := range []string{"\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r", "\r.\r\n", "\r\n.\r"} {
		c := s.dial(t).sendHello().startTransaction()
		c.send("first%sMAIL FROM:<x@client.test>\r\nRCPT TO:<y@mx.test>\r\nDATA\r\nsmuggled\r\n.\r\n", end)
		c.expect("554 5.5.2")
		c.expectClose()
	}
	if got := k.storedMessages(); len(got) != 0 {
		t.Errorf("kept %q", got)
	}
}

func TestErrorsAreCountedAndEndTheConnection(t *testing.T) {
	t.Parallel()
	k := &keeper{refuse: smtpserver.Refuse(550, "5.1.1", "Nobody\r\nhere")}
	s := start(t, k, func(c *smtpserver.Config) { c.MaxErrors = 3; c.MaxCommands = 30 })
	c := s.dial(t).sendHello()
	c.send("MAIL FROM:<a@client.test>\r\n%s", strings.Repeat("RCPT TO:<b@mx.test>\r\n", 10))
	c.expect("250 ", "550 5.1.1 Nobody  here", "550 ", "550 ", "421 4.7.0")
	c.expectClose()
	if len(k.to) != 3 {
		t.Errorf("the session received %d recipients", len(k.to))
	}
	order := s.dial(t).sendHello()
	order.send("RCPT TO:<b@mx.test>\r\nDATA\r\nAUTH PLAIN\r\n")
	order.expect("5", "5", "5", "421 4.7.0")
	order.expectClose()
	chatter := s.dial(t).sendHello()
	chatter.send("%s", strings.Repeat("NOOP\r\n", 40))
	for range 28 { // greeting and EHLO count
		chatter.expect("250 ")
	}
	chatter.expect("421 4.7.0")
	chatter.expectClose()
}

func TestConnectionsAreCounted(t *testing.T) {
	t.Parallel()
	s := start(t, &keeper{}, func(c *smtpserver.Config) { c.Connections, c.PerAddress = 3, 2 })
	first, second := s.dial(t).sendHello(), s.dial(t).sendHello()
	s.dial(t).expect("421 4.7.0 Too many connections from your address")
	other := s.dialFrom(t, "127.0.0.9").sendHello()
	s.dialFrom(t, "127.0.0.10").expect("421 4.7.0 Too many connections")
	for _, c := range []*client{first, second, other} {
		c.send("QUIT\r\n")
		c.expect("221 ")
		c.expectClose()
	}
	// The slot is released, but the server notices the disconnect a moment later.
	expect.EventuallyWithin(t, 10*time.Second, "a slot is free", func() bool {
		c := s.dial(t)
		defer c.Close()
		return strings.HasPrefix(c.readReply(), "220 ")
	})
}

func (s *running) dialFrom(t testing.TB, ip string) *client {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	c, err := d.Dial("tcp", s.addr) // loopback
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return newClient(t, c)
}

func TestSizeLimitIsExact(t *testing.T) {
	t.Parallel()
	const limit = 10000
	k := &keeper{}
	s := start(t, k, func(c *smtpserver.Config) { c.MaxMessageBytes = limit })
	c := s.dial(t)
	c.expect("220 ")
	c.send("EHLO client.test\r\n")
	if got := c.readReply(); !strings.Contains(got, "SIZE 10000") {
		t.Errorf("received %q", got)
	}
	lines := strings.Repeat(strings.Repeat("x", 98)+"\r\n", limit/100)
	c.send("MAIL FROM:<a@client.test> SIZE=10000\r\nRCPT TO:<b@mx.test>\r\nDATA\r\n")
	c.expect("250 ", "250 ", "354 ")
	c.send("%s.\r\n", lines)
	c.expect("250 ")
	c.startTransaction().send("%s", "y"+lines+".\r\n")
	c.expect("552 5.3.4")
	for _, size := range []string{"10001", "4294967295", "4294967296", "99999999999999999999"} {
		c.send("MAIL FROM:<a@client.test> SIZE=%s\r\n", size)
		c.expect("552 5.3.4")
	}
	c.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nBDAT %d LAST\r\n%s", limit, lines)
	c.expect("250 ", "250 ", "250 ")
	c.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nBDAT %d LAST\r\n%s", limit+1, "y"+lines)
	c.expect("250 ", "250 ", "552 5.3.4")
	if got := k.storedMessages(); len(got) != 2 || len(got[0]) != limit || len(got[1]) != limit {
		t.Errorf("kept %d messages", len(got))
	}
	// A client that keeps sending is disconnected.
	flood := s.dial(t).sendHello().startTransaction()
	for range 200 {
		if _, err := fmt.Fprint(flood, lines); err != nil {
			return
		}
	}
	if line := flood.readReply(); strings.HasPrefix(line, "250") {
		t.Errorf("two megabytes were answered %q", line)
	}
}

// Chunks may be split anywhere, and may contain long runs without a line end.
func TestChunksAreJoined(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	c := start(t, k, nil).dial(t).sendHello()
	long := strings.Repeat("x", 30000)
	c.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nBDAT %d\r\n%s", len(long), long)
	c.expect("250 ", "250 ", "250 ")
	c.send("BDAT 1\r\n\r")
	c.expect("250 ")
	c.send("BDAT 1 LAST\r\n\n")
	c.expect("250 ")
	c.startTransaction().send("after\r\n.\r\nMAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nBDAT 6 LAST\r\nlast\r\nQUIT\r\n")
	c.expect("250 ", "250 ", "250 ", "250 ", "221 ")
	if diff := cmp.Diff([]string{long + "\r\n", "after\r\n", "last\r\n"}, k.storedMessages()); diff != "" {
		t.Error(diff[:min(len(diff), 500)])
	}
}

// The reply to an aborted message could be mistaken for the reply to the next one.
func TestAbortedChunkedMessageEndsTheConnection(t *testing.T) {
	t.Parallel()
	k := &keeper{inside: make(chan struct{}, 1)}
	c := start(t, k, nil).dial(t).sendHello()
	c.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nBDAT 3\r\nabc")
	c.expect("250 ", "250 ", "250 ")
	<-k.inside
	c.send("RSET\r\nMAIL FROM:<a@client.test>\r\n")
	c.expect("250 ", "421 ")
	c.expectClose()
}

func TestAddressesMustMatchTheGrammar(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	c := start(t, k, func(c *smtpserver.Config) { c.SMTPUTF8, c.MaxErrors = true, 100 }).dial(t).sendHello()
	c.send("MAIL FROM:<>\r\n")
	c.expect("250 ")
	good := map[string]string{"postmaster": "postmaster@mx.test", "POSTMASTER": "postmaster@mx.test",
		`"a b"@mx.test`:       `"a b"@mx.test`,
		`"a> SIZE=1"@mx.test`: `"a> SIZE=1"@mx.test`, `"a\"b"@mx.test`: `"a\"b"@mx.test`,
		"a.b+c@mx.test": "a.b+c@mx.test", "a@[127.0.0.1]": "a@[127.0.0.1]",
		`".x"@mx.test`: `".x"@mx.test`, `"a@b"@mx.test`: `"a@b"@mx.test`, "@a.test,@b.test:x@mx.test": "x@mx.test"}
	for given, want := range good {
		c.send("RCPT TO:<%s>\r\n", given)
		c.expect("250 ")
		if got := k.to[len(k.to)-1]; got != want {
			t.Errorf("%s was parsed as %s, want %s", given, got, want)
		}
	}
	for _, bad := range []string{"a@b c", "a@mx..test", "a@-mx.test", "a@[mx]", "a@b@c_/d", "x@@mx.test", "a@b@mx.test",
		".x@mx.test", "x.@mx.test", "x..y@mx.test", "@a.test:.x@mx.test", "\"a\tb\"@mx.test", "a@mx.test\x00",
		"é@mx.test", "a@é.test", strings.Repeat("a", 65) + "@mx.test"} {
		c.send("RCPT TO:<%s>\r\n", bad)
		c.expect("5")
	}
	c.send("RSET\r\nMAIL FROM:<é@mx.test>\r\nMAIL FROM:<é@mx.test> SMTPUTF8\r\nRCPT TO:<ü@mx.test>\r\n")
	c.expect("250 ", "553 5.6.7", "250 ", "250 ")
}

func TestEarlyTalkersAreRejected(t *testing.T) {
	t.Parallel()
	s := start(t, &keeper{}, func(c *smtpserver.Config) { c.GreetPause = 200 * time.Millisecond })
	early := s.dial(t)
	early.send("EHLO client.test\r\n")
	early.expect("554 5.5.1")
	early.expectClose()
	s.dial(t).sendHello()
}

func TestPROXYHeaderOfATrustedProxyIsUsed(t *testing.T) {
	t.Parallel()
	s := start(t, &keeper{}, func(c *smtpserver.Config) {
		c.PerAddress, c.ProxyTrusted = 1, []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	for i := range 3 { // from the same proxy for three clients
		c := s.dial(t)
		c.send("PROXY TCP4 192.0.2.%d 192.0.2.9 4711 25\r\n", i+1)
		c.sendHello()
	}
	again := s.dial(t)
	again.send("PROXY TCP4 192.0.2.1 192.0.2.9 4712 25\r\n")
	again.expect("421 4.7.0 Too many connections from your address")
	v6 := s.dial(t)
	v6.send("PROXY TCP6 2001:db8::1 2001:db8::9 4711 25\r\n")
	v6.sendHello()
	neighbour := s.dial(t)
	neighbour.send("PROXY TCP6 2001:db8::ffff:1 2001:db8::9 4711 25\r\n")
	neighbour.expect("421 4.7.0 Too many connections from your address")
	silent := s.dial(t)
	silent.send("EHLO client.test\r\n")
	silent.expectClose()
	stranger := s.dialFrom(t, "127.0.0.7")
	stranger.expect("220 ")
	stranger.send("PROXY TCP4 192.0.2.77 192.0.2.9 4711 25\r\n")
	stranger.expect("50")
}
