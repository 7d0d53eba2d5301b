package journeys_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/test/harness"
)

// startCaptured starts an app that captures its mail, so that tests can follow links.
func startCaptured(t *testing.T, change ...func(setting.RawValues)) *harness.App {
	t.Helper()
	return harness.Start(t, func(s setting.RawValues) {
		s["POSTRIDER_OUTBOUND"] = "capture"
		for _, c := range change {
			c(s)
		}
	})
}

func signInOwner(t *testing.T, app *harness.App) *harness.Person {
	t.Helper()
	return app.SignedIn(t, app.Owner.Email, app.Owner.Password)
}

// wantAnswer fails the test unless a response has a status, and a code if one is given.
func wantAnswer(t *testing.T, what string, got harness.Answer, status int, code ...string) {
	t.Helper()
	if got.Status != status {
		t.Errorf("%s got %d %s, want %d", what, got.Status, got.Body, status)
		return
	}
	for _, c := range code {
		if !strings.Contains(string(got.Body), `"`+c+`"`) {
			t.Errorf("%s got %d %s, want the code %s", what, got.Status, got.Body, c)
		}
	}
}

type asked map[string]any

const (
	bobsPassword  = "seven wet umbrellas sing"
	bobsPassword2 = "eight dry umbrellas hum"
)

// invite makes bob a member with a role, through the invitation email, and returns his browser.
func invite(t *testing.T, app *harness.App, by *harness.Person, role string) *harness.Person {
	t.Helper()
	wantAnswer(t, "an invitation",
		by.Do(t, http.MethodPost, "/api/invitations", asked{"email": "bob@example.com", "role": role}), http.StatusOK)
	page, token := app.LinkTo(t, "bob@example.com", "Join")
	if page != "invite" {
		t.Errorf("the link of an invitation leads to %q, want invite", page)
	}
	bob := app.Browser(t)
	wantAnswer(t, "bob accepting", bob.Do(t, http.MethodPost, "/api/invitations/accept",
		asked{"token": token, "name": "Bob", "password": bobsPassword}), http.StatusOK)
	wantAnswer(t, "a second use of the link", app.Browser(t).
		Do(t, http.MethodPost, "/api/invitations/accept", asked{"token": token, "password": bobsPassword}),
		http.StatusNotFound, "not_found")
	return bob
}

func idOf(t *testing.T, p *harness.Person) string {
	t.Helper()
	var found struct{ User struct{ ID string } }
	p.Do(t, http.MethodGet, "/api/session", nil).JSON(t, &found)
	return found.User.ID
}

