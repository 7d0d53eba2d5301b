package sms

import (
	"net/url"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/sms/callback"
	"github.com/postrider/postrider/modules/sms/link"
	"github.com/postrider/postrider/modules/sms/settings"
	"github.com/postrider/postrider/modules/sms/smstest"
	"github.com/postrider/postrider/runtime/base/secret"
)

// newRequest returns a callback request from a provider.
func newRequest(target string, form url.Values, signature string) callback.ProviderRequest {
	u, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	return callback.ProviderRequest{Token: u.Path[strings.LastIndexByte(u.Path, '/')+1:], URI: u.RequestURI(),
		Fields: form, Signature: signature}
}

// sendByTwilio sends a message and returns it as Twilio received it.
func (w *world) sendByTwilio(t *testing.T, accountID, to string) (string, smstest.Message) {
	t.Helper()
	r := w.send(t, accountID, to)
	w.drain(t)
	all := w.twilio.Messages()
	return r.ID, all[len(all)-1]
}

func TestReceipts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	for name, c := range map[string]struct{ statuses, want string }{
		"in order":                       {"queued sent delivered", "delivered sent"},
		"twice":                          {"delivered delivered", "delivered sent"},
		"in another order":               {"delivered sent failed", "delivered sent"},
		"rejected later":                 {"sent undelivered", "failed 30006 sent"},
		"delivered after all":            {"undelivered delivered", "delivered sent"},
		"unknown statuses":               {"gone", "sent sent"},
		"sent arrives after undelivered": {"undelivered sent", "failed 30006 sent"},
	} {
		messageID, at := w.sendByTwilio(t, ours, german)
		for status := range strings.FieldsSeq(c.statuses) {
			code := ""
			if status == "undelivered" || status == "failed" {
				code = "30006"
			}
			form, signature := at.Callback(status, code)
			if err := w.Receipt(t.Context(), newRequest(at.CallbackURL, form, signature)); err != nil {
				t.Errorf("%s: receipt %s was rejected: %v", name, status, err)
			}
		}
		w.checkMessage(t, ours, messageID, c.want)
	}
}

func TestReceiptDuringRequestEndsAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	r := w.send(t, ours, german)
	simulateCrash(t, w, r.ID) // the provider has the message, but it is not settled yet
	m := smstest.Message{SID: "SM1", To: german, CallbackURL: w.ReceiptURL(r.ID)}
	form, signature := m.Callback("delivered", "")
	if err := w.Receipt(t.Context(), newRequest(m.CallbackURL, form, signature)); err != nil {
		t.Fatalf("the receipt was rejected: %v", err)
	}
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "delivered open")
	if w.twilio.Asked() != 0 {
		t.Errorf("Twilio received %d requests, want none: the message was already delivered", w.twilio.Asked())
	}
}

func TestForgedReceipts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	messageID, at := w.sendByTwilio(t, ours, german)
	other, _ := w.sendByTwilio(t, ours, american)
	form, signature := at.Callback("delivered", "")
	genuine := newRequest(at.CallbackURL, form, signature)
	forged := map[string]callback.ProviderRequest{}
	with := func(name string, change func(*callback.ProviderRequest)) {
		one := genuine
		change(&one)
		forged[name] = one
	}
	with("no signature", func(r *callback.ProviderRequest) { r.Signature = "" })
	with("another signature",
		func(r *callback.ProviderRequest) { r.Signature = smstest.Signature("https://elsewhere.example", form) })
	with("another form", func(r *callback.ProviderRequest) { r.Fields, _ = at.Callback("failed", "1") })
	with("another message",
		func(r *callback.ProviderRequest) { r.Token = other + r.Token[strings.IndexByte(r.Token, '.'):] })
	with("no token", func(r *callback.ProviderRequest) { r.Token = "" })
	with("half a token", func(r *callback.ProviderRequest) { r.Token = r.Token[:len(r.Token)-2] })
	with("a token for replies", func(r *callback.ProviderRequest) {
		r.Token = strings.TrimPrefix(w.URL(link.ReplyPath, messageID), "https://mail.example.com"+link.ReplyPath)
	})
	with("a token of another installation", func(r *callback.ProviderRequest) {
		r.Token = strings.TrimPrefix(link.New("", [][]byte{make([]byte, 32)}).URL(link.ReceiptPath, messageID),
			link.ReceiptPath)
	})
	for name, r := range forged {
		checkRefusal(t, "a receipt with "+name, w.Receipt(t.Context(), r), "not_found")
	}
	w.checkMessage(t, ours, messageID, "sent sent")
	w.checkMessage(t, ours, other, "sent sent")
}

func TestGatewayReceipts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.saveSettings(t, ours, settings.Change{Provider: "http", Countries: []string{"DE"},
		HTTP: &settings.HTTPChange{URL: w.twilio.URL}})
	w.exec(t, `UPDATE sms_settings SET config = config - 'nothing'`)
	r := w.send(t, ours, german)
	simulateCrash(t, w, r.ID)
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "unknown no_answer unknown")
	for _, c := range []struct{ status, want string }{{"ACCEPTD", "sent unknown"}, {"REJECTD", "failed 7 unknown"},
		{"DELIVRD", "delivered unknown"}} {
		if err := w.Receipt(t.Context(),
			newRequest(w.ReceiptURL(r.ID),
				url.Values{"status": {c.status}, "code": {"7"}, "error": {"no\x00such \xff"}}, "")); err != nil {
			t.Errorf("receipt %s was rejected: %v", c.status, err)
		}
		w.checkMessage(t, ours, r.ID, c.want)
	}
}

