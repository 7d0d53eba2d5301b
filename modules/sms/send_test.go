package sms

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sms/settings"
	"github.com/postrider/postrider/modules/sms/smstest"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

func (w *world) countRows(t testing.TB, table string) int {
	t.Helper()
	n, err := db.One(t.Context(), w.db.SQL, db.Value[int], "SELECT count(*) FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRejectsInvalidNumbersAndTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	for name, c := range map[string]struct {
		m    Message
		code string
	}{
		"no number":              {Message{Text: "x"}, CodeRecipient},
		"a national number":      {Message{To: "0151 12345678", Text: "x"}, CodeRecipient},
		"two numbers":            {Message{To: german + "," + american, Text: "x"}, CodeRecipient},
		"a number with a NUL":    {Message{To: german + "\x00", Text: "x"}, CodeRecipient},
		"a very long number":     {Message{To: "+" + strings.Repeat("4", 100_000), Text: "x"}, CodeRecipient},
		"a header in the sender": {Message{To: german, From: "Shop\r\nX: y", Text: "x"}, CodeSender},
		"an empty text":          {Message{To: german, Text: " \n "}, CodeText},
		"a NUL in the text":      {Message{To: german, Text: "a\x00b"}, CodeText},
		"an escape in it":        {Message{To: german, Text: "a\x1bb"}, CodeText},
		"invalid UTF-8":          {Message{To: german, Text: "a\xff"}, CodeText},
		"11 parts of GSM":        {Message{To: german, Text: strings.Repeat("a", 1531)}, CodeTooLong},
		"11 parts of UTF-16":     {Message{To: german, Text: strings.Repeat("ж", 671)}, CodeTooLong},
		"a megabyte":             {Message{To: german, Text: strings.Repeat("ж", 500_000)}, CodeTooLong},
		"another country":        {Message{To: "+33612345678", Text: "x"}, CodeCountry},
		"a satellite":            {Message{To: "+881612345678", Text: "x"}, CodeCountry},
	} {
		_, err := w.trySend(t, ours, c.m)
		checkRefusal(t, name, err, c.code)
	}
	if n := w.countRows(t, "sms_messages") + w.countRows(t, "sms_days"); n != 0 {
		t.Errorf("rejected messages left %d rows, want none", n)
	}
	for name, text := range map[string]string{"10 parts of GSM": strings.Repeat("a", 1530),
		"10 parts of UTF-16": strings.Repeat("ж", 670), "lines": "a\r\nb"} {
		if r, err := w.trySend(t, ours, Message{To: german, Text: text}); err != nil {
			t.Errorf("%s: %v, want it accepted (%d parts)", name, err, r.Segments)
		}
	}
}

func TestSendingRequiresProviderAndCountry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	problem := func(want string) {
		t.Helper()
		if got, err := w.Problem(t.Context(), ours); err != nil || !strings.Contains(got, want) ||
			(want == "") != (got == "") {
			t.Errorf("problem is %q, %v; want %q", got, err, want)
		}
	}
	_, err := w.trySend(t, ours, Message{To: german, Text: "x"})
	checkRefusal(t, "without any settings", err, CodeNoProvider)
	problem("has no SMS provider")
	w.saveSettings(t, ours, settings.Change{Provider: "none", Countries: []string{"DE"}})
	_, err = w.trySend(t, ours, Message{To: german, Text: "x"})
	checkRefusal(t, "disabled", err, CodeNoProvider)
	problem("disabled")
	w.saveSettings(t, ours, settings.Change{Provider: "twilio", From: "12345",
		Twilio: &settings.TwilioChange{AccountSID: smstest.SID, AuthToken: secret.New(smstest.Token)}})
	_, err = w.trySend(t, ours, Message{To: german, Text: "x"})
	checkRefusal(t, "without a country", err, CodeCountry)
	problem("any country")
	w.useTwilio(t, ours)
	problem("")

	// The provider is removed while a message is queued.
	r := w.send(t, ours, german)
	w.saveSettings(t, ours, settings.Change{Provider: "none"})
	w.drain(t)
	w.checkMessage(t, ours, r.ID, "failed no_provider")
}

func TestCaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	w.useTwilio(t, theirs)
	for range perHour {
		w.send(t, ours, german)
	}
	_, err := w.trySend(t, ours, Message{To: german, Text: "x"})
	checkRefusal(t, "the eleventh message to a number within the hour", err, CodeCap)
	w.send(t, ours, american)
	w.send(t, theirs, german)
	w.exec(t, `UPDATE sms_messages SET created_at = now() - interval '61 minutes'`)
	w.send(t, ours, german)

	w.saveSettings(t, theirs, settings.Change{Provider: "twilio", From: "+15005550006",
		Countries: []string{"US", "DE"},
		DailyCap:  3, Twilio: &settings.TwilioChange{AccountSID: smstest.SID, BaseURL: w.twilio.URL}})
	w.send(t, theirs, american)
	w.send(t, theirs, american)
	_, err = w.trySend(t, theirs, Message{To: american, Text: "x"})
	checkRefusal(t, "more than the account's daily cap", err, CodeCap)
	w.exec(t, `UPDATE sms_days SET day = '2026-01-01'`)
	w.send(t, theirs, american)
}

func TestPlanCapsOperatorMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.process = w.start(t, settings.Operator{Kind: settings.KindCapture})
	two := 2
	w.owner.setAccount(func(a *accounts.Account) { a.Plan.DailySMS = &two })
	w.saveSettings(t, ours, settings.Change{Provider: "operator", Countries: []string{"DE"}})
	w.send(t, ours, german)
	w.send(t, ours, german)
	_, err := w.trySend(t, ours, Message{To: german, Text: "x"})
	checkRefusal(t, "more than the plan's cap", err, CodeCap)
	w.useTwilio(t, ours)
	w.send(t, ours, german) // the cap does not apply to the account's own provider

	w.owner.setAccount(func(a *accounts.Account) { a.Plan.Sandboxed = true })
	w.saveSettings(t, theirs, settings.Change{Provider: "operator", Countries: []string{"DE"}})
	_, err = w.trySend(t, theirs, Message{To: german, Text: "x"})
	checkRefusal(t, "an account without production access", err, "production_not_unlocked")
}

// Concurrent messages cannot exceed the cap.
func TestCapsHoldUnderConcurrency(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	var wait sync.WaitGroup
	var mu sync.Mutex
	accepted := 0
	for range 25 {
		wait.Go(func() {
			err := w.db.InTx(context.WithoutCancel(t.Context()), func(tx *ent.Tx) error {
				_, err := w.Send(t.Context(), tx, ours, Message{To: german, Text: "x"}, nil)
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				accepted++
			}
		})
	}
	wait.Wait()
	if accepted != perHour || w.countRows(t, "sms_messages") != perHour {
		t.Errorf("of 25 concurrent messages, %d were accepted and %d stored; want %d", accepted,
			w.countRows(t, "sms_messages"), perHour)
	}
}

func TestGuardRunsInTransaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	try := func(guard StoreGuard) error {
		return w.db.InTx(t.Context(), func(tx *ent.Tx) error {
			_, err := w.Send(t.Context(), tx, ours, Message{To: german, Text: "x"}, guard)
			return err
		})
	}
	broken := errors.New("broken")
	if err := try(func(context.Context, db.Execer, Receipt) (bool, error) { return false, nil }); !errors.Is(err,
		ErrNotHeld) {
		t.Errorf("guard that does not hold: %v, want ErrNotHeld", err)
	}
	if err := try(func(context.Context, db.Execer, Receipt) (bool, error) { return true, broken }); !errors.Is(err,
		broken) {
		t.Errorf("failing guard: %v, want its error", err)
	}
	if n := w.countRows(t, "sms_messages") + w.countRows(t, "sms_days"); n != 0 {
		t.Errorf("rejected messages left %d rows, want none", n)
	}
	var asked Receipt
	if err := try(func(_ context.Context, _ db.Execer,
		r Receipt) (bool, error) {
		asked = r
		return true, nil
	}); err != nil || !id.Is(id.SMS, asked.ID) || asked.Segments != 1 {
		t.Errorf("guard received %+v, %v; want the message with its id and parts", asked, err)
	}
}

func TestAccountsSeeOnlyTheirOwnMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	w.useTwilio(t, theirs)
	mine, other := w.send(t, ours, german), w.send(t, theirs, german)
	for accountID, messageID := range map[string]string{ours: other.ID, theirs: mine.ID} {
		_, err := w.Get(t.Context(), accountID, messageID)
		checkRefusal(t, "another account's message", err, "not_found")
		list, err := w.List(t.Context(), accountID, Filter{Request: page.Request{Limit: 10}, To: german})
		if err != nil || len(list.Items) != 1 || list.Items[0].AccountID != accountID {
			t.Errorf("account %s lists %d messages, %v; want only its own", accountID, len(list.Items), err)
		}
		if rows, err := w.OfRun(t.Context(), accountID, "run_x"); err != nil || len(rows) != 0 {
			t.Errorf("an unknown run has %d messages, %v", len(rows), err)
		}
	}
	w.send(t, ours, american)
	first, err := w.List(t.Context(), ours, Filter{Request: page.Request{Limit: 1}})
	if err != nil || !first.HasMore {
		t.Fatalf("first page: %+v, %v; want HasMore", first, err)
	}
	if _, err := w.List(t.Context(), theirs,
		Filter{Request: page.Request{Limit: 1, Cursor: first.NextCursor}}); err == nil {
		t.Error("a cursor of another account was accepted")
	}
	for name, f := range map[string]Filter{"status": {Status: "gone"}, "to": {To: "0151"},
		"automation_id": {AutomationID: "x\x00"}, "run_id": {RunID: "run_'"}} {
		if _, err := w.List(t.Context(), ours, f); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("invalid %s returned %v, want an error in that field", name, err)
		}
	}
}