// Journey: a user is invited while public sign-up is closed, works with a role, gets another one, and is
// removed: the session and the stream end within five seconds, while the created key keeps working.
func TestJourneyAMemberFromInvitationToRemoval(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	ada := signInOwner(t, app)
	wantAnswer(t, "sign-up without an invitation", app.Browser(t).
		Do(t, http.MethodPost, "/api/sign-up", asked{"email": "eve@example.com"}), http.StatusNotFound)
	bob := invite(t, app, ada, "developer")
	id := idOf(t, bob)

	wantAnswer(t, "a developer reading emails", bob.Do(t, http.MethodGet, "/api/emails", nil), http.StatusOK)
	wantAnswer(t, "a developer inviting", bob.Do(t, http.MethodPost, "/api/invitations",
		asked{"email": "x@example.com", "role": "viewer"}), http.StatusForbidden, "insufficient_role")
	wantAnswer(t, "a developer promoting himself to owner",
		bob.Do(t, http.MethodPatch, "/api/members/"+id, asked{"role": "owner"}), http.StatusForbidden,
		"insufficient_role")
	made := bob.Do(t, http.MethodPost, "/api/api-keys", asked{"name": "bob's"})
	wantAnswer(t, "a developer creating a key", made, http.StatusOK)
	var key struct {
		APIKey struct {
			CreatedBy string `json:"created_by"`
		} `json:"api_key"`
		Secret string
	}
	made.JSON(t, &key)
	if key.APIKey.CreatedBy != id {
		t.Errorf("the key names %q as its creator, want bob, %s", key.APIKey.CreatedBy, id)
	}

	wantAnswer(t, "the owner making bob a viewer", ada.Do(t, http.MethodPatch, "/api/members/"+id, asked{"role": "viewer"}), http.StatusOK)
	expect.Eventually(t, "bob is a viewer everywhere", func() bool {
		return bob.Do(t, http.MethodPost, "/api/suppressions", asked{}).Status == http.StatusForbidden
	})
	ended := make(chan struct{})
	go func() { // a stream of bob
		defer close(ended)
		bob.Do(t, http.MethodGet, "/api/event-log/stream", nil)
	}()
	wantAnswer(t, "the last owner leaving", ada.Do(t, http.MethodDelete, "/api/members/"+idOf(t, ada), nil),
		http.StatusConflict, "conflict")
	wantAnswer(t, "the owner removing bob", ada.Do(t, http.MethodDelete, "/api/members/"+id, nil), http.StatusOK)
	removed := time.Now()
	over := time.After(expect.Patience) // the promise is five seconds
	expect.Eventually(t, "bob's cookie grants no access to the team", func() bool {
		return bob.Do(t, http.MethodGet, "/api/emails", nil).Status == http.StatusForbidden
	})
	select {
	case <-ended:
		t.Logf("bob's stream ended %s after his removal; the promise is five seconds", time.Since(removed))
	case <-over:
		t.Error("bob's stream continues after his removal")
	}
	if got := withKey(app, key.Secret).Do(t, http.MethodGet, "/api/emails", nil); got.Status != http.StatusOK {
		t.Errorf("bob's key: %d %s, want it to keep working", got.Status, got.Body)
	}
	var log struct {
		Entries []struct {
			Action string
			Actor  struct{ Kind, Name string }
		}
	}
	ada.Do(t, http.MethodGet, "/api/audit-log?limit=100", nil).JSON(t, &log)
	said := fmt.Sprint(log.Entries)
	for _, action := range []string{"invitation.created {user dev@dev.test",
		"invitation.accepted {user bob@example.com", "member.role_changed {user dev@dev.test",
		"member.removed {user dev@dev.test",
		"createAPIKey {user bob@example.com", "session.started"} {
		if !strings.Contains(said, action) {
			t.Errorf("the audit log lacks %q: %s", action, said)
		}
	}
}

