package admission

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
)

// HeaderAccount names the account that a request by cookie is for.
const HeaderAccount = "Postrider-Account"

// Keys tells who the bearer of a key is, without the word Bearer.
type Keys interface {
	Authenticate(ctx context.Context, bearer string) (accounts.Caller, error)
}

// Sessions tells who has the cookie of a session, in the account of the id; empty: in the one that
// the session is in.
type Sessions interface {
	Person(ctx context.Context, token, accountID string) (accounts.Caller, error)
}

// Door tells who comes in. Its zero value lets nobody in.
type Door struct {
	keys     Keys
	sessions Sessions // nil: nobody signs in here
	cookie   string
	origins  []string
	guard    *http.CrossOriginProtection
}

// The names of the cookie. A browser takes the first one over TLS only, from this host only, for
// all paths (RFC 6265bis section 4.1.3.2).
const (
	cookieSecure = "__Host-postrider"
	cookiePlain  = "postrider"
)

// CookieName is the name of the session's cookie under a base URL.
func CookieName(baseURL string) string {
	if strings.HasPrefix(baseURL, "https://") {
		return cookieSecure
	}
	return cookiePlain
}

// New makes a Door. sessions may be nil. origins are the URLs under which pages of this
// installation are served, the base URL first.
func New(keys Keys, sessions Sessions, origins ...string) (*Door, error) {
	d := &Door{keys: keys, sessions: sessions, guard: http.NewCrossOriginProtection()}
	for _, origin := range origins {
		if origin = strings.TrimSuffix(origin, "/"); origin == "" {
			continue
		}
		if err := d.guard.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
		d.origins = append(d.origins, origin)
	}
	if len(d.origins) > 0 {
		d.cookie = CookieName(d.origins[0])
	}
	return d, nil
}

// Who tells who makes a request. Errors: Unauthorized; Forbidden for a request from another site;
// NotFound for an account that the person does not belong to; Away.
func (d *Door) Who(r *http.Request) (accounts.Caller, error) {
	if _, given := r.Header["Authorization"]; given || d.sessions == nil {
		bearer, err := accounts.Bearer(r.Header)
		if err != nil {
			return accounts.Caller{}, err
		}
		return d.keys.Authenticate(r.Context(), bearer)
	}
	token, err := d.Token(r)
	if err != nil {
		return accounts.Caller{}, err
	}
	if err := d.SameSite(r); err != nil {
		return accounts.Caller{}, err
	}
	wanted := r.Header.Values(HeaderAccount)
	switch {
	case len(wanted) > 1:
		return accounts.Caller{}, fault.InvalidField(HeaderAccount, "is given more than once")
	case len(wanted) == 1 && wanted[0] == "":
		return accounts.Caller{}, fault.InvalidField(HeaderAccount, "is empty")
	case len(wanted) == 1 && !id.Is(id.Account, wanted[0]):
		return accounts.Caller{}, fault.InvalidField(HeaderAccount, "is no id of an account")
	case len(wanted) == 1:
		return d.sessions.Person(r.Context(), token, wanted[0])
	}
	return d.sessions.Person(r.Context(), token, "")
}

const maxToken = 256 // octets

// Token is the cookie of a request's session. Two of its name are none: which of them was meant is
// not for us to guess. Error: Unauthorized.
func (d *Door) Token(r *http.Request) (string, error) {
	found := r.CookiesNamed(d.cookie)
	if d.cookie == "" || len(found) != 1 || found[0].Value == "" || len(found[0].Value) > maxToken {
		return "", fault.Unauthenticated()
	}
	return found[0].Value, nil
}

// SameSite refuses a request that may change something and does not come from a page of this
// installation. The standard library lets requests pass that have neither header, and origins of
// another scheme; those are refused here first.
func (d *Door) SameSite(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	origins := r.Header.Values("Origin")
	ours := len(origins) == 1 && slices.Contains(d.origins, origins[0])
	if !ours && r.Header.Get("Sec-Fetch-Site") != "same-origin" || d.guard.Check(r) != nil {
		return CrossOrigin()
	}
	return nil
}

// Foreign refuses a request that a browser sends from a page of another site. A request by a
// program, which says nothing of where it comes from, passes: it carries no cookie.
func (d *Door) Foreign(r *http.Request) error {
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && !slices.Contains(d.origins, origins[0]) || d.guard.Check(r) != nil {
		return CrossOrigin()
	}
	return nil
}

// CrossOrigin is what a page of another site is told.
func CrossOrigin() *fault.Error {
	return fault.Forbiddenf(fault.CodeCrossOrigin, "A request by cookie must come from a page of this installation: its Origin must be the base URL")
}

// Cookie is what a browser is given under a base URL; an empty value takes it away.
func Cookie(baseURL, value string) *http.Cookie {
	cookie := &http.Cookie{Name: CookieName(baseURL), Value: value, Path: "/", HttpOnly: true, Secure: strings.HasPrefix(baseURL, "https://"),
		SameSite: http.SameSiteLaxMode, MaxAge: cookieLife}
	if value == "" {
		cookie.MaxAge = -1
	}
	return cookie
}

const cookieLife = 30 * 24 * 60 * 60 // seconds; the session itself may end before

// DeviceLife is how long a browser is known after a sign-in.
const DeviceLife = 180 * 24 * time.Hour

// devicePaths are where people show who they are: nothing else of the installation gets the cookie of a
// browser that is known.
var devicePaths = []string{"/api", "/sign-in", "/reset", "/email", "/invite"}

// deviceName is the name of the cookie of a browser that is known. It signs nobody in.
func deviceName(baseURL string) string {
	if strings.HasPrefix(baseURL, "https://") {
		return "__Secure-postrider-device"
	}
	return "postrider-device"
}

// DeviceCookies are what a browser keeps in which somebody has signed in, so that it is known the next time.
func DeviceCookies(baseURL, value string) []*http.Cookie {
	list := make([]*http.Cookie, len(devicePaths))
	for i, path := range devicePaths {
		list[i] = &http.Cookie{Name: deviceName(baseURL), Value: value, Path: path, HttpOnly: true, Secure: strings.HasPrefix(baseURL, "https://"),
			SameSite: http.SameSiteLaxMode, MaxAge: int(DeviceLife.Seconds())}
	}
	return list
}

// Device is the cookie by which the browser of a request may be known; empty: there is none.
func Device(r *http.Request, baseURL string) string {
	for _, cookie := range r.CookiesNamed(deviceName(baseURL)) {
		return cookie.Value
	}
	return ""
}
