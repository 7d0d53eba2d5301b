package journeys_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/accounts/moves"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
	"github.com/postrider/postrider/runtime/work/bus"
)

// The master keys of the source and the target of a move.
var sourceKey, targetKey = masterKey('s'), masterKey('t')

// twoInstallations starts the source and the target of a move, which deliver to the same server.
func twoInstallations(t *testing.T) (source, target *harness.App) {
	t.Helper()
	return installationsWith(t, targetKey)
}

// installationsWith is twoInstallations for a master key of the target.
func installationsWith(t *testing.T, targetKey string) (source, target *harness.App) {
	t.Helper()
	source = harness.Start(t, func(s setting.RawValues) { s["POSTRIDER_MASTER_KEY"] = sourceKey })
	target = harness.Start(t, func(s setting.RawValues) {
		s["POSTRIDER_MASTER_KEY"], s["POSTRIDER_DNS"] = targetKey, source.DNS.Addr()
		s["POSTRIDER_MX_PORT"] = strconv.Itoa(source.MX.Port())
	})
	source.MailDomain(t, "example.net")
	dev := devDomain(t, source)
	dev.publish(t, source)
	taken := devDomain(t, target)
	wantAnswer(t, "deleting the domain", target.Do(t, http.MethodDelete, "/api/domains/"+taken.ID, nil), http.StatusOK)
	return source, target
}

// moveOut freezes the account at the source and returns the file.
func moveOut(t *testing.T, app *harness.App) []byte {
	t.Helper()
	var file bytes.Buffer
	withStoreOf(t, app, sourceKey, func(s *store.Store, o transfer.Options) {
		counting := statistics.New(statistics.Params{DB: s.DB, Facts: bus.NewLog(s.DB), Logger: slog.New(slog.DiscardHandler)})
		if _, err := moves.ExportMove(t.Context(), s.DB, app.AccountID, &file,
			moves.Options{Options: o, BaseURL: app.BaseURL, Count: counting.Count, Patience: 30 * time.Second}); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.Count(t, s.DB, `SELECT count(*) FROM nodes WHERE accounts_seen IS NULL`); n != 0 {
			t.Errorf("%d processes have not confirmed the freeze", n)
		}
	})
	return file.Bytes()
}

// finishMove ends the account at the source and returns the move code.
func finishMove(t *testing.T, source, target *harness.App) (code string) {
	t.Helper()
	withStoreOf(t, source, sourceKey, func(s *store.Store, _ transfer.Options) {
		var err error
		if code, err = moves.Finish(t.Context(), s.DB, source.AccountID, target.BaseURL, false); err != nil {
			t.Fatal(err)
		}
	})
	return code
}

// startMove starts the account at the target.
func startMove(t *testing.T, source, target *harness.App, code string) {
	t.Helper()
	withStoreOf(t, target, targetKey, func(s *store.Store, _ transfer.Options) {
		if err := moves.Start(t.Context(), s.DB, source.AccountID, code); err != nil {
			t.Fatal(err)
		}
	})
}

// unfinishedWork adds to an account an email that waits for a retry, a scheduled email, a run that waits for an event,
// and a webhook delivery that waits for a retry.
func unfinishedWork(t *testing.T, app *harness.App, scheduledIn time.Duration) (slow, scheduled string,
	hooks *flakyEndpoint) {
	t.Helper()
	hooks = newFlakyEndpoint(t)
	wantAnswer(t, "creating the webhook", app.Do(t, http.MethodPost, "/api/webhooks",
		asked{"url": hooks.url, "events": []string{"email.scheduled"}}), http.StatusOK)
	var made struct{ Automation struct{ ID string } }
	answer := app.Do(t, http.MethodPost, "/api/automations", json.RawMessage(`{"name": "Verify", "trigger": {"event": "user.created", "re_entry": "once"}, "steps": [
		{"key": "hello", "type": "send_email", "from": "ada@dev.test", "subject": "Run begins", "text": "Hello"},
		{"key": "verified", "type": "wait_for_event", "event": "user.verified", "timeout": "P1D", "on_timeout": "fail"},
		{"key": "thanks", "type": "send_email", "from": "ada@dev.test", "subject": "Run ends", "text": "It is you."}]}`))
	wantAnswer(t, "creating the automation", answer, http.StatusOK)
	answer.JSON(t, &made)
	wantAnswer(t, "activating it", app.Do(t, http.MethodPost, "/api/automations/"+made.Automation.ID,
		json.RawMessage(`{"action": "activate"}`)), http.StatusOK)
	postEvent(t, app, `{"name": "user.created", "user_id": "u1", "email": "bob@example.net"}`)
	app.MX.On(smtptest.Rcpt, "slow@example.net", smtptest.Reply(451, "4.7.1", "Try again later"))
	slow = send(t, app, `{"from":"ada@dev.test","to":"slow@example.net","subject":"Deferred","text":"x"}`)
	harness.Eventually(t, "the run has sent, and the first attempt was deferred", func() bool {
		deferred := app.Do(t, http.MethodGet, "/api/emails/"+slow+"/recipients", nil)
		return len(arrivedWith(app, "Run begins")) == 1 && strings.Contains(string(deferred.Body), `"deferred"`)
	})
	var receipt struct{ ID string }
	app.Do(t, http.MethodPost, "/api/emails", asked{"from": "ada@dev.test", "to": "bob@example.net", "subject": "Scheduled",
		"text": "x", "scheduled_at": time.Now().Add(scheduledIn)}).JSON(t, &receipt)
	hooks.wait(t, "the first attempt", func(failed, _ int) bool { return failed == 1 })
	return slow, receipt.ID, hooks
}