func TestPurgeAndErase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	w.useTwilio(t, theirs)
	person := Message{To: german, Text: "x", RunID: "run_1", EmailKey: "bob@example.net"}
	for range 2 {
		for _, accountID := range []string{ours, theirs} {
			if _, err := w.trySend(t, accountID, person); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.drain(t)
	waiting, err := w.trySend(t, ours, person)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.reply(t, ours, "STOP"); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Purge(t.Context(), ours, time.Now().Add(-time.Hour)); err != nil || n != 0 {
		t.Errorf("purge of messages older than an hour deleted %d, %v; want none", n, err)
	}
	if n, err := w.Purge(t.Context(), ours, time.Now().Add(time.Hour)); err != nil || n != 2 ||
		w.countRows(t, "sms_attempts") != 2 {
		t.Errorf("purge deleted %d messages and left %d attempts, %v; want 2 deleted and the 2 of the other account kept", n,
			w.countRows(t, "sms_attempts"), err)
	}
	w.checkMessage(t, ours, waiting.ID, "queued")
	if n, err := w.Erase(t.Context(), ours, "Bob@Example.net"); err != nil || n != 1 {
		t.Errorf("erasure deleted %d messages, %v; want the queued one", n, err)
	}
	w.drain(t)
	if n := len(w.twilio.Messages()); n != 4 {
		t.Errorf("Twilio received %d messages, want 4: all but the erased one", n)
	}
	if left := w.countRows(t, "sms_opt_outs WHERE number IS NOT NULL"); left != 0 {
		t.Error("the opt-out of an erased person still contains the number")
	}
	if r := w.send(t, ours, german); !r.Suppressed {
		t.Error("sending to an erased number that replied STOP succeeded")
	}
	w.exec(t, `UPDATE sms_days SET day = '2020-01-01'`)
	if n, err := w.Sweep(t.Context()); err != nil || n != 2 {
		t.Errorf("sweep deleted %d counters, %v; want 2", n, err)
	}
}

// Erases a person, by address or id, while a message to that person is being sent. Nothing of the message, its
// attempts or its number may remain.
func TestErasureDuringHandover(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	for i := range 20 {
		user, address := fmt.Sprint("u", i), fmt.Sprintf("u%d@example.net", i)
		to := fmt.Sprintf("+49151123456%02d", i)
		if _, err := w.trySend(t, ours,
			Message{To: to, Text: "x", RunID: "run_1", UserID: user, EmailKey: address}); err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		both.Go(func() { w.drain(t) })
		both.Go(func() {
			var err error
			if i%2 == 0 {
				_, err = w.Erase(t.Context(), ours, address)
			} else {
				_, err = w.EraseUser(t.Context(), ours, user)
			}
			if err != nil {
				t.Errorf("erase: %v", err)
			}
		})
		both.Wait()
		w.drain(t)
		if messages, attempts := w.countRows(t, "sms_messages"), w.countRows(t,
			"sms_attempts"); messages+attempts != 0 {
			t.Fatalf("round %d: %d messages and %d attempts of an erased person remain", i, messages, attempts)
		}
	}
}

func TestErasureByUserID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	w.useTwilio(t, theirs)
	for _, m := range []Message{{UserID: "u1", EmailKey: "bob@example.net"}, {UserID: "u1"},
		{UserID: "u2", EmailKey: "bob@example.net"}, {}} {
		m.To, m.Text = german, "x"
		for _, accountID := range []string{ours, theirs} {
			if _, err := w.trySend(t, accountID, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, nobody := range []string{"", "u3", "u1\x00", "' OR true --"} {
		if n, err := w.EraseUser(t.Context(), ours, nobody); err != nil || n != 0 {
			t.Errorf("erasing the user %q deleted %d messages, %v; want none", nobody, n, err)
		}
		if n, err := w.Erase(t.Context(), ours, nobody); err != nil || n != 0 {
			t.Errorf("erasing the address %q deleted %d messages, %v; want none", nobody, n, err)
		}
	}
	if n, err := w.EraseUser(t.Context(), ours, "u1"); err != nil || n != 2 {
		t.Errorf("erasing the user deleted %d messages, %v; want the 2 of this account", n, err)
	}
	if n := w.countRows(t, "sms_messages"); n != 6 {
		t.Errorf("%d messages remain, want the 6 of other people and of the other account", n)
	}
}

func FuzzMessage(f *testing.F) {
	for _, c := range [][3]string{{german, "Shop", "hello"}, {"+1", "", "\x00"},
		{"＋49151", "MG", strings.Repeat("😀", 400)}, {american, "\r\n", "{{x}}"}} {
		f.Add(c[0], c[1], c[2])
	}
	f.Fuzz(func(t *testing.T, to, from, text string) {
		a, err := validateMessage(Message{To: to, From: from, Text: text})
		if err != nil {
			return
		}
		if a.segments < 1 || a.segments > 10 || strings.ContainsAny(a.number.E164+from, "\r\n\x00") ||
			strings.ContainsRune(text, 0) {
			t.Errorf("message to %q from %q with text %q was accepted as %+v", to, from, text, fmt.Sprint(a))
		}
	})
}
