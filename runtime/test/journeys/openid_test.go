package journeys_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/test/harness"
)

const providerDir = "../../../.ci/openid"

// providerTools installs oidc-provider, an independent OpenID Connect provider, with the versions in its lock file.
func providerTools(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("sign-in with an OpenID provider requires Node.js 20 with npm, but %s is not on the PATH", tool)
		}
	}
	lock, err := os.ReadFile(filepath.Join(providerDir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(providerDir, "node_modules", ".installed")
	if done, err := os.ReadFile(mark); err == nil && string(done) == string(lock) {
		return
	}
	install := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund",
		"--no-update-notifier", "--loglevel=error")
	install.Dir = providerDir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci in %s: %v\n%s", providerDir, err, out)
	}
	if err := os.WriteFile(mark, lock, 0o600); err != nil {
		t.Fatal(err)
	}
}

// startProvider runs the provider for a client whose redirect URI is that of app; stop ends it.
func startProvider(t *testing.T, app *harness.App, port string) (stop func()) {
	t.Helper()
	provider := exec.CommandContext(t.Context(), "node", "provider.mjs", app.BaseURL+"/api/session/oidc/callback", port)
	provider.Dir = providerDir
	input, err := provider.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := provider.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := provider.Start(); err != nil {
		t.Fatal(err)
	}
	running := true
	stop = func() {
		if !running {
			return
		}
		running = false
		_ = input.Close()
		_ = provider.Wait()
	}
	t.Cleanup(stop)
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil || !json.Valid(line) {
		t.Fatalf("the provider printed %q (error %v), want its issuer", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, output) }()
	return stop
}

// visitor is a browser that follows redirects and keeps cookies.
type visitor struct {
	*http.Client

	app *harness.App
}

func newVisitor(t *testing.T, app *harness.App) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{&http.Client{Jar: jar}, app}
}

// page is the page that a browser shows.
type page struct {
	at   *url.URL
	text string
}

func (b *visitor) request(t *testing.T, method, to string, form url.Values) page {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, to, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := b.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return page{res.Request.URL, string(text)}
}

func (b *visitor) open(t *testing.T, to string) page {
	t.Helper()
	return b.request(t, http.MethodGet, to, nil)
}

var (
	formAction = regexp.MustCompile(`<form[^>]* action="([^"]+)"`)
	formHidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]+)"`)
)

// submit sends the form of a page of the provider.
func (b *visitor) submit(t *testing.T, p page, fields url.Values) page {
	t.Helper()
	action := formAction.FindStringSubmatch(p.text)
	if action == nil {
		t.Fatalf("the page at %s has no form:\n%s", p.at, p.text)
	}
	for _, hidden := range formHidden.FindAllStringSubmatch(p.text, -1) {
		fields.Set(hidden[1], hidden[2])
	}
	to, err := p.at.Parse(action[1])
	if err != nil {
		t.Fatal(err)
	}
	return b.request(t, http.MethodPost, to.String(), fields)
}

// signIn opens the provider, signs in there, consents, and returns the resulting page.
func (b *visitor) signIn(t *testing.T, login, returnTo string) page {
	t.Helper()
	p := b.open(t, b.app.BaseURL+"/api/session/oidc?"+url.Values{"return_to": {returnTo}}.Encode())
	p = b.submit(t, p, url.Values{"login": {login}, "password": {"any"}})
	return b.submit(t, p, url.Values{})
}

// isAt fails the test unless the browser is at a path of the app, on a page with some words.
func (b *visitor) isAt(t *testing.T, what string, p page, path, words string) {
	t.Helper()
	if got := p.at.Scheme + "://" + p.at.Host; got != b.app.BaseURL || p.at.RequestURI() != path ||
		!strings.Contains(p.text, words) {
		t.Errorf("%s leads to %s, want %s with the words %q:\n%s", what, p.at, path, words, p.text)
	}
}

