package smtpclient_test

import (
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// Deliveries per second with 16 callers: go test -bench Deliver -benchtime 3s.
func BenchmarkDeliver(b *testing.B) {
	msg := []byte(message + strings.Repeat("A line of some length to make it four kilobytes in all.\r\n", 70))
	b.Run("smtptest", func(b *testing.B) {
		server, w := newOneHost(b, smtptest.Config{Discard: true})
		deliverAll(b, w.Transport, msg)
		if n := server.Stats().Accepted; n != b.N {
			b.Errorf("%d of %d arrived", n, b.N)
		}
	})
	b.Run("smtptest-tls", func(b *testing.B) {
		_, w := newOneHost(b, smtptest.Config{Discard: true, TLS: smtptest.StartTLS})
		deliverAll(b, w.Transport, msg)
	})
	sink, err := exec.LookPath("/usr/sbin/smtp-sink")
	if err != nil {
		b.Logf("without smtp-sink: %v", err)
		return
	}
	b.Run("smtp-sink", func(b *testing.B) {
		port := startSink(b, sink)
		w := newWorld(b, port)
		w.hosts(b, "example.test", "127.0.0.1")
		deliverAll(b, w.Transport, msg)
	})
}

func deliverAll(b *testing.B, transport *smtpclient.Transport, msg []byte) {
	b.Helper()
	const callers = 16
	var next atomic.Int64
	b.SetParallelism(callers) // times GOMAXPROCS; the counter below keeps it to 16
	gate := make(chan struct{}, callers)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			gate <- struct{}{}
			to := fmt.Sprintf("user%d@example.test", next.Add(1))
			got := transport.Deliver(b.Context(), smtpclient.Envelope{From: envelope.From, To: to}, msg,
				func() error { return nil })
			<-gate
			if got.Kind != smtpclient.Delivered {
				b.Errorf("Deliver returned %+v, want delivered", got)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}

func startSink(b *testing.B, path string) (port int) {
	b.Helper()
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	port = free.Addr().(*net.TCPAddr).Port
	free.Close()
	sink := exec.CommandContext(b.Context(), path, "-u", "nobody", "127.0.0.1:"+strconv.Itoa(port), "1000")
	if err := sink.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := sink.Wait(); err != nil {
			b.Logf("smtp-sink: %v", err) // killed with the context
		}
	})
	for {
		conn, err := net.Dial("tcp4", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			conn.Close()
			return port
		}
		if b.Context().Err() != nil {
			b.Fatal(err)
		}
	}
}