func (w *world) reply(t *testing.T, accountID, text string) error {
	t.Helper()
	target := w.ReplyURL(accountID)
	form := url.Values{"From": {german}, "To": {"+15005550006"}, "Body": {text}}
	return w.Reply(t.Context(), newRequest(target, form, smstest.Signature(target, form)))
}

func TestStopAndStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	w.useTwilio(t, theirs)
	for _, text := range []string{"STOP", " stop.\n", "Unsubscribe", "end", "QUIT", "cancel!"} {
		if err := w.reply(t, ours, text); err != nil {
			t.Fatalf("the reply %q was rejected: %v", text, err)
		}
		if r := w.send(t, ours, german); !r.Suppressed {
			t.Errorf("after the reply %q, sending to the number succeeded; want it suppressed", text)
		}
		if r := w.send(t, theirs, german); r.Suppressed {
			t.Errorf("the reply %q to one account also stopped the other", text)
		}
		if err := w.reply(t, ours, "Start"); err != nil {
			t.Fatalf("the reply START was rejected: %v", err)
		}
		if r := w.send(t, ours, american); r.Suppressed {
			t.Errorf("another number is suppressed after the reply %q", text)
		}
	}
	w.exec(t, `UPDATE sms_messages SET created_at = now() - interval '2 hours'`)
	for _, text := range []string{"please stop calling me", "STOPP", "", "yes", strings.Repeat("STOP ", 1000)} {
		if err := w.reply(t, ours, text); err != nil {
			t.Errorf("the reply %.20q was rejected: %v", text, err)
		}
	}
	if r := w.send(t, ours, german); r.Suppressed {
		t.Error("a reply that is not a keyword stopped the messages")
	}
	form := url.Values{"From": {german}, "Body": {"STOP"}}
	checkRefusal(t, "a reply without a signature", w.Reply(t.Context(), newRequest(w.ReplyURL(ours), form, "")),
		"not_found")
	checkRefusal(t, "a reply with an unknown token",
		w.Reply(t.Context(), callback.ProviderRequest{Token: "acc_x.y", Fields: form}), "not_found")
	if r := w.send(t, ours, german); r.Suppressed {
		t.Error("a forged reply stopped the messages")
	}
}

// A STOP between acceptance and sending also applies to the queued message.
func TestStopWhileMessageIsQueued(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	r := w.send(t, ours, german)
	if err := w.reply(t, ours, "STOP"); err != nil {
		t.Fatalf("the reply was rejected: %v", err)
	}
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "failed suppressed")
}

// Without a provider, text messages are off and /readyz does not list them, unless an account has its own
// provider or a message is queued.
func TestTextMessagesAreOffWithoutProvider(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	is := func(when string, off bool) {
		t.Helper()
		if c, err := w.queueCondition(t.Context()); err != nil || c.Off != off {
			t.Errorf("%s: condition is %+v, %v; want off: %t", when, c, err, off)
		}
	}
	is("without a provider", true)
	w.useTwilio(t, theirs)
	is("with an account's own provider", false)
	w.exec(t, `UPDATE sms_settings SET provider = 'none'`)
	is("after the account removed its provider", true)
	w.process = w.start(t, settings.Operator{Kind: settings.KindCapture})
	is("with the operator's provider", false)
}

func TestStopToOperatorAppliesToItsAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.process = w.start(t, settings.Operator{Kind: settings.KindTwilio, SID: smstest.SID,
		Secret: secret.New(smstest.Token), URL: w.twilio.URL, From: "+15005550006"})
	w.saveSettings(t, ours, settings.Change{Provider: "operator", Countries: []string{"DE"}})
	w.useTwilio(t, theirs)
	target := w.URL(link.ReplyPath, link.OperatorName)
	if c, err := w.queueCondition(t.Context()); err != nil || len(c.Details) != 1 ||
		!strings.Contains(c.Details[0], target) {
		t.Errorf("condition is %+v, %v; want the reply URL in its details", c, err)
	}
	form := url.Values{"From": {german}, "Body": {"STOP"}}
	if err := w.Reply(t.Context(), newRequest(target, form, smstest.Signature(target, form))); err != nil {
		t.Fatalf("the reply was rejected: %v", err)
	}
	if r := w.send(t, ours, german); !r.Suppressed {
		t.Error("an account with the operator's provider can send to a number that replied STOP to that provider")
	}
	if r := w.send(t, theirs, german); r.Suppressed {
		t.Error("a reply to the operator stopped an account with its own provider")
	}
}

// An opt-out, even of an erased number, remains effective after the master key is rotated.
func TestOptOutsSurviveKeyRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	if err := w.reply(t, ours, "STOP"); err != nil {
		t.Fatalf("the reply was rejected: %v", err)
	}
	older := w.key
	w.key = secret.NewKey()
	w.process = w.start(t, settings.Operator{}, older)
	if r := w.send(t, ours, german); !r.Suppressed {
		t.Error("after a rotation, sending to the number succeeded; want it suppressed")
	}
	if err := w.numbers.Rehash(t.Context()); err != nil {
		t.Fatalf("rehash: %v", err)
	}
	w.process = w.start(t, settings.Operator{})
	w.saveSettings(t, ours, settings.Change{Provider: "http", Countries: []string{"DE"},
		HTTP: &settings.HTTPChange{URL: "https://sms.example.com"}})
	if r := w.send(t, ours, german); !r.Suppressed {
		t.Error("after the old key was removed, sending to the number succeeded; want it suppressed")
	}
}
