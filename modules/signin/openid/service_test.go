package openid_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/openid"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

// world is an installation with an OpenID Connect provider. Its operator is ada.
type world struct {
	*openid.Service

	db        *db.DB
	accounts  *accounts.Service
	teams     *team.Service
	people    *signin.Service
	box       *secret.Box
	ada       signin.NewSession
	mock      *mockoidc.MockOIDC
	config    openid.Config
	editToken func(answer map[string]any) // modifies responses of the token endpoint; may be nil
}

const base = "https://mail.example.com"

func newWorld(t *testing.T, change ...func(*openid.Config)) *world {
	t.Helper()
	w := &world{db: dbtest.New(t)}
	var err error
	if w.box, err = secret.NewBox(secret.NewKey()); err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	if w.accounts, err = accounts.New(accounts.Params{DB: w.db,
		Cursors: page.NewCodec([]byte("sixteen bytes or more")), Logger: quiet}); err != nil {
		t.Fatal(err)
	}
	w.teams = team.New(team.Params{DB: w.db, Accounts: w.accounts})
	if w.people, err = signin.New(signin.Params{Config: signin.Config{BaseURL: base, Passwords: true}, DB: w.db,
		Accounts: w.accounts, Teams: w.teams, Box: w.box, Logger: quiet}); err != nil {
		t.Fatal(err)
	}
	link, err := w.people.SetUpLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link, "#")
	if w.ada, err = w.people.SetUp(t.Context(),
		signin.SetUpInput{Token: token, Email: "ada@example.com", Password: "green paper horses run",
			AccountName: "Acme"}); err != nil {
		t.Fatal(err)
	}
	if w.mock, err = mockoidc.NewServer(nil); err != nil {
		t.Fatal(err)
	}
	if err := w.mock.AddMiddleware(w.editTokenResponses); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.mock.Start(listener, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.mock.Server.Close(); err != nil {
			t.Errorf("closing the provider: %v", err)
		}
	})
	w.config = openid.Config{Issuer: w.mock.Issuer(), ClientID: w.mock.ClientID,
		ClientSecret: secret.New(w.mock.ClientSecret), Name: "Mock", BaseURL: base}
	for _, c := range change {
		c(&w.config)
	}
	w.Service = w.newService(w.config)
	return w
}

func (w *world) newService(c openid.Config) *openid.Service {
	return openid.New(openid.Params{Config: c, DB: w.db, People: w.people, Box: w.box,
		Logger: slog.New(slog.DiscardHandler)})
}

// editTokenResponses lets a test modify the responses of the token endpoint.
func (w *world) editTokenResponses(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.editToken == nil || r.URL.Path != mockoidc.TokenEndpoint {
			next.ServeHTTP(rw, r)
			return
		}
		kept := httptest.NewRecorder()
		next.ServeHTTP(kept, r)
		var answer map[string]any
		if err := json.Unmarshal(kept.Body.Bytes(), &answer); err == nil && kept.Code == http.StatusOK {
			w.editToken(answer)
		}
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(kept.Code)
		_ = json.NewEncoder(rw).Encode(answer)
	})
}

// providerUser is a user of the provider, represented by the claims of their ID token. A nil value removes a
// claim.
type providerUser jwt.MapClaims

func newBob(change providerUser) providerUser {
	who := providerUser{"sub": "bob-1", "email": "bob@example.com", "email_verified": true, "name": "Bob"}
	maps.Copy(who, change)
	return who
}

func (s providerUser) ID() string { return "bob-1" }

func (s providerUser) Userinfo([]string) ([]byte, error) {
	return json.Marshal(map[string]any{"sub": s["sub"], "name": "Somebody"})
}

func (s providerUser) Claims(_ []string, b *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	all := jwt.MapClaims{"iss": b.Issuer, "aud": b.Audience, "exp": b.ExpiresAt, "iat": b.IssuedAt, "nonce": b.Nonce}
	maps.Copy(all, jwt.MapClaims(s))
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	return all, nil
}

// visitProvider sends a browser, signed in as who, to the provider and returns the callback.
func (w *world) visitProvider(t *testing.T, d openid.AuthRequest, who providerUser) openid.Callback {
	t.Helper()
	w.mock.QueueUser(who)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	back, err := url.Parse(res.Header.Get("Location"))
	if err != nil || !strings.HasPrefix(back.String(), base+openid.PathCallback) {
		t.Fatalf("the provider returned status %d and a redirect to %q, want the callback", res.StatusCode, back)
	}
	return openid.Callback{State: back.Query().Get("state"), Code: back.Query().Get("code"), Cookies: d.Cookie.Name +
		"=" + d.Cookie.Value}
}

func (w *world) beginSignIn(t *testing.T) openid.AuthRequest {
	t.Helper()
	d, err := w.BeginSignIn(t.Context(), "/emails")
	if err != nil {
		t.Fatalf("Begin: %v", err)
	}
	return d
}

