package harness

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"testing"
)

// Person is a user's browser with its cookies.
type Person struct {
	app     *App
	client  *http.Client
	Account string // the header Postrider-Account; may be empty
}

// Browser returns a browser without a session.
func (a *App) Browser(t testing.TB) *Person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Person{app: a, client: &http.Client{Jar: jar}}
}

// SignedIn returns a browser in which a user has signed in with a password.
func (a *App) SignedIn(t testing.TB, email, password string) *Person {
	t.Helper()
	p := a.Browser(t)
	if got := p.Do(t, http.MethodPost, "/api/session",
		map[string]string{"email": email, "password": password}); got.Status != http.StatusOK {
		t.Fatalf("%s cannot sign in: %d %s", email, got.Status, got.Body)
	}
	return p
}

// Do sends a request like a page of the installation. Headers alternate names and values; an empty value
// removes one.
func (p *Person) Do(t testing.TB, method, path string, body any, headers ...string) Answer {
	t.Helper()
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		content = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, p.app.BaseURL+path, content)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", p.app.BaseURL)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if p.Account != "" {
		req.Header.Set("Postrider-Account", p.Account)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
	}
	res, err := p.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{Status: res.StatusCode, Header: res.Header, Body: got}
}

// Cookies returns the cookies that the browser would send.
func (p *Person) Cookies(t testing.TB) []*http.Cookie {
	t.Helper()
	at, err := url.Parse(p.app.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	return p.client.Jar.Cookies(at)
}

var linkToken = regexp.MustCompile(`/([a-z-]+)#([0-9A-Za-z]+)`)

// LinkTo waits for the latest mail to an address whose subject contains some words, and returns the page and
// the token of its link.
func (a *App) LinkTo(t testing.TB, address, subject string) (page, token string) {
	t.Helper()
	query := url.Values{"to": {address}, "subject": {subject}, "wait": {"20s"}}
	got := a.Do(t, http.MethodGet, "/dev/inbox/latest?"+query.Encode(), nil)
	var found struct{ Mail struct{ Text string } }
	got.JSON(t, &found)
	link := linkToken.FindStringSubmatch(found.Mail.Text)
	if link == nil {
		t.Fatalf("the latest mail to %s has no link: %d %s", address, got.Status, got.Body)
	}
	return link[1], link[2]
}