// Sessions are listed and ended one by one. A new password ends the others, a reset by email all of them.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	bob := invite(t, app, signInOwner(t, app), "developer")
	other := app.SignedIn(t, "bob@example.com", bobsPassword)
	third := app.SignedIn(t, "bob@example.com", bobsPassword)
	var list struct {
		Sessions []struct {
			ID      string
			Current bool
		}
	}
	bob.Do(t, http.MethodGet, "/api/sessions", nil).JSON(t, &list)
	if len(list.Sessions) != 3 {
		t.Fatalf("bob has %d sessions, want 3: %v", len(list.Sessions), list)
	}
	wantAnswer(t, "ending the latest", bob.Do(t, http.MethodDelete, "/api/sessions/"+list.Sessions[0].ID, nil),
		http.StatusOK)
	wantAnswer(t, "the session that was ended", third.Do(t, http.MethodGet, "/api/session", nil),
		http.StatusUnauthorized)
	wantAnswer(t, "another's session", signInOwner(t, app).
		Do(t, http.MethodDelete, "/api/sessions/"+list.Sessions[1].ID, nil), http.StatusNotFound)
	wantAnswer(t, "a wrong current password",
		bob.Do(t, http.MethodPatch, "/api/user", asked{"password": asked{"current": "x", "new": bobsPassword2}}),
		http.StatusBadRequest, "password.current")
	wantAnswer(t, "a new password",
		bob.Do(t, http.MethodPatch, "/api/user",
			asked{"password": asked{"current": bobsPassword, "new": bobsPassword2}}), http.StatusOK)
	wantAnswer(t, "another session after that", other.Do(t, http.MethodGet, "/api/session", nil),
		http.StatusUnauthorized)
	wantAnswer(t, "the session that did it", bob.Do(t, http.MethodGet, "/api/session", nil), http.StatusOK)

	for _, email := range []string{"bob@example.com", "nobody@example.com"} {
		got := app.Browser(t).Do(t, http.MethodPost, "/api/password/forgot", asked{"email": email})
		if got.Status != http.StatusOK || string(got.Body) != `{"ok":true}` {
			t.Errorf("a reset for %s got %d %s, want the same for every address", email, got.Status, got.Body)
		}
	}
	page, token := app.LinkTo(t, "bob@example.com", "Set a new password")
	if page != "reset" {
		t.Errorf("the link leads to %q, want reset", page)
	}
	wantAnswer(t, "a password that is too short", app.Browser(t).
		Do(t, http.MethodPost, "/api/password/reset", asked{"token": token, "password": "short"}),
		http.StatusBadRequest, "password")
	wantAnswer(t, "the token for another purpose", app.Browser(t).
		Do(t, http.MethodPost, "/api/session/link", asked{"token": token}), http.StatusNotFound)
	wantAnswer(t, "a reset", app.Browser(t).
		Do(t, http.MethodPost, "/api/password/reset", asked{"token": token, "password": bobsPassword}), http.StatusOK)
	wantAnswer(t, "the same link again", app.Browser(t).
		Do(t, http.MethodPost, "/api/password/reset", asked{"token": token, "password": bobsPassword}),
		http.StatusNotFound)
	wantAnswer(t, "the earlier session", bob.Do(t, http.MethodGet, "/api/session", nil), http.StatusUnauthorized)
	app.SignedIn(t, "bob@example.com", bobsPassword)
}

