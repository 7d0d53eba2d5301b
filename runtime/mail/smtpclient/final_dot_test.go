package smtpclient_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

func TestLostReplyToTheFinalDotIsAmbiguous(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	server.On(smtptest.Dot, "", smtptest.Disconnect())
	got := w.send(t)
	expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseDot)
	if !got.Ambiguous || !strings.Contains(got.Diagnostic(), "no reply to the final dot") {
		t.Errorf("got %+v", got)
	}
	if m := server.Messages(); len(m) != 1 || string(m[0].Data) != message {
		t.Errorf("arrived: %+v", m)
	}
}

// When beforeFinalDot is called, the whole body has been written and only the dot is missing.
func TestBeforeFinalDotIsCalledAfterTheBody(t *testing.T) {
	t.Parallel()
	for _, tls := range []smtptest.TLS{smtptest.NoTLS, smtptest.StartTLS} {
		server, w := newOneHost(t, smtptest.Config{TLS: tls})
		asked := 0
		got := w.Deliver(t.Context(), envelope, []byte(message), func() error {
			asked++
			if n := server.Stats().Messages; n != 0 {
				t.Errorf("%d messages were complete", n)
			}
			if tls == smtptest.NoTLS {
				waitFor(t, "the body", func() bool { return strings.HasSuffix(server.Transcript(), "\r\nHello.\r\n") })
			}
			return nil
		})
		expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
		if asked != 1 {
			t.Errorf("beforeFinalDot was called %d times", asked)
		}
	}
}

func TestHeldBackMessagesAreNeverCompleted(t *testing.T) {
	t.Parallel()
	leaseLost := errors.New("lease lost")
	for _, tls := range []smtptest.TLS{smtptest.NoTLS, smtptest.StartTLS} {
		first, second, w := newTwoHosts(t, smtptest.Config{TLS: tls})
		got := w.Deliver(t.Context(), envelope, []byte(message), func() error { return leaseLost })
		expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseDot)
		if got.Ambiguous || !errors.Is(got.Err, leaseLost) || !errors.Is(got.Err, smtpclient.ErrHeldBack) {
			t.Errorf("got %+v", got)
		}
		first.Wait(t, "the truncated body",
			func(now smtptest.Stats) bool { return now.Aborted == 1 && now.Open == 0 })
		if len(first.Messages()) != 0 || second.Stats().Connections != 0 {
			t.Errorf("%d messages; second host %+v", len(first.Messages()), second.Stats())
		}
	}
}

func TestBeforeFinalDotIsNotCalledForRejectedMessages(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	server.On(smtptest.Rcpt, "", smtptest.Reply(550, "5.1.1", "unknown"))
	got := w.Deliver(t.Context(), envelope, []byte(message), func() error {
		t.Error("asked")
		return nil
	})
	expect(t, got, smtpclient.Permanent, "", smtpclient.PhaseRcpt)
}

func TestCancellingAfterTheDotIsAmbiguous(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	server.On(smtptest.Dot, "", smtptest.Stall())
	lost := errors.New("lease ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan smtpclient.Outcome, 1)
	go func() { done <- w.Deliver(ctx, envelope, []byte(message), nil) }()
	server.Wait(t, "the stall", func(now smtptest.Stats) bool { return now.Stalled == 1 })
	cancel(lost)
	got := <-done
	expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseDot)
	if !got.Ambiguous || !errors.Is(got.Err, lost) {
		t.Errorf("got %+v", got)
	}
}

// After a cancellation before the dot, no more of the message may be sent.
func TestCancellingDuringBeforeFinalDotSendsNoDot(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	got := w.Deliver(ctx, envelope, []byte(message), func() error {
		cancel()
		server.Wait(t, "the connection to end", func(now smtptest.Stats) bool { return now.Open == 0 })
		return nil
	})
	if got.Kind != smtpclient.Temporary || got.Ambiguous || !errors.Is(got.Err, context.Canceled) {
		t.Errorf("got %+v", got)
	}
	if len(server.Messages()) != 0 {
		t.Error("the message was completed")
	}
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for tick := time.NewTicker(time.Millisecond); !done(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}
