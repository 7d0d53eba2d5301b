// Package jetstreamtest runs a NATS server with JetStream inside a test.
package jetstreamtest

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// startTimeout is the maximum time for a server to start and to respond.
const startTimeout = 2 * time.Minute

// Server is a server with its storage in a folder of the test. It keeps its port and storage across Stop and
// Restart.
type Server struct {
	t       testing.TB
	options server.Options
	running *server.Server
}

// Start runs a server until the test ends. change may be nil.
func Start(t testing.TB, change func(*server.Options)) *Server {
	t.Helper()
	s := &Server{t: t, options: server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true,
		StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
		JetStreamMaxStore: 1 << 30, JetStreamMaxMemory: 1 << 26}}
	if change != nil {
		change(&s.options)
	}
	s.Restart()
	t.Cleanup(s.Stop)
	return s
}

// Restart starts the server after Stop.
func (s *Server) Restart() {
	s.t.Helper()
	options := s.options
	running, err := server.NewServer(&options)
	if err != nil {
		s.t.Fatalf("start a NATS server: %v", err)
	}
	running.Start()
	if !running.ReadyForConnections(startTimeout) {
		s.t.Fatal("the NATS server does not listen")
	}
	s.running, s.options.Port = running, options.Port
}

// Stop stops the server.
func (s *Server) Stop() {
	s.running.Shutdown()
	s.running.WaitForShutdown()
}

// URL returns the address of the server.
func (s *Server) URL() string { return s.running.ClientURL() }

// JetStream returns a client of the server, which is closed when the test ends.
func (s *Server) JetStream(options ...nats.Option) nats.JetStreamContext {
	s.t.Helper()
	return Client(s.t, s.URL(), options...)
}

// Client returns a client of servers, which is closed when the test ends.
func Client(t testing.TB, url string, options ...nats.Option) nats.JetStreamContext {
	t.Helper()
	conn, err := nats.Connect(url, append(options, nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(100*time.Millisecond))...)
	if err != nil {
		t.Fatalf("connect to %s: %v", url, err)
	}
	t.Cleanup(conn.Close)
	js, err := conn.JetStream(nats.MaxWait(startTimeout))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// Message is a message of a stream.
type Message struct {
	ID, Subject, Account string
	Data                 []byte
}

// Messages returns all messages of a stream in order.
func Messages(t testing.TB, js nats.JetStreamContext, stream string) []Message {
	t.Helper()
	info, err := js.StreamInfo(stream)
	if err != nil {
		t.Fatalf("look up the stream %s: %v", stream, err)
	}
	var all []Message
	if info.State.Msgs == 0 {
		return nil
	}
	sub, err := js.SubscribeSync("", nats.OrderedConsumer(), nats.BindStream(stream), nats.DeliverAll())
	if err != nil {
		t.Fatalf("read the stream %s: %v", stream, err)
	}
	for len(all) < int(info.State.Msgs) {
		m, err := sub.NextMsg(startTimeout)
		if err != nil {
			t.Fatalf("read message %d of %d of the stream %s: %v", len(all)+1, info.State.Msgs, stream, err)
		}
		all = append(all, Message{ID: m.Header.Get(nats.MsgIdHdr), Subject: m.Subject,
			Account: m.Header.Get("Postrider-Account"), Data: m.Data})
	}
	if err := sub.Unsubscribe(); err != nil {
		t.Error(err)
	}
	return all
}