// A second factor: setup, use at sign-in, each code once, recovery codes, and the rule of a team.
func TestSecondFactors(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	ada := signInOwner(t, app)
	bob := invite(t, app, ada, "developer")
	var key struct{ Secret, URI string }
	bob.Do(t, http.MethodPost, "/api/user/totp", nil).JSON(t, &key)
	code := func(at time.Time) string {
		made, err := totp.GenerateCode(key.Secret, at)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	wantAnswer(t, "a wrong first code", bob.Do(t, http.MethodPost, "/api/user/totp/activate", asked{"code": "000000"}),
		http.StatusBadRequest, "code")
	now := time.Now()
	activated := bob.Do(t, http.MethodPost, "/api/user/totp/activate", asked{"code": code(now)})
	wantAnswer(t, "the first code", activated, http.StatusOK)
	var recovery struct {
		RecoveryCodes []string `json:"recovery_codes"`
	}
	activated.JSON(t, &recovery)
	signIn := func(code string) harness.Answer {
		body := asked{"email": "bob@example.com", "password": bobsPassword}
		if code != "" {
			body["code"] = code
		}
		return app.Browser(t).Do(t, http.MethodPost, "/api/session", body)
	}
	wantAnswer(t, "a sign-in without a code", signIn(""), http.StatusForbidden, "second_factor_required")
	wantAnswer(t, "a used code", signIn(code(now)), http.StatusUnauthorized)
	next := code(now.Add(30 * time.Second))
	wantAnswer(t, "the next code", signIn(next), http.StatusOK)
	wantAnswer(t, "that one again", signIn(next), http.StatusUnauthorized)
	wantAnswer(t, "a recovery code", signIn(recovery.RecoveryCodes[0]), http.StatusOK)
	wantAnswer(t, "that one again", signIn(recovery.RecoveryCodes[0]), http.StatusUnauthorized)

	wantAnswer(t, "the rule by a developer",
		bob.Do(t, http.MethodPatch, "/api/account", asked{"require_second_factor": true}), http.StatusForbidden,
		"insufficient_role")
	wantAnswer(t, "the rule by the owner",
		ada.Do(t, http.MethodPatch, "/api/account", asked{"require_second_factor": true}), http.StatusOK)
	expect.Eventually(t, "the owner, who has no second factor, may only set one up", func() bool {
		return ada.Do(t, http.MethodGet, "/api/emails", nil).Status == http.StatusForbidden
	})
	wantAnswer(t, "a user with a second factor", bob.Do(t, http.MethodGet, "/api/emails", nil), http.StatusOK)
	wantAnswer(t, "setting up a second factor", ada.Do(t, http.MethodPost, "/api/user/totp", nil), http.StatusOK)
}

// Members of another team cannot do anything to the users of this one, or find out anything about them.
func TestTeamsAreIsolated(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	ada := signInOwner(t, app)
	var invited struct{ Invitation struct{ ID string } }
	ada.Do(t, http.MethodPost, "/api/invitations", asked{"email": "carol@example.com", "role": "viewer"}).
		JSON(t, &invited)
	bob := invite(t, app, ada, "developer")
	made := ada.Do(t, http.MethodPost, "/api/accounts", asked{"name": "Another"})
	wantAnswer(t, "an operator creating a team", made, http.StatusOK)
	var other struct{ Account struct{ ID string } }
	made.JSON(t, &other)
	eve := app.SignedIn(t, app.Owner.Email, app.Owner.Password) // a member of both teams, here in the other one
	eve.Account = other.Account.ID
	bobID := idOf(t, bob)
	for what, got := range map[string]harness.Answer{
		"a role":             eve.Do(t, http.MethodPatch, "/api/members/"+bobID, asked{"role": "viewer"}),
		"a removal":          eve.Do(t, http.MethodDelete, "/api/members/"+bobID, nil),
		"a revocation":       eve.Do(t, http.MethodDelete, "/api/invitations/"+invited.Invitation.ID, nil),
		"a mail again":       eve.Do(t, http.MethodPost, "/api/invitations/"+invited.Invitation.ID+"/resend", nil),
		"a switch":           bob.Do(t, http.MethodPost, "/api/session/account", asked{"account_id": other.Account.ID}),
		"a request for it":   bob.Do(t, http.MethodGet, "/api/emails", nil, "Postrider-Account", other.Account.ID),
		"one's own, unknown": eve.Do(t, http.MethodPatch, "/api/members/usr_01kf0m4w7he6x8q2v5b3n9c1ta", asked{"role": "viewer"}),
	} {
		wantAnswer(t, what+" of another team", got, http.StatusNotFound, "not_found")
	}
	for path, secret := range map[string]string{"/api/members": bobID, "/api/invitations": invited.Invitation.ID,
		"/api/audit-log": bobID, "/api/audit-log/export": bobID} {
		if got := eve.Do(t, http.MethodGet, path, nil); got.Status != http.StatusOK ||
			strings.Contains(string(got.Body), secret) {
			t.Errorf("%s of the other team: %d %s, want nothing of the first one", path, got.Status, got.Body)
		}
	}
}

// A cookie authenticates for REST, GraphQL and the contract's paths; a bad key in addition to it is
// rejected.
func TestTheCookieOfASession(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	ada := signInOwner(t, app)
	for _, path := range []string{"/api/events", "/api/webhooks", "/api/emails"} {
		wantAnswer(t, path+" by cookie", ada.Do(t, http.MethodGet, path, nil), http.StatusOK)
		wantAnswer(t, path+" with a cookie and a bad key",
			ada.Do(t, http.MethodGet, path, nil, "Authorization", "Bearer svc_wrong"), http.StatusUnauthorized)
	}
	query := asked{"query": "{ account { id } }"}
	wantAnswer(t, "GraphQL with a cookie", ada.Do(t, http.MethodPost, "/graphql", query), http.StatusOK, app.AccountID)
	wantAnswer(t, "GraphQL from another site",
		ada.Do(t, http.MethodPost, "/graphql", query, "Origin", "https://evil.example"), http.StatusForbidden,
		"cross_origin")
	wantAnswer(t, "a sign-in from another site", app.Browser(t).
		Do(t, http.MethodPost, "/api/session", asked{"email": app.Owner.Email, "password": app.Owner.Password},
			"Origin", "https://evil.example"),
		http.StatusForbidden, "cross_origin")
	before := ada.Cookies(t)
	wantAnswer(t, "a wrong confirmation",
		ada.Do(t, http.MethodPost, "/api/session/confirm", asked{"password": "wrong"}), http.StatusUnauthorized)
	wantAnswer(t, "a confirmation",
		ada.Do(t, http.MethodPost, "/api/session/confirm", asked{"password": app.Owner.Password}), http.StatusOK)
	after := ada.Cookies(t)
	if len(before) != 1 || len(after) != 1 || before[0].Value == after[0].Value {
		t.Errorf("a confirmation changed the cookie from %v to %v, want a new one", before, after)
	}
	old := app.Browser(t)
	wantAnswer(t, "the old cookie", old.Do(t, http.MethodGet, "/api/session", nil, "Cookie", before[0].String()),
		http.StatusUnauthorized)
	wantAnswer(t, "signing out", ada.Do(t, http.MethodDelete, "/api/session", nil), http.StatusOK)
	if left := ada.Cookies(t); len(left) != 0 {
		t.Errorf("after signing out the browser keeps %v", left)
	}
	wantAnswer(t, "the cookie after signing out",
		old.Do(t, http.MethodGet, "/api/session", nil, "Cookie", after[0].String()), http.StatusUnauthorized)
}

// No password, token or code is in the log, or in a row of the database.
func TestUserSecretsAreStoredNowhere(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	bob := invite(t, app, signInOwner(t, app), "developer")
	bob.Do(t, http.MethodPost, "/api/session/confirm", asked{"password": bobsPassword})
	app.Browser(t).Do(t, http.MethodPost, "/api/password/forgot", asked{"email": "bob@example.com"})
	_, reset := app.LinkTo(t, "bob@example.com", "Set a new password")
	var key struct{ Secret string }
	bob.Do(t, http.MethodPost, "/api/user/totp", nil).JSON(t, &key)
	planted := map[string]string{"a password": bobsPassword, "a cookie": bob.Cookies(t)[0].Value,
		"a secret of a second factor": key.Secret}
	checkNowhere(t, app, planted)
	if strings.Contains(app.Log.String(), reset) {
		t.Error("the log has the token of a link")
	}
	var n int // the email waits for delivery, or is in the development inbox
	if err := openDatabase(t, app).
		QueryRowContext(t.Context(), `SELECT count(*) FROM sign_in_links x WHERE position($1 IN x::text) > 0`, reset).Scan(&n); err != nil || n > 0 {
		t.Errorf("the token of a link is in %d rows of links (%v)", n, err)
	}
}

// checkNowhere checks that secrets, by their description, are neither in the log nor in a row of any table.
func checkNowhere(t *testing.T, app *harness.App, planted map[string]string) {
	t.Helper()
	handle := openDatabase(t, app)
	rows, err := handle.QueryContext(t.Context(),
		`SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for what, text := range planted {
		if strings.Contains(app.Log.String(), text) {
			t.Errorf("the log contains %s", what)
		}
		for _, table := range tables {
			var n int
			if err := handle.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table+
				` x WHERE position($1 IN x::text) > 0`, text).Scan(&n); err != nil || n > 0 {
				t.Errorf("%s is in %d rows of %s (%v)", what, n, table, err)
			}
		}
	}
}

// A user tries an automation with an event: first as a dry run, then as a test that sends, without the
// delays. A key can do neither.
func TestUsersTryAutomations(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	ada := signInOwner(t, app)
	made := ada.Do(t, http.MethodPost, "/api/automations",
		asked{"name": "Welcome", "trigger": asked{"event": "user.created"}, "steps": []asked{
			{"key": "sleep", "type": "delay", "duration": "P3D"},
			{"key": "hello", "type": "send_email", "from": "hello@" + *app.VerifiedDomain,
				"subject": "Hi {{event.data.name}}", "text": "Welcome."}}})
	wantAnswer(t, "a draft", made, http.StatusOK)
	var automation struct{ Automation struct{ ID string } }
	made.JSON(t, &automation)
	event := func(more asked) asked {
		all := asked{"name": "user.created", "email": "bob@example.com", "data": asked{"name": "Bob"}}
		maps.Copy(all, more)
		return all
	}
	id := automation.Automation.ID
	for field, more := range map[string]asked{"dry_run": {"dry_run": true}, "test_send": {"test_send": true},
		"automation_id": {"automation_id": id}} {
		wantAnswer(t, "a key with "+field, app.Do(t, http.MethodPost, "/api/events", event(more)),
			http.StatusBadRequest, field)
	}
	for what, more := range map[string]asked{"both": {"dry_run": true, "test_send": true, "automation_id": id},
		"no automation": {"dry_run": true}, "no flag": {"automation_id": id}, "a flag that is off": {"automation_id": id, "dry_run": false}} {
		wantAnswer(t, what, ada.Do(t, http.MethodPost, "/api/events", event(more)), http.StatusBadRequest)
	}
	wantAnswer(t, "an unknown automation",
		ada.Do(t, http.MethodPost, "/api/events",
			event(asked{"dry_run": true, "automation_id": "aut_01kf0m4w7he6x8q2v5b3n9c1ta"})), http.StatusNotFound)
	dry := ada.Do(t, http.MethodPost, "/api/events", event(asked{"dry_run": true, "automation_id": id}))
	wantAnswer(t, "a dry run", dry, http.StatusAccepted, "dashboard", "completed", "Hi Bob")
	sent := ada.Do(t, http.MethodPost, "/api/events", event(asked{"test_send": true, "automation_id": id}))
	wantAnswer(t, "a test that sends", sent, http.StatusAccepted)
	var begun struct{ Run struct{ ID string } }
	sent.JSON(t, &begun)
	expect.Eventually(t, "the test has sent all its mail", func() bool {
		return strings.Contains(string(app.Do(t, http.MethodGet, "/api/automation-runs/"+begun.Run.ID, nil).Body),
			`"status":"completed","step_index":1`)
	})
	wantAnswer(t, "an ordinary event of a user", ada.Do(t, http.MethodPost, "/api/events", event(nil)),
		http.StatusAccepted, "dashboard")
}

// An operator manages the installation with a browser: finds an account, changes its plan, suspends it, and
// all of this is in both audit logs. Other users cannot even read.
func TestAnOperatorRunsTheInstallation(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	ada := signInOwner(t, app)
	bob := invite(t, app, ada, "admin")
	account := "/api/operator/accounts/" + app.AccountID
	for _, path := range []string{"/api/operator/accounts", account, "/api/operator/plans", "/api/operator/plans/pro",
		"/api/operator/billing", "/api/operator/audit-log"} {
		wantAnswer(t, path+" by an admin", bob.Do(t, http.MethodGet, path, nil), http.StatusForbidden,
			"insufficient_role")
		wantAnswer(t, path+" by a key", app.Do(t, http.MethodGet, path, nil), http.StatusForbidden,
			"insufficient_scope")
		wantAnswer(t, path+" by an operator", ada.Do(t, http.MethodGet, path, nil), http.StatusOK)
	}
	wantAnswer(t, "a change by an admin", bob.Do(t, http.MethodPatch, account, asked{"plan": "pro"}),
		http.StatusForbidden, "insufficient_role")

	wantAnswer(t, "the account by its address", ada.Do(t, http.MethodGet, "/api/operator/accounts?q="+
		url.QueryEscape(strings.ToUpper(app.Owner.Email)), nil), http.StatusOK, app.AccountID)
	wantAnswer(t, "active ones", ada.Do(t, http.MethodGet, "/api/operator/accounts?status=active&limit=100", nil),
		http.StatusOK, app.AccountID)
	if got := ada.Do(t, http.MethodGet, "/api/operator/accounts?status=suspended",
		nil); strings.Contains(string(got.Body), app.AccountID) {
		t.Errorf("the account is listed as suspended: %s", got.Body)
	}
	wantAnswer(t, "an unknown status", ada.Do(t, http.MethodGet, "/api/operator/accounts?status=gone", nil),
		http.StatusBadRequest, "status")
	for field, body := range map[string]asked{"plan": {"plan": "nothing"}, "monthly_limit": {"monthly_limit": 0},
		"suspended": {"suspended": "yes"}, "name": {"name": "x"}} {
		wantAnswer(t, "a wrong "+field, ada.Do(t, http.MethodPatch, account, body), http.StatusBadRequest, field)
	}
	wantAnswer(t, "an unknown account",
		ada.Do(t, http.MethodPatch, "/api/operator/accounts/acc_01kf0m4w7he6x8q2v5b3n9c1ta", asked{"plan": "pro"}),
		http.StatusNotFound)

	wantAnswer(t, "another plan", ada.Do(t, http.MethodPatch, account,
		asked{"plan": "pro", "monthly_limit": 7, "suspended": true}), http.StatusOK, "pro", "suspended_at")
	mail := asked{"from": "hello@dev.test", "to": "bob@example.com", "subject": "Hello", "text": "Hello"}
	wantAnswer(t, "mail of a suspended account", app.Do(t, http.MethodPost, "/api/emails", mail), http.StatusForbidden,
		"account_suspended")
	wantAnswer(t, "resuming the account",
		ada.Do(t, http.MethodPatch, account, asked{"suspended": false, "monthly_limit": nil}), http.StatusOK)
	wantAnswer(t, "mail of the resumed account", app.Do(t, http.MethodPost, "/api/emails", mail), http.StatusOK)

	wantAnswer(t, "a plan that includes more",
		ada.Do(t, http.MethodPatch, "/api/operator/plans/pool", asked{"included_emails": 250000}),
		http.StatusOK, "pool")
	wantAnswer(t, "overage with a cap", ada.Do(t, http.MethodPatch, "/api/operator/plans/pool",
		asked{"overage": true, "monthly_emails": 10}), http.StatusBadRequest, "overage")
	wantAnswer(t, "an unknown plan", ada.Do(t, http.MethodPatch, "/api/operator/plans/nothing", asked{"rank": 3}),
		http.StatusNotFound)
	wantAnswer(t, "disabled billing", ada.Do(t, http.MethodGet, "/api/operator/billing", nil), http.StatusOK, "enabled")

	for what, path := range map[string]string{"the account's log": "/api/audit-log?action=operator",
		"the installation's log": "/api/operator/audit-log?action=operator"} {
		got := ada.Do(t, http.MethodGet, path, nil)
		wantAnswer(t, what, got, http.StatusOK, "operator.account_updated", app.Owner.Email)
		if has, wants := strings.Contains(string(got.Body), "operator.plan_updated"), strings.HasPrefix(path,
			"/api/operator"); has != wants {
			t.Errorf("%s has the change of a plan: %t, want %t: %s", what, has, wants, got.Body)
		}
	}
}
