package smtpclient_test

import (
	"bufio"
	"net"
	"strings"
	"sync"
	"testing"
)

// peer is a minimal server for replies that go-smtp would never send. It looks up its reply to a command by the
// verb, and to the final dot by ".".
type peer struct {
	port int

	mu    sync.Mutex
	lines []string // commands and body lines as received
}

func newPeer(t *testing.T, greeting string, answers map[string]string) *peer {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{port: listener.Addr().(*net.TCPAddr).Port}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { p.serve(conn, greeting, answers) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		conns.Wait()
	})
	return p
}

func (p *peer) serve(conn net.Conn, greeting string, answers map[string]string) {
	defer conn.Close()
	if _, err := conn.Write([]byte(greeting)); err != nil {
		return
	}
	lines := bufio.NewScanner(conn)
	inBody := false
	for lines.Scan() {
		line := lines.Text()
		p.mu.Lock()
		p.lines = append(p.lines, line)
		p.mu.Unlock()
		verb, _, _ := strings.Cut(strings.ToUpper(line), " ")
		if inBody && line != "." {
			continue
		}
		answer, ok := answers[verb]
		if !ok {
			answer = "250 ok\r\n"
		}
		inBody = strings.HasPrefix(answer, "354")
		if _, err := conn.Write([]byte(answer)); err != nil || verb == "QUIT" {
			return
		}
	}
}

func (p *peer) transcript() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n") + "\n"
}

// world finds the peer as the mail host of example.test.
func (p *peer) world(t *testing.T) world {
	t.Helper()
	w := newWorld(t, p.port)
	w.hosts(t, "example.test", "127.0.0.1")
	return w
}

const pipelining = "250-peer.test\r\n250-PIPELINING\r\n250 8BITMIME\r\n"
