package welcome_test

import (
	"html"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/openid"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/pages/unsubscribe"
	"github.com/postrider/postrider/rest/pages/welcome"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

const (
	adasEmail    = "ada@example.com"
	adasPassword = "green paper horses run"
)

// site is an installation that serves only these pages. Its operator is ada.
type site struct {
	*httptest.Server

	people *signin.Service
	ada    signin.NewSession
}

// provider only has a name to show; these tests never redirect to it.
type provider struct{ *openid.Service }

func (provider) Name() string { return "Outside" }

func newSite(t *testing.T) *site {
	t.Helper()
	database := dbtest.New(t)
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	known, err := accounts.New(accounts.Params{DB: database, Cursors: page.NewCodec([]byte("sixteen bytes or more")),
		Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: httptest.NewUnstartedServer(nil)}
	base := "http://" + s.Listener.Addr().String()
	if s.people, err = signin.New(signin.Params{Config: signin.Config{BaseURL: base, Passwords: true}, DB: database,
		Accounts: known,
		Teams:    team.New(team.Params{DB: database, Accounts: known}), Box: box, Logger: quiet}); err != nil {
		t.Fatal(err)
	}
	link, err := s.people.SetUpLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link, "#")
	if s.ada, err = s.people.SetUp(t.Context(),
		signin.SetUpInput{Token: token, Email: adasEmail, Password: adasPassword, AccountName: "Acme"}); err != nil {
		t.Fatal(err)
	}
	if s.Config.Handler, err = welcome.New(welcome.Options{People: s.people, OpenID: provider{}, BaseURL: base,
		Logger: quiet}); err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// answer is a page, and the redirect of the response.
type answer struct {
	status   int
	location string
	page     string
}

// browser keeps cookies and follows no redirect.
func (s *site) browser(t *testing.T) func(method, path string, form url.Values) answer {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return func(method, path string, form url.Values) answer {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", s.URL)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var text strings.Builder
		if err := res.Write(&text); err != nil {
			t.Fatal(err)
		}
		return answer{res.StatusCode, res.Header.Get("Location"), text.String()}
	}
}

var carried = regexp.MustCompile(`<input type="hidden" name="next" value="([^"]*)">`)

// next returns the return path in the form of a page.
func (a answer) next() string {
	found := carried.FindStringSubmatch(a.page)
	if found == nil {
		return ""
	}
	return html.UnescapeString(found[1])
}

const wanted = `/emails/msg_1?q=status:failed to:"a b"&tab=log`

// wantedPath is wanted as a browser encodes it.
var wantedPath = strings.NewReplacer(" ", "%20", `"`, "%22").Replace(wanted)

// Once a user can sign in, the setup page redirects to the dashboard, because its form can no longer succeed.
func TestSetUpPageRedirectsAfterSetUp(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if got := s.browser(t)(http.MethodGet, "/setup", nil); got.status != http.StatusSeeOther || got.location != "/" {
		t.Errorf("GET /setup: %d to %q, want a redirect to /", got.status, got.location)
	}
}

// A user who was redirected to the sign-in page returns to the requested page: after a wrong password, after the second
// factor, and with each sign-in method.
func TestASignInEndsWhereItWasWanted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	key, err := s.people.CreateSecondFactor(t.Context(), s.caller(t))
	if err != nil {
		t.Fatal(err)
	}
	code, err := totp.GenerateCode(key.Secret, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	recovery, err := s.people.ActivateSecondFactor(t.Context(), s.caller(t), code)
	if err != nil {
		t.Fatal(err)
	}

	open := s.browser(t)
	first := open(http.MethodGet, "/sign-in?next="+url.QueryEscape(wantedPath), nil)
	if first.next() != wantedPath {
		t.Fatalf("the form of /sign-in?next=… carries %q, want %q:\n%s", first.next(), wantedPath, first.page)
	}
	if provider := `href="/api/session/oidc?return_to=%2femails%2fmsg_1%3fq%3d`; !strings.Contains(first.page,
		provider) {
		t.Errorf("the way in by the provider does not lead on; want %s in\n%s", provider, first.page)
	}
	if reset := `href="/reset?next=%2Femails%2Fmsg_1%3Fq%3D`; !strings.Contains(first.page, reset) {
		t.Errorf("who has forgotten the password forgets the page as well; want %s in\n%s", reset, first.page)
	}
	fields := url.Values{"email": {adasEmail}, "password": {"wrong"}, "next": {first.next()}}
	wrong := open(http.MethodPost, "/sign-in", fields)
	if wrong.status != http.StatusUnauthorized || wrong.next() != wantedPath {
		t.Errorf("after a wrong password (%d) the form carries %q, want %q", wrong.status, wrong.next(), wantedPath)
	}
	fields.Set("password", adasPassword)
	second := open(http.MethodPost, "/sign-in", fields)
	if second.status == http.StatusSeeOther || second.next() != wantedPath {
		t.Errorf("asked for the second factor (%d) the form carries %q, want %q", second.status, second.next(),
			wantedPath)
	}
	fields.Set("code", recovery[0])
	if in := open(http.MethodPost, "/sign-in", fields); in.status != http.StatusSeeOther || in.location != wantedPath {
		t.Errorf("a sign-in answers %d and leads to %q, want 303 to %q", in.status, in.location, wantedPath)
	}
	if back := open(http.MethodGet, "/sign-in?next=/queue", nil); !strings.Contains(back.page, `href="/queue"`) {
		t.Errorf("who is signed in is not shown the way to the page:\n%s", back.page)
	}

	link, err := s.people.CreateUserLink(t.Context(), accounts.Caller{}, adasEmail, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link.URL, "#")
	if in := s.browser(t)(http.MethodPost, "/sign-in", url.Values{"token": {token},
		"next": {"/queue"}}); in.location != "/queue" {
		t.Errorf("a sign-in by a link answers %d and leads to %q, want /queue", in.status, in.location)
	}
}

// caller is ada.
func (s *site) caller(t *testing.T) accounts.Caller {
	t.Helper()
	c, err := s.people.AuthenticateSession(t.Context(), s.ada.Token.Reveal(), "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A return path to another site, or to a public link that can redirect there, is replaced by the start page,
// both in the URL and in the form.
func TestASignInLeadsToNoOtherSite(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, trap := range []string{
		"//evil.example", `/\evil.example`, "https://evil.example", "https:evil.example", "javascript:alert(1)",
		"/\t/evil.example", "/%2f%2fevil.example", "/%5cevil.example",
		"/x\r\nLocation: https://evil.example", "/./%2fevil.example", tracking.Prefix + "x", unsubscribe.Prefix + "x",
		api.Prefix + "/session/oidc", "/../" + tracking.Prefix[1:] + "x",
	} {
		open := s.browser(t)
		if got := open(http.MethodGet, "/sign-in?next="+url.QueryEscape(trap), nil); got.next() != "" ||
			strings.Contains(got.page, "evil") || strings.Contains(got.page, "return_to") {
			t.Errorf("/sign-in?next=%q shows a form that carries it:\n%s", trap, got.page)
		}
		in := open(http.MethodPost, "/sign-in?next="+url.QueryEscape(trap),
			url.Values{"email": {adasEmail}, "password": {adasPassword}, "next": {trap}})
		if in.status != http.StatusSeeOther || in.location != "/" {
			t.Errorf("a sign-in that wants to go to %q answers %d and leads to %q, want 303 to /", trap, in.status,
				in.location)
		}
	}
}