// flakyEndpoint is a webhook endpoint that fails until it is repaired.
type flakyEndpoint struct {
	url string

	mu            sync.Mutex
	repaired      bool
	failed, heard int
}

func newFlakyEndpoint(t *testing.T) *flakyEndpoint {
	t.Helper()
	e := &flakyEndpoint{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Log(err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.repaired {
			e.heard++
			return
		}
		e.failed++
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(s.Close)
	e.url = s.URL
	return e
}

func (e *flakyEndpoint) repair() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.repaired = true
}

func (e *flakyEndpoint) wait(t *testing.T, what string, wanted func(failed, heard int) bool) {
	t.Helper()
	harness.Eventually(t, "the endpoint has received "+what, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return wanted(e.failed, e.heard)
	})
}

// makeDue makes retries due that would take a minute.
func makeDue(t *testing.T, app *harness.App, keys string) {
	t.Helper()
	withStoreOf(t, app, keys, func(s *store.Store, _ transfer.Options) {
		dbtest.Exec(t, s.DB, `UPDATE recipients SET due_at = now() WHERE due_at < now() + interval '1 day' AND state = 'deferred'`)
		dbtest.Exec(t, s.DB, `UPDATE webhook_works SET due_at = now() WHERE due_at < now() + interval '1 day'`)
	})
}

// arrivedWith returns the accepted messages with a subject.
func arrivedWith(app *harness.App, subject string) (found []smtptest.Message) {
	for _, m := range app.MX.Messages() {
		if m.Code == 250 && strings.Contains(string(m.Data), "Subject: "+subject+"\r\n") {
			found = append(found, m)
		}
	}
	return found
}

// wantOnce checks that the work of unfinishedWork was done once.
func wantOnce(t *testing.T, source *harness.App, hooks *flakyEndpoint, others ...string) {
	t.Helper()
	wanted := append([]string{"Run begins", "Run ends", "Deferred", "Scheduled"}, others...)
	for _, subject := range wanted {
		harness.Eventually(t, subject+" arrives", func() bool { return len(arrivedWith(source, subject)) > 0 })
	}
	hooks.wait(t, "the event", func(_, heard int) bool { return heard >= 1 })
	for _, subject := range wanted {
		if got := arrivedWith(source, subject); len(got) != 1 {
			t.Errorf("%q arrived %d times, want once", subject, len(got))
		}
	}
	hooks.wait(t, "the event once", func(_, heard int) bool { return heard == 1 })
}