func TestSignInWithOpenIDProvider(t *testing.T) {
	t.Parallel()
	providerTools(t)
	port := expect.FreePort(t)
	app := startCaptured(t, func(s setting.RawValues) {
		s["POSTRIDER_OIDC_ISSUER"] = "http://127.0.0.1:" + port
		s["POSTRIDER_OIDC_CLIENT_ID"] = "postrider"
		s["POSTRIDER_OIDC_CLIENT_SECRET"] = "the secret of the tests"
		s["POSTRIDER_OIDC_NAME"] = "Outside"
	})
	ada := signInOwner(t, app)
	b := newVisitor(t, app)
	b.isAt(t, "a provider that is not running yet", b.open(t, app.BaseURL+"/api/session/oidc"), "/sign-in?openid=away",
		"The provider is unavailable")
	if got := ada.Do(t, http.MethodGet, "/api/sign-in", nil); !strings.Contains(string(got.Body),
		`"oidc":{"name":"Outside"}`) {
		t.Errorf("GET /sign-in returned %s, want the name of the provider", got.Body)
	}

	stop := startProvider(t, app, port)
	awaitProvider(t, b)
	b.isAt(t, "a user without an invitation", b.signIn(t, "bob@example.com", "/emails?status=failed"),
		"/sign-in?next=%2Femails%3Fstatus%3Dfailed&openid=unknown", "No user has this email address")
	b = newVisitor(t, app)
	b.isAt(t, "an email that is not verified", b.signIn(t, "unverified@example.com", "/"), "/sign-in?openid=unverified",
		"has not verified your email address")
	b = newVisitor(t, app)
	b.isAt(t, "a user without an email", b.signIn(t, "none", "/"), "/sign-in?openid=no_email",
		"no usable email address")
	b = newVisitor(t, app)
	b.isAt(t, "an operator's email", b.signIn(t, app.Owner.Email, "/"), "/sign-in?openid=operator",
		"belongs to an operator")

	wantAnswer(t, "an invitation",
		ada.Do(t, http.MethodPost, "/api/invitations", asked{"email": "bob@example.com", "role": "viewer"}),
		http.StatusOK)
	b = newVisitor(t, app)
	b.isAt(t, "bob with an invitation", b.signIn(t, "bob@example.com", "/sign-in?from=outside"),
		"/sign-in?from=outside", "bob@example.com")
	session := b.open(t, app.BaseURL+"/api/session")
	if !strings.Contains(session.text, `"method":"oidc"`) || !strings.Contains(session.text, `"role":"viewer"`) {
		t.Errorf("bob's session is %s, want a viewer's session by oidc", session.text)
	}
	b.isAt(t, "a return to another site", b.open(t, app.BaseURL+"/api/session/oidc?return_to=//evil.example/"), "/",
		"Postrider")

	noPKCE(t, b)
	lost := b.open(t, app.BaseURL+"/api/session/oidc/callback?state=x&code=y&session_state=z")
	b.isAt(t, "a callback without a request", lost, "/sign-in?openid=lost", "Start again in this browser")

	stop()
	app.SignedIn(t, app.Owner.Email, app.Owner.Password)
	if got := app.Do(t, http.MethodGet, "/api/emails", nil); got.Status != http.StatusOK {
		t.Errorf("without the provider the API returned %d %s, want 200", got.Status, got.Body)
	}
}

// awaitProvider waits until the unavailable provider is used again.
func awaitProvider(t *testing.T, b *visitor) {
	t.Helper()
	expect.Eventually(t, "the provider is queried again", func() bool {
		return b.open(t, b.app.BaseURL+"/api/session/oidc").at.Path != "/sign-in"
	})
}

// noPKCE makes the provider accept a sign-in without PKCE, which it rejects by default.
func noPKCE(t *testing.T, b *visitor) {
	t.Helper()
	still := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.app.BaseURL+"/api/session/oidc", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := still.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	there, err := res.Location()
	if err != nil {
		t.Fatal(err)
	}
	query := there.Query()
	if query.Get("code_challenge_method") != "S256" || query.Get("code_challenge") == "" || query.Get("nonce") == "" ||
		query.Get("state") == "" {
		t.Errorf("a sign-in leads to %s, want PKCE by S256, a nonce and a state", there)
	}
	query.Del("code_challenge")
	query.Del("code_challenge_method")
	there.RawQuery = query.Encode()
	b.isAt(t, "a sign-in without PKCE, which the provider rejects,", b.open(t, there.String()), "/sign-in?openid=lost",
		"Start again in this browser")
}
