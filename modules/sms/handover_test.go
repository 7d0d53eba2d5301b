package sms

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/sms/handover"
	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/modules/sms/settings"
	"github.com/postrider/postrider/modules/sms/smstest"
	"github.com/postrider/postrider/runtime/base/expect"
)

func TestSendsMessageByTwilio(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	r := w.send(t, ours, german)
	w.checkMessage(t, ours, r.ID, "queued")
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "sent sent")
	got := w.twilio.Messages()
	if len(got) != 1 || got[0].To != german || got[0].From != "+15005550006" || got[0].Body != "Invoice 7 is open." ||
		got[0].CallbackURL != w.ReceiptURL(r.ID) {
		t.Errorf("Twilio received %+v, want the message once with a receipt URL", got)
	}
	if m, err := w.Get(t.Context(), ours, r.ID); err != nil || m.ProviderID != got[0].SID || m.SentAt == nil ||
		m.DueAt != nil {
		t.Errorf("message is %+v, %v; want it settled with the provider's id", m.SMSMessage, err)
	}
	if said := w.logged.String(); strings.Contains(said, german) || strings.Contains(said, "Invoice") ||
		strings.Contains(said, smstest.Token) || !strings.Contains(said, r.ID) {
		t.Errorf("log is %q, want it to contain the message id but no number, text or token", said)
	}
}

func TestTwilioRejectsMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	invalid, out := w.send(t, ours, smstest.Invalid), w.send(t, ours, smstest.Unsubscribed)
	w.drain(t)
	w.checkMessage(t, ours, invalid.ID, "failed 21211 failed")
	w.checkMessage(t, ours, out.ID, "failed 21610 failed")
	if again := w.send(t, ours, smstest.Unsubscribed); !again.Suppressed {
		t.Error("sending to a number with Twilio error 21610 succeeded, want it suppressed")
	} else {
		w.checkMessage(t, ours, again.ID, "failed suppressed")
	}
	if w.drain(t); w.twilio.Asked() != 2 {
		t.Errorf("Twilio received %d requests, want 2: none for the suppressed number", w.twilio.Asked())
	}
}

func TestRetriesBusyProviderForFourHours(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	w.twilio.Answer(func(n int, rw http.ResponseWriter, _ *http.Request) bool {
		if n <= 2 {
			rw.Header().Set("Retry-After", "600")
			rw.WriteHeader([]int{http.StatusTooManyRequests, http.StatusServiceUnavailable}[n-1])
		}
		return n <= 2
	})
	r := w.send(t, ours, german)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "queued busy temporary")
	m, err := w.Get(t.Context(), ours, r.ID)
	if err != nil || m.DueAt == nil || m.DueAt.Sub(*m.Attempts[0].FinishedAt).Minutes() < 9.9 {
		t.Errorf("next attempt is due at %v, %v; want 10 minutes later, as the provider requested", m.DueAt, err)
	}
	w.makeAllDue(t)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "queued busy temporary temporary")
	w.makeAllDue(t)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "sent temporary temporary sent")

	w.twilio.Answer(func(_ int, rw http.ResponseWriter, _ *http.Request) bool {
		rw.WriteHeader(http.StatusInternalServerError)
		return true
	})
	r = w.send(t, ours, german)
	w.exec(t, `UPDATE sms_messages SET expires_at = now() + interval '30 seconds' WHERE id = $1`, r.ID)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "failed busy temporary")
	r = w.send(t, ours, german)
	w.exec(t, `UPDATE sms_messages SET expires_at = now() WHERE id = $1`, r.ID)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "failed expired")
}

func TestRetriesUnreachableProvider(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	w.twilio.Close()
	r := w.send(t, ours, german)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "queued unreachable temporary")
}

// A message that waits because its account is at its request limit is sent as soon as one of the requests ends,
// not at the next poll.
func TestBusyAccountSendsAllMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config = handover.Config{Poll: time.Hour, PerAccount: 1}
	p := w.start(t, settings.Operator{})
	w.useTwilio(t, ours)
	const messages = 5
	for range messages {
		w.send(t, ours, german)
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect.Eventually(t, "every message to be sent", func() bool { return len(w.twilio.Messages()) == messages })
}

// closeWithoutAnswer makes the fake provider accept messages and close the connection without a response.
func closeWithoutAnswer(w *world) {
	w.twilio.Answer(func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		w.twilio.Take(r)
		panic(http.ErrAbortHandler)
	})
}

func TestUnansweredRequestIsNotRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	closeWithoutAnswer(w)
	r := w.send(t, ours, german)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "unknown no_answer unknown")
	w.makeAllDue(t)
	w.drain(t)
	if n := len(w.twilio.Messages()); n != 1 {
		t.Errorf("Twilio received the message %d times, want once", n)
	}
	// A receipt reports the outcome.
	form, signature := w.twilio.Messages()[0].Callback("delivered", "")
	if err := w.Receipt(t.Context(), newRequest(w.twilio.Messages()[0].CallbackURL, form, signature)); err != nil {
		t.Errorf("the receipt was rejected: %v", err)
	}
	w.checkMessage(t, ours, r.ID, "delivered unknown")
}

