package smtpclient_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

func TestDelivered(t *testing.T) {
	t.Parallel()
	for _, noPipelining := range []bool{false, true} {
		server, w := newOneHost(t, smtptest.Config{NoPipelining: noPipelining})
		server.On(smtptest.Dot, "", smtptest.Reply(250, "2.0.0", "Ok: queued as 4XyZ"))
		got := w.send(t)
		expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
		expectReply(t, got, 250, "2.0.0", "250 2.0.0 Ok: queued as 4XyZ")
		if got.RemoteHost != "mx1.example.test" || got.RemoteAddr != server.Addr() || got.TLS != "" || got.Ambiguous {
			t.Errorf("got %+v", got)
		}
		if got.Diagnostic() != got.Reply {
			t.Errorf("diagnostic %q", got.Diagnostic())
		}
		messages := server.Messages()
		if len(messages) != 1 {
			t.Fatalf("%d messages arrived", len(messages))
		}
		m := messages[0]
		if m.From != envelope.From || len(m.To) != 1 || m.To[0] != envelope.To || string(m.Data) != message ||
			m.Helo != "client.test" || m.TLS {
			t.Errorf("arrived: %+v", m)
		}
		if pipelined := strings.Contains(server.Transcript(), "\r\nDATA\r\n"); !pipelined {
			t.Errorf("transcript %q", server.Transcript())
		}
	}
}

func TestNullSender(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	got := w.Deliver(t.Context(), smtpclient.Envelope{To: "bob@example.test"}, []byte(message), nil)
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	if !strings.Contains(server.Transcript(), "MAIL FROM:<> ") {
		t.Errorf("transcript %q", server.Transcript())
	}
}

func TestBodiesArriveUnchanged(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	bodies := []string{
		".\r\n", "..\r\n.\r\n...\r\n", "\r\n", "\r\n.\r\n", "a\r\n.b\r\n", strings.Repeat(".\r\n", 70_000),
		strings.Repeat("x", 65_534) + "\r\n.over the block\r\n", strings.Repeat("x", 65_533) + "\r\n.at the block\r\n",
		strings.Repeat("x", 65_535) + "\r\n.past the block\r\n", strings.Repeat("long line ", 30_000) + "\r\n",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		var b strings.Builder
		for b.Len() < 150_000 {
			fmt.Fprintf(&b, "%s%s\r\n", strings.Repeat(".", random.IntN(3)), strings.Repeat("y", random.IntN(120)))
		}
		bodies = append(bodies, b.String())
	}
	for i, body := range bodies {
		got := w.Deliver(t.Context(), envelope, []byte(body), nil)
		if got.Kind != smtpclient.Delivered {
			t.Fatalf("body %d: %+v", i, got)
		}
		if arrived := server.Messages()[i].Data; !bytes.Equal(arrived, []byte(body)) {
			t.Errorf("body %d of %d bytes arrived as %d bytes", i, len(body), len(arrived))
		}
	}
}