// An account moves with an email that waits for a retry, a scheduled email, a run and a webhook delivery. Each of them
// ends once, at the target. Clients of the source are redirected.
func TestAccountMovesWithUnfinishedWork(t *testing.T) {
	t.Parallel()
	source, target := twoInstallations(t)
	moved := withKey(target, source.APIKey)
	newsletter := send(t, source,
		`{"from":"ada@dev.test","to":"carol@example.net","subject":"Newsletter","text":"x","unsubscribe":true}`)
	link := linkIn(t, source, newsletter)
	source.MX.Wait(t, "the newsletter", func(s smtptest.Stats) bool { return s.Accepted == 1 })
	slow, scheduled, hooks := unfinishedWork(t, source, 3*time.Second) // due while the account is frozen
	file := moveOut(t, source)

	refused := source.Do(t, http.MethodPost, "/api/emails", anEmail)
	if refused.Status != http.StatusServiceUnavailable || refused.Header.Get("Retry-After") != "5" ||
		!strings.Contains(string(refused.Body), `"code":"account_moving"`) {
		t.Errorf("sending from a frozen account: %d %v %s", refused.Status, refused.Header, refused.Body)
	}
	if got := source.Do(t, http.MethodGet, "/api/emails/"+scheduled, nil); got.Status != http.StatusOK ||
		!strings.Contains(string(got.Body), `"status":"scheduled"`) {
		t.Errorf("reading a frozen account: %d %s", got.Status, got.Body)
	}
	if status, _ := visit(t, http.MethodPost, link, "List-Unsubscribe=One-Click"); status != http.StatusServiceUnavailable {
		t.Errorf("unsubscribing during the move: %d", status)
	}
	if err := importAccount(t, target, targetKey, file); err != nil {
		t.Fatal(err)
	}
	if got := moved.Do(t, http.MethodPost, "/api/emails", anEmail); got.Status != http.StatusServiceUnavailable {
		t.Errorf("sending from a copy: %d %s", got.Status, got.Body)
	}
	hooks.repair()
	code := finishMove(t, source, target)
	checkTombstone(t, source, target, link)
	if n := source.MX.Stats().Accepted; n != 2 {
		t.Errorf("%d emails were delivered before the account started, want the newsletter and the first of the run", n)
	}
	startMove(t, source, target, code)
	expect.Eventually(t, "the copy accepts events", func() bool {
		return moved.Do(t, http.MethodPost, "/api/events",
			json.RawMessage(`{"name": "user.verified", "user_id": "u1"}`)).Status == http.StatusAccepted
	})
	if got := source.Do(t, http.MethodPost, "/api/emails",
		`{"from":"ada@dev.test","to":"bob@example.net","subject":"Redirected","text":"x"}`); got.Status != http.StatusOK {
		t.Errorf("a client that follows redirects got %d %s", got.Status, got.Body)
	}
	makeDue(t, target, targetKey)
	wantOnce(t, source, hooks, "Redirected")
	waitForStatus(t, moved, slow, "delivered")
	waitForStatus(t, moved, scheduled, "delivered")
	if status, page := visit(t, http.MethodPost, link, "List-Unsubscribe=One-Click"); status != http.StatusOK ||
		!strings.Contains(page, "You are unsubscribed") {
		t.Errorf("unsubscribing through the source: %d %s", status, page)
	}
	checkBlocked(t, moved, "carol@example.net", true)
	checkForwardedBounce(t, source, moved, newsletter)
	checkForwardedRequests(t, source, target)
}

// checkForwardedBounce checks that a late bounce at the source takes effect at the target.
func checkForwardedBounce(t *testing.T, source, moved *harness.App, email string) {
	t.Helper()
	sender := ""
	for _, m := range source.MX.Messages() {
		if m.To[0] == "carol@example.net" {
			sender = m.From
		}
	}
	report := bounceReport(sender, "carol@example.net", "failed", "5.1.1", "550 5.1.1 user unknown")
	for range 2 { // the reporting server did not receive our reply
		if rcpt, data := deliver(t, source, "", sender, report); !strings.HasPrefix(data, "250 ") {
			t.Fatalf("got the replies %s, %s", rcpt, data)
		}
	}
	waitForStatus(t, moved, email, "bounced")
	if types := timelineOf(t, moved, email); strings.Count(types, "email.bounced") != 1 {
		t.Errorf("timeline: %s", types)
	}
}

// checkTombstone checks what the source answers once the account has moved.
func checkTombstone(t *testing.T, source, target *harness.App, link string) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(method, url string) (int, string, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+source.APIKey)
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, res.Header.Get("Location"), string(body)
	}
	expect.Eventually(t, "the source redirects", func() bool {
		status, _, _ := ask(http.MethodGet, source.BaseURL+"/api/emails?limit=1")
		return status == http.StatusTemporaryRedirect
	})
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		status, location, body := ask(method, source.BaseURL+"/api/emails?limit=1")
		if status != http.StatusTemporaryRedirect || location != target.BaseURL+"/api/emails?limit=1" ||
			method != http.MethodHead && !strings.Contains(body, `"code":"account_moved","details":{"base_url":"`+target.BaseURL+`"}`) {
			t.Errorf("%s of an account that has moved: %d, Location %q, %s", method, status, location, body)
		}
	}
	expect.Eventually(t, "the unsubscribe link redirects", func() bool {
		status, location, _ := ask(http.MethodGet, link)
		return status == http.StatusTemporaryRedirect && strings.HasPrefix(location, target.BaseURL+"/u/")
	})
	got := source.SignedIn(t, source.Owner.Email, source.Owner.Password).Do(t, http.MethodGet, "/api/emails", nil)
	if got.Status != http.StatusConflict || !strings.Contains(string(got.Body), "moved to "+target.BaseURL) {
		t.Errorf("a person got %d %s, want where the account is", got.Status, got.Body)
	}
	c := dialRelay(t, source)
	c.auth("ada", source.APIKey)
	c.expect("235")
	c.say("MAIL FROM:<ada@dev.test>\r\n")
	c.expect("550 5.7.1 This account has moved to " + target.BaseURL)
}