func TestRetriesIdempotentGateway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.saveSettings(t, ours, settings.Change{Provider: "http", Countries: []string{"DE"},
		HTTP: &settings.HTTPChange{URL: w.twilio.URL, Idempotent: true, IDPath: "data.0.id",
			Headers: map[string]string{"X-Api-Key": "s3cret"}}})
	keys := make(chan string, 3)
	w.twilio.Answer(func(n int, rw http.ResponseWriter, r *http.Request) bool {
		keys <- r.Header.Get("Idempotency-Key") + " " + r.Header.Get("X-Api-Key")
		if n == 1 {
			panic(http.ErrAbortHandler)
		}
		_, _ = rw.Write([]byte(`{"data": [{"id": 4711}]}`))
		return true
	})
	r := w.send(t, ours, german)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "queued no_answer temporary")
	w.makeAllDue(t)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "sent temporary sent")
	for range 2 {
		if got := <-keys; got != r.ID+" s3cret" {
			t.Errorf("idempotency key and header are %q, want the message id and the secret", got)
		}
	}
	if m, err := w.Get(t.Context(), ours, r.ID); err != nil || m.ProviderID != "4711" {
		t.Errorf("provider id is %q, %v; want 4711", m.ProviderID, err)
	}
}

// simulateCrash leaves the state of a process that was killed during a request: the message is claimed, its
// attempt is stored and the provider has received it, but it is never settled.
func simulateCrash(t *testing.T, w *world, messageID string) {
	t.Helper()
	w.exec(t, `UPDATE sms_messages SET fence = fence + 1, attempts = attempts + 1, due_at = now() WHERE id = $1`, messageID)
	w.exec(t,
		`INSERT INTO sms_attempts (message_id, account_id, number, fence, provider, started_at, error) SELECT id, account_id, attempts, fence, provider, clock_timestamp(), '' FROM sms_messages WHERE id = $1`, messageID)
}

func TestProcessCrashDuringRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	r := w.send(t, ours, german)
	simulateCrash(t, w, r.ID)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "unknown no_answer unknown")

	w.saveSettings(t, theirs, settings.Change{Provider: "http", Countries: []string{"DE"},
		HTTP: &settings.HTTPChange{URL: w.twilio.URL, Idempotent: true}})
	w.twilio.Answer(func(_ int, rw http.ResponseWriter, _ *http.Request) bool {
		rw.WriteHeader(http.StatusAccepted)
		return true
	})
	again := w.send(t, theirs, german)
	simulateCrash(t, w, again.ID)
	w.drain(t)
	w.checkMessage(t, theirs, again.ID, "sent unknown sent")

	// The gateway has been replaced. The new one is idempotent, but the old one may not be.
	changed := w.send(t, theirs, german)
	simulateCrash(t, w, changed.ID)
	w.saveSettings(t, theirs, settings.Change{Provider: "http", Countries: []string{"DE"},
		HTTP: &settings.HTTPChange{URL: w.twilio.URL + "/other", Idempotent: true}})
	w.drain(t)
	w.checkMessage(t, theirs, changed.ID, "unknown no_answer unknown")
	if n := w.twilio.Asked(); n != 1 {
		t.Errorf("the provider received %d requests, want one", n)
	}
}

// The process loses its lease before the provider responds. Another process must not send the message again,
// and the late response must not change the stored outcome.
func TestLeaseExpiryDuringRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	other := w.start(t, settings.Operator{})
	r := w.send(t, ours, german)
	w.twilio.Answer(func(_ int, _ http.ResponseWriter, _ *http.Request) bool {
		w.makeAllDue(t)
		if _, err := other.Drain(t.Context()); err != nil {
			t.Errorf("drain of the other process: %v", err)
		}
		return false
	})
	w.drain(t)
	if n := len(w.twilio.Messages()); n != 1 {
		t.Errorf("Twilio received the message %d times, want once", n)
	}
	w.checkMessage(t, ours, r.ID, "unknown no_answer unknown")
}

func TestHangingAccountDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	w.useTwilio(t, theirs)
	for i := range 9 {
		w.send(t, ours, fmt.Sprintf("+491511234567%d", i))
	}
	first := w.send(t, theirs, german)
	var taken atomic.Int32
	w.twilio.Answer(func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		_ = r.ParseForm()
		if r.PostForm.Get("To") == german {
			taken.CompareAndSwap(0, int32(w.twilio.Asked()))
		}
		return false
	})
	w.drain(t)
	if n := taken.Load(); n == 0 || n > 9 {
		t.Errorf("the message of the other account was request %d, want it in the first claim, which takes 8 per account", n)
	}
	w.checkMessage(t, theirs, first.ID, "sent sent")
}

func TestSuspendedAccountsWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	r := w.send(t, ours, german)
	w.owner.said.Suspended = true
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "queued account_suspended")
	_, err := w.trySend(t, ours, Message{To: german, Text: "x"})
	checkRefusal(t, "a message of a suspended account", err, "account_suspended")
	w.owner.said.Suspended = false
	w.makeAllDue(t)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "sent sent")
}

func TestCapture(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.process = w.start(t, settings.Operator{Kind: settings.KindCapture})
	w.saveSettings(t, ours, settings.Change{Provider: "operator", Countries: []string{"DE"}})
	w.caught.away = true
	r := w.send(t, ours, german)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "queued unreachable temporary")
	w.caught.away = false
	w.makeAllDue(t)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "delivered temporary sent")
	if len(w.caught.messages) != 1 || w.caught.messages[0].Encoding != "gsm7" || w.caught.messages[0].Segments != 1 {
		t.Errorf("inbox contains %+v, want the message with its encoding and part count", w.caught.messages)
	}
}

func TestPrivateAddressesAreNotReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	r := w.send(t, ours, german)
	w.exec(t, `UPDATE sms_settings SET config = jsonb_set(config, '{base_url}', '"https://169.254.169.254"')`)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "failed "+provider.CodeSettings+" failed")
	if m, err := w.Get(t.Context(), ours, r.ID); err != nil || strings.Contains(m.Error, "169") {
		t.Errorf("error is %q, %v; want it to contain no address", m.Error, err)
	}
}