func (w *world) signIn(t *testing.T, who providerUser) (openid.CallbackResult, error) {
	t.Helper()
	return w.HandleCallback(t.Context(), w.visitProvider(t, w.beginSignIn(t), who))
}

func wantProblem(t *testing.T, what string, err error, want openid.SignInError) {
	t.Helper()
	if err == nil || openid.ProblemOf(err) != want {
		t.Errorf("%s: error %v, want problem %q", what, err, want)
	}
}

func (w *world) createUser(t *testing.T, email string) {
	t.Helper()
	if _, err := w.teams.CreateUser(t.Context(), accounts.Caller{}, email, "", nil); err != nil {
		t.Fatal(err)
	}
}

func TestFindsUserBySubjectThenEmail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.createUser(t, "bob@example.com")
	first, err := w.signIn(t, newBob(nil))
	if err != nil || first.Entered == nil || first.ReturnTo != "/emails" || first.Entered.Session.Method != "oidc" ||
		first.Entered.Session.SecondFactor {
		t.Fatalf("bob's first sign-in returned %+v, %v; want an oidc session and ReturnTo /emails", first, err)
	}
	again, err := w.signIn(t, newBob(providerUser{"email": "robert@example.com", "email_verified": false,
		"amr": []string{"pwd", "mfa"}}))
	if err != nil || again.Entered.User.ID != first.Entered.User.ID || !again.Entered.Session.SecondFactor {
		t.Errorf("bob's sign-in with another email returned %+v, %v; want the same user and a second factor",
			again.Entered, err)
	}
	other, err := w.signIn(t, newBob(providerUser{"sub": "bob-2"}))
	wantProblem(t, "another subject with bob's email", err, openid.OtherSubject)
	if other.ReturnTo != "/emails" || other.Entered != nil {
		t.Errorf("another subject with bob's email got %+v, want no session and ReturnTo /emails", other)
	}
	disabled := true
	if _, err := w.teams.ChangeAsOperator(t.Context(), accounts.Caller{}, "bob@example.com",
		team.UserChange{Disabled: &disabled}); err != nil {
		t.Fatal(err)
	}
	_, err = w.signIn(t, newBob(nil))
	wantProblem(t, "disabled bob", err, openid.Disabled)
}

func TestValidatesProviderResponses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.createUser(t, "bob@example.com")
	for name, test := range map[string]struct {
		who  providerUser
		want openid.SignInError
	}{
		"another nonce":                   {newBob(providerUser{"nonce": "x"}), openid.Untrusted},
		"no nonce":                        {newBob(providerUser{"nonce": nil}), openid.Untrusted},
		"another audience":                {newBob(providerUser{"aud": "other-client"}), openid.Untrusted},
		"two audiences without azp":       {newBob(providerUser{"aud": []string{w.mock.ClientID, "other-client"}}), openid.Untrusted},
		"issued for another party":        {newBob(providerUser{"azp": "other-client"}), openid.Untrusted},
		"another issuer":                  {newBob(providerUser{"iss": w.mock.Issuer() + "/"}), openid.Untrusted},
		"expired":                         {newBob(providerUser{"exp": time.Now().Add(-time.Hour).Unix()}), openid.Untrusted},
		"no subject":                      {newBob(providerUser{"sub": nil}), openid.Untrusted},
		"another access token":            {newBob(providerUser{"at_hash": "x"}), openid.Untrusted},
		"no email":                        {newBob(providerUser{"email": nil}), openid.NoEmail},
		"an invalid email":                {newBob(providerUser{"email": "bob"}), openid.NoEmail},
		"email not verified":              {newBob(providerUser{"email_verified": false}), openid.Unverified},
		"email not verified, as a string": {newBob(providerUser{"email_verified": "false"}), openid.Unverified},
		"email_verified as a number":      {newBob(providerUser{"email_verified": 1}), openid.Unverified},
		"no email_verified":               {newBob(providerUser{"email_verified": nil}), openid.Unverified},
		"an operator's email":             {newBob(providerUser{"email": "ADA@example.com"}), openid.Operator},
		"an unknown user":                 {newBob(providerUser{"email": "eve@example.com"}), openid.Unknown},
	} {
		_, err := w.signIn(t, test.who)
		wantProblem(t, name, err, test.want)
	}
	w.editToken = func(answer map[string]any) {
		parts := strings.Split(answer["id_token"].(string), ".")
		answer["id_token"] = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + parts[1] + "."
	}
	_, err := w.signIn(t, newBob(nil))
	wantProblem(t, "a token without signature", err, openid.Untrusted)
	w.editToken = func(answer map[string]any) { delete(answer, "id_token") }
	_, err = w.signIn(t, newBob(nil))
	wantProblem(t, "a response without ID token", err, openid.Untrusted)
	w.editToken = nil
	if _, err := w.signIn(t, newBob(providerUser{"email_verified": "true"})); err != nil {
		t.Errorf("email_verified as the string true: %v, want success", err)
	}
	trusting := w.config
	trusting.TrustEmail = true
	w.Service = w.newService(trusting)
	w.createUser(t, "carol@example.com")
	_, err = w.signIn(t, newBob(providerUser{"sub": "carol", "email": "carol@example.com", "email_verified": "false"}))
	wantProblem(t, "an unverified email with TrustEmail", err, openid.Unverified)
	if _, err := w.signIn(t, newBob(providerUser{"sub": "carol", "email": "carol@example.com",
		"email_verified": nil})); err != nil {
		t.Errorf("no email_verified with TrustEmail: %v, want success", err)
	}
}

func TestCallbackWorksOnceInItsBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.createUser(t, "bob@example.com")
	d := w.beginSignIn(t)
	if got, err := url.Parse(d.URL); err != nil || got.Query().Get("code_challenge_method") != "S256" || got.Query().
		Get("nonce") == "" || strings.Contains(d.Cookie.Value, got.Query().Get("nonce")) {
		t.Errorf("the redirect is %s, want PKCE with S256 and a nonce that is not in the cookie", d.URL)
	}
	if !d.Cookie.HttpOnly || !d.Cookie.Secure || d.Cookie.SameSite != http.SameSiteLaxMode ||
		!strings.HasPrefix(d.Cookie.Name, "__Host-") || d.Cookie.MaxAge != 300 {
		t.Errorf("the cookie is %s, want a __Host- cookie with HttpOnly for 5 minutes", d.Cookie)
	}
	back, other := w.visitProvider(t, d, newBob(nil)), w.visitProvider(t, w.beginSignIn(t), newBob(nil))
	wrong := func(what string, change func(*openid.Callback), want openid.SignInError) {
		t.Helper()
		r := back
		change(&r)
		_, err := w.HandleCallback(t.Context(), r)
		wantProblem(t, what, err, want)
	}
	wrong("another state", func(r *openid.Callback) { r.State = other.State }, openid.InvalidState)
	wrong("the cookie of another browser", func(r *openid.Callback) { r.Cookies = other.Cookies }, openid.InvalidState)
	wrong("a browser without the cookie", func(r *openid.Callback) { r.Cookies = "" }, openid.InvalidState)
	wrong("a browser with two such cookies", func(r *openid.Callback) { r.Cookies += "; " + other.Cookies },
		openid.InvalidState)
	wrong("an error of the provider", func(r *openid.Callback) { r.Code, r.Problem = "", "access_denied" },
		openid.Refused)
	wrong("the response of another issuer", func(r *openid.Callback) { r.Issuer = "https://other.example" },
		openid.Untrusted)
	wrong("an invalid code", func(r *openid.Callback) { r.Code = "x" }, openid.Untrusted)
	wrong("the code of another sign-in (PKCE)", func(r *openid.Callback) { r.Code = other.Code }, openid.Untrusted)
	if _, err := w.HandleCallback(t.Context(), back); err != nil {
		t.Fatalf("bob's callback after the rejected ones: %v, want success", err)
	}
	wrong("the same callback again", func(*openid.Callback) {}, openid.Untrusted)
	session, err := w.mock.SessionStore.GetSessionByID(back.Code)
	if err != nil {
		t.Fatal(err)
	}
	session.Granted = false // the provider accepts the code again
	wrong("the same callback again, with a provider that accepts a code twice", func(*openid.Callback) {},
		openid.InvalidState)
}