// A canceled move resumes everything at the source.
func TestCanceledMoveResumes(t *testing.T) {
	t.Parallel()
	source := harness.Start(t, func(s setting.RawValues) { s["POSTRIDER_MASTER_KEY"] = sourceKey })
	source.MailDomain(t, "example.net")
	_, _, hooks := unfinishedWork(t, source, 3*time.Second)
	moveOut(t, source)
	hooks.repair()
	withStoreOf(t, source, sourceKey, func(s *store.Store, _ transfer.Options) {
		if err := moves.Cancel(t.Context(), s.DB, source.AccountID); err != nil {
			t.Fatal(err)
		}
	})
	expect.Eventually(t, "the account accepts events", func() bool {
		return source.Do(t, http.MethodPost, "/api/events",
			json.RawMessage(`{"name": "user.verified", "user_id": "u1"}`)).Status == http.StatusAccepted
	})
	makeDue(t, source, sourceKey)
	wantOnce(t, source, hooks)
}

// An account moves while clients send: from one command at the source, through an operator key of the target. Every
// email that was accepted arrives once.
func TestLiveMoveThroughOperatorKey(t *testing.T) {
	t.Parallel()
	source, target := twoInstallations(t)
	operator := target.WithOperatorKey(t)
	moveWith := func(key string) error {
		to, err := moves.NewRemote(target.BaseURL, secret.New(key), "")
		if err != nil {
			t.Fatal(err)
		}
		withStoreOf(t, source, sourceKey, func(s *store.Store, o transfer.Options) {
			counting := statistics.New(statistics.Params{DB: s.DB, Facts: bus.NewLog(s.DB), Logger: slog.New(slog.DiscardHandler)})
			err = moves.Move(t.Context(), s.DB, source.AccountID, to, moves.Options{Options: o, BaseURL: source.BaseURL,
				Count: counting.Count, Patience: time.Minute})
		})
		return err
	}
	if err := moveWith(target.APIKey); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("moving with an API key returned %v, want a refusal", err)
	}
	expect.Eventually(t, "the account works at the source again", func() bool {
		return source.Do(t, http.MethodPost, "/api/emails", anEmail).Status == http.StatusOK
	})

	_, _, hooks := unfinishedWork(t, source, 3*time.Second)
	hooks.repair()
	ctx, stop := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	var sent atomic.Int64
	sending.Go(func() { // a client that repeats refused requests, as all do
		pace := time.NewTicker(50 * time.Millisecond)
		defer pace.Stop()
		for range pace.C {
			if ctx.Err() != nil {
				return
			}
			got := source.Do(t, http.MethodPost, "/api/emails", asked{"from": "ada@dev.test", "to": "bob@example.net",
				"subject": "Load " + strconv.FormatInt(sent.Load(), 10), "text": "x"})
			switch got.Status {
			case http.StatusOK:
				sent.Add(1)
			case http.StatusServiceUnavailable:
			default:
				t.Errorf("sending during the move: %d %s", got.Status, got.Body)
				return
			}
		}
	})
	expect.Eventually(t, "the client sends", func() bool { return sent.Load() > 3 })
	err := moveWith(operator.APIKey)
	before := sent.Load()
	if err == nil {
		moved := withKey(target, source.APIKey)
		expect.Eventually(t, "the target accepts events", func() bool {
			return moved.Do(t, http.MethodPost, "/api/events",
				json.RawMessage(`{"name": "user.verified", "user_id": "u1"}`)).Status == http.StatusAccepted
		})
		expect.Eventually(t, "the client sends through the redirect", func() bool { return sent.Load() > before+3 })
	}
	stop()
	sending.Wait()
	if err != nil {
		t.Fatal(err)
	}
	makeDue(t, target, targetKey)
	subjects := make([]string, sent.Load())
	for n := range subjects {
		subjects[n] = "Load " + strconv.Itoa(n)
	}
	wantOnce(t, source, hooks, subjects...)
}
