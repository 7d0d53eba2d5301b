package smtpclient_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

var stalls = map[string]struct {
	at    smtptest.Phase
	short func(*smtpclient.Timeouts, time.Duration)
	phase smtpclient.Phase
}{
	"greeting": {smtptest.Greeting, func(t *smtpclient.Timeouts, d time.Duration) { t.Greeting = d }, smtpclient.PhaseGreeting},
	"ehlo":     {smtptest.EHLO, func(t *smtpclient.Timeouts, d time.Duration) { t.Command = d }, smtpclient.PhaseEHLO},
	"mail":     {smtptest.Mail, func(t *smtpclient.Timeouts, d time.Duration) { t.Mail = d }, smtpclient.PhaseMail},
	"rcpt":     {smtptest.Rcpt, func(t *smtpclient.Timeouts, d time.Duration) { t.Rcpt = d }, smtpclient.PhaseRcpt},
	"data":     {smtptest.Data, func(t *smtpclient.Timeouts, d time.Duration) { t.Data = d }, smtpclient.PhaseData},
	"body":     {smtptest.Body, func(t *smtpclient.Timeouts, d time.Duration) { t.Block = d }, smtpclient.PhaseBody},
	"dot":      {smtptest.Dot, func(t *smtpclient.Timeouts, d time.Duration) { t.Dot = d }, smtpclient.PhaseDot},
}

// large does not fit into the sockets of a peer that does not read.
var large = []byte(strings.Repeat("more than the sockets hold\r\n", 1<<20))

func stalledMessage(phase smtpclient.Phase) []byte {
	if phase == smtpclient.PhaseBody {
		return large
	}
	return []byte(message)
}

// Each phase has its own timeout. In this test, only the timeout of the stalled phase is short.
func TestEachPhaseHasItsTimeout(t *testing.T) {
	t.Parallel()
	for name, c := range stalls {
		for _, noPipelining := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				server, w := newOneHost(t, smtptest.Config{NoPipelining: noPipelining},
					func(cfg *smtpclient.Config) { c.short(&cfg.Timeouts, 150*time.Millisecond) })
				server.On(c.at, "", smtptest.Stall())
				got := w.Deliver(t.Context(), envelope, stalledMessage(c.phase), nil)
				expect(t, got, smtpclient.Temporary, "", c.phase)
				if !errors.Is(got.Err, os.ErrDeadlineExceeded) || got.Ambiguous != (c.phase == smtpclient.PhaseDot) {
					t.Errorf("got %+v", got)
				}
				server.Wait(t, "our side to close", func(now smtptest.Stats) bool { return now.Stalled == 1 })
			})
		}
	}
}

func TestCancellingEndsEveryPhaseImmediately(t *testing.T) {
	t.Parallel()
	for name, c := range stalls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// one reply at a time, so that the phase is known
			server, w := newOneHost(t, smtptest.Config{NoPipelining: true})
			server.On(c.at, "", smtptest.Stall())
			lost := errors.New("lease ended")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			done := make(chan smtpclient.Outcome, 1)
			go func() { done <- w.Deliver(ctx, envelope, stalledMessage(c.phase), nil) }()
			server.Wait(t, "the stall", func(now smtptest.Stats) bool { return now.Stalled == 1 })
			cancel(lost)
			got := <-done // the default timeouts are minutes
			// The server may stall before we have read the reply of the previous step.
			if got.Phase == smtpclient.PhaseConnect && c.at == smtptest.Greeting || got.Phase == smtpclient.PhaseData &&
				c.at == smtptest.Body {
				got.Phase = c.phase
			}
			expect(t, got, smtpclient.Temporary, "", c.phase)
			if !errors.Is(got.Err, lost) {
				t.Errorf("error %v", got.Err)
			}
		})
	}
}

func TestConnectingHasATimeout(t *testing.T) {
	t.Parallel()
	server := smtptest.New(t, smtptest.Config{})
	w := newWorld(t, server.Port(), func(c *smtpclient.Config) { c.Timeouts.Connect = time.Nanosecond })
	w.hosts(t, "example.test", server.Host())
	got := w.send(t)
	expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseConnect)
	if !strings.Contains(got.Err.Error(), "timeout") || got.RemoteAddr != server.Addr() {
		t.Errorf("got %+v", got)
	}
}