func TestNewUserNeedsInvitationOrJoin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	caller, err := w.people.AuthenticateSession(t.Context(), w.ada.Token.Reveal(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.teams.Invite(t.Context(), caller,
		team.NewInvitation{Email: "bob@example.com", Role: rights.RoleDeveloper}); err != nil {
		t.Fatal(err)
	}
	got, err := w.signIn(t, newBob(nil))
	if err != nil || len(got.Entered.Memberships) != 1 || got.Entered.Memberships[0].Role != rights.RoleDeveloper ||
		got.Entered.User.Name != "Bob" {
		t.Fatalf("invited bob signed in as %+v, %v; want a developer named Bob", got.Entered, err)
	}
	if open, err := w.teams.Invitations(t.Context(), caller.AccountID); err != nil || len(open) != 0 {
		t.Errorf("%d invitations are open after the acceptance (error %v), want 0", len(open), err)
	}
	joining := w.config
	joining.Join = openid.Join{AccountID: caller.AccountID, Role: rights.RoleViewer}
	w.Service = w.newService(joining)
	carol := newBob(providerUser{"sub": "carol", "email": "carol@example.com"})
	if got, err = w.signIn(t, carol); err != nil || len(got.Entered.Memberships) != 1 ||
		got.Entered.Memberships[0].Role != rights.RoleViewer {
		t.Fatalf("new user carol signed in as %+v, %v; want a viewer", got.Entered, err)
	}
	if err := w.teams.Remove(t.Context(), caller, got.Entered.User.ID); err != nil {
		t.Fatal(err)
	}
	if got, err = w.signIn(t, carol); err != nil || len(got.Entered.Memberships) != 0 {
		t.Errorf("removed member carol signed in as %+v, %v; want no membership", got.Entered, err)
	}
	_, err = w.signIn(t, newBob(providerUser{"sub": "dan", "email": "dan@example.com", "email_verified": false}))
	wantProblem(t, "a new user without a verified email", err, openid.Unverified)
}

func TestOperatorLinksProviderWhileSignedIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	caller, err := w.people.AuthenticateSession(t.Context(), w.ada.Token.Reveal(), "")
	if err != nil {
		t.Fatal(err)
	}
	old := caller
	person := *caller.Person
	person.ConfirmedAt = time.Now().Add(-accounts.ConfirmedFor)
	old.Person = &person
	if _, err := w.BeginLink(t.Context(), old); err == nil {
		t.Error("BeginLink accepted a session without a recent confirmation")
	}
	ada := newBob(providerUser{"sub": "ada", "email": nil})
	link := func(c accounts.Caller, who providerUser) error {
		d, err := w.BeginLink(t.Context(), caller)
		if err != nil {
			t.Fatal(err)
		}
		back := w.visitProvider(t, d, who)
		back.Caller = c
		_, err = w.HandleCallback(t.Context(), back)
		return err
	}
	wantProblem(t, "a browser that is no longer signed in", link(accounts.Caller{}, ada), openid.SignedOut)
	if err := link(caller, ada); err != nil {
		t.Fatalf("ada linking the provider: %v", err)
	}
	if got, err := w.signIn(t, ada); err != nil || got.Entered.User.Email != "ada@example.com" {
		t.Errorf("a sign-in after linking returned %+v, %v; want ada", got.Entered, err)
	}
	w.createUser(t, "bob@example.com")
	if _, err := w.signIn(t, newBob(nil)); err != nil {
		t.Fatal(err)
	}
	wantProblem(t, "ada with bob's subject", link(caller, newBob(nil)), openid.SubjectTaken)
	if err := w.Unlink(t.Context(), caller); err != nil {
		t.Fatal(err)
	}
	_, err = w.signIn(t, ada)
	wantProblem(t, "ada after unlinking the provider", err, openid.NoEmail)
}

func TestConcurrentFirstSignInsCreateOneUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Join = openid.Join{AccountID: w.ada.Memberships[0].AccountID, Role: rights.RoleViewer}
	w.Service = w.newService(w.config)
	const n = 4
	var backs [n]openid.Callback
	for i := range backs {
		backs[i] = w.visitProvider(t, w.beginSignIn(t), newBob(nil))
	}
	var all sync.WaitGroup
	var users [n]string
	for i, back := range backs {
		all.Go(func() {
			got, err := w.HandleCallback(context.WithoutCancel(t.Context()), back)
			if err != nil {
				t.Errorf("one of %d concurrent first sign-ins: %v, want success", n, err)
				return
			}
			users[i] = got.Entered.User.ID
		})
	}
	all.Wait()
	for _, user := range users {
		if user != users[0] {
			t.Errorf("concurrent first sign-ins created users %v, want one", users)
		}
	}
}

func TestRetriesUnavailableProvider(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var up bool
	var mu sync.Mutex
	server := &http.Server{ReadHeaderTimeout: time.Second,
		Handler: http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if !up {
				rw.WriteHeader(http.StatusBadGateway)
				return
			}
			issuer := "http://" + listener.Addr().String()
			rw.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(rw).Encode(map[string]string{"issuer": issuer, "authorization_endpoint": issuer + "/a",
				"token_endpoint": issuer + "/t", "jwks_uri": issuer + "/k"})
		})}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	w.config.Issuer = "http://" + listener.Addr().String()
	w.Service = w.newService(w.config)
	_, err = w.BeginSignIn(t.Context(), "/")
	wantProblem(t, "a provider that returns 502", err, openid.ProviderUnavailable)
	mu.Lock()
	up = true
	mu.Unlock()
	expect.EventuallyWithin(t, 20*time.Second, "Begin succeeds after the provider has recovered", func() bool {
		_, err := w.BeginSignIn(t.Context(), "/")
		return err == nil
	})
	w.config.Issuer += "/"
	_, err = w.newService(w.config).BeginSignIn(t.Context(), "/")
	wantProblem(t, "an issuer that differs by a slash", err, openid.ProviderUnavailable)
}
