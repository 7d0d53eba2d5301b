// Package jetstreamtest runs a NATS server with JetStream inside a test.
package jetstreamtest

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// patience is for a server to start, and to answer.
const patience = 2 * time.Minute

// Server is one server with its storage in a folder of the test. Stopped and started again
// it has its port and its storage.
type Server struct {
	t       testing.TB
	options server.Options
	running *server.Server
}

// Start runs one, until the test ends. change may be nil.
func Start(t testing.TB, change func(*server.Options)) *Server {
	t.Helper()
	s := &Server{t: t, options: server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true,
		StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
		JetStreamMaxStore: 1 << 30, JetStreamMaxMemory: 1 << 26}}
	if change != nil {
		change(&s.options)
	}
	s.Again()
	t.Cleanup(s.Stop)
	return s
}

// Again starts the server after Stop.
func (s *Server) Again() {
	s.t.Helper()
	options := s.options
	running, err := server.NewServer(&options)
	if err != nil {
		s.t.Fatalf("start a NATS server: %v", err)
	}
	running.Start()
	if !running.ReadyForConnections(patience) {
		s.t.Fatal("the NATS server does not listen")
	}
	s.running, s.options.Port = running, options.Port
}

// Stop ends it.
func (s *Server) Stop() {
	s.running.Shutdown()
	s.running.WaitForShutdown()
}

// URL is where it listens.
func (s *Server) URL() string { return s.running.ClientURL() }

// JetStream is a client of it, for as long as the test lasts.
func (s *Server) JetStream(options ...nats.Option) nats.JetStreamContext {
	s.t.Helper()
	return Client(s.t, s.URL(), options...)
}

// Client is a client of servers, for as long as the test lasts.
func Client(t testing.TB, url string, options ...nats.Option) nats.JetStreamContext {
	t.Helper()
	conn, err := nats.Connect(url, append(options, nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(100*time.Millisecond))...)
	if err != nil {
		t.Fatalf("connect to %s: %v", url, err)
	}
	t.Cleanup(conn.Close)
	js, err := conn.JetStream(nats.MaxWait(patience))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// Message is one that a stream has.
type Message struct {
	ID, Subject, Account string
	Data                 []byte
}

// Messages reads a whole stream, in its order.
func Messages(t testing.TB, js nats.JetStreamContext, stream string) []Message {
	t.Helper()
	info, err := js.StreamInfo(stream)
	if err != nil {
		t.Fatalf("look at the stream %s: %v", stream, err)
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
		m, err := sub.NextMsg(patience)
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
