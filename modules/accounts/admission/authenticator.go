package admission

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/web/clientip"
)

// HeaderAccount is the header that selects the account of a request with a session cookie or an operator key.
const HeaderAccount = accounts.HeaderAccount

// Keys authenticates API keys. The bearer token is passed without the word Bearer, along with the address of
// the client, which is zero if unknown.
type Keys interface {
	Authenticate(ctx context.Context, bearer string, from netip.Addr) (accounts.Caller, error)
}

// OperatorKeys authenticates operator keys for an account. An empty account id means none.
type OperatorKeys interface {
	AuthenticateOperator(ctx context.Context, bearer string, from netip.Addr, accountID string) (accounts.Caller, error)
}

var _ OperatorKeys = (*accounts.Service)(nil)

// Sessions authenticates session cookies for an account. An empty account id selects the account of the
// session.
type Sessions interface {
	AuthenticateSession(ctx context.Context, token, accountID string) (accounts.Caller, error)
}

// Authenticator authenticates requests. The zero value rejects every request.
type Authenticator struct {
	keys      Keys
	operators OperatorKeys // nil if keys refuses operator keys
	sessions  Sessions     // nil if users cannot sign in
	proxies   []netip.Prefix
	cookie    string
	origins   []string
	guard     *http.CrossOriginProtection
}

// The names of the session cookie. A browser accepts the first one only over TLS, from this host, and for all
// paths (RFC 6265bis section 4.1.3.2).
const (
	cookieSecure = "__Host-postrider"
	cookiePlain  = "postrider"
)

// CookieName returns the name of the session cookie under a base URL.
func CookieName(baseURL string) string {
	if strings.HasPrefix(baseURL, "https://") {
		return cookieSecure
	}
	return cookiePlain
}

// New returns a new Authenticator. sessions may be nil. proxies are the proxies whose X-Forwarded-For is trusted.
// origins are the URLs that serve pages of this installation, the base URL first.
func New(keys Keys, sessions Sessions, proxies []netip.Prefix, origins ...string) (*Authenticator, error) {
	d := &Authenticator{keys: keys, sessions: sessions, proxies: proxies, guard: http.NewCrossOriginProtection()}
	d.operators, _ = keys.(OperatorKeys)
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

// Authenticate authenticates a request and returns its caller. Errors: Unauthorized; Conflict with a Location for an
// API key of an account that has moved (see Forward); Forbidden for a request from another site, from an address that
// the API key does not allow, or with an API key and an account; NotFound for an account that the user does not belong
// to; Invalid for a malformed account; Unavailable.
func (d *Authenticator) Authenticate(r *http.Request) (accounts.Caller, error) {
	if _, given := r.Header["Authorization"]; given || d.sessions == nil {
		return d.authenticateKey(r)
	}
	token, err := d.Token(r)
	if err != nil {
		return accounts.Caller{}, err
	}
	if err := d.RequireSameSite(r); err != nil {
		return accounts.Caller{}, err
	}
	accountID, err := accountOf(r)
	if err != nil {
		return accounts.Caller{}, err
	}
	return inMode(r)(d.sessions.AuthenticateSession(r.Context(), token, accountID))
}

// The values of the header for the mode.
const (
	ModeLive = "live"
	ModeTest = "test"
)

// inMode passes on a caller in the mode that a request names, which is live by default. Error: Invalid.
func inMode(r *http.Request) func(accounts.Caller, error) (accounts.Caller, error) {
	return func(c accounts.Caller, err error) (accounts.Caller, error) {
		wanted, given := r.Header[accounts.HeaderMode]
		switch {
		case err != nil || !given || len(wanted) == 1 && wanted[0] == ModeLive:
			return c, err
		case len(wanted) > 1 || wanted[0] != ModeTest:
			return accounts.Caller{}, fault.InvalidField(accounts.HeaderMode, "must be one of live, test")
		}
		c.AccountID = id.TestTenantOf(c.AccountID)
		return c, nil
	}
}

// authenticateKey authenticates an API key, or an operator key for the account that the request names.
func (d *Authenticator) authenticateKey(r *http.Request) (accounts.Caller, error) {
	bearer, err := accounts.Bearer(r.Header)
	if err != nil {
		return accounts.Caller{}, err
	}
	from := clientip.From(r, d.proxies)
	if d.operators != nil && accounts.IsOperatorSecret(bearer) {
		if caller, err := d.authenticateOperator(r, bearer, from); fault.KindOf(err) != fault.Unauthorized {
			return caller, err
		} // an API key can begin with the same characters by chance
	}
	caller, err := d.keys.Authenticate(r.Context(), bearer, from)
	if _, given := r.Header[accounts.HeaderMode]; given && err == nil {
		return accounts.Caller{}, fault.Forbiddenf(fault.CodeInsufficientScope,
			"An API key has one mode: remove the header %s, which only operator keys and sessions can use",
			accounts.HeaderMode)
	}
	if _, given := r.Header[HeaderAccount]; given && err == nil {
		return accounts.Caller{}, fault.Forbiddenf(fault.CodeInsufficientScope,
			"An API key belongs to one account: remove the header %s, which only operator keys and sessions can use",
			HeaderAccount)
	}
	if err == nil {
		err = RequireHere(r, caller)
	}
	if err != nil {
		return accounts.Caller{}, err
	}
	return caller, nil
}

func (d *Authenticator) authenticateOperator(r *http.Request, bearer string,
	from netip.Addr) (accounts.Caller, error) {
	// First without the account, so that only a valid key learns whether an account exists.
	caller, err := d.operators.AuthenticateOperator(r.Context(), bearer, from, "")
	if err != nil {
		return accounts.Caller{}, err
	}
	accountID, err := accountOf(r)
	if err != nil || accountID == "" {
		return caller, err
	}
	return inMode(r)(d.operators.AuthenticateOperator(r.Context(), bearer, from, accountID))
}

// accountOf returns the account that a request names, or "" if it names none. Error: Invalid.
func accountOf(r *http.Request) (string, error) {
	wanted, given := r.Header[HeaderAccount]
	switch {
	case !given:
		return "", nil
	case len(wanted) > 1:
		return "", fault.InvalidField(HeaderAccount, "cannot be sent more than once")
	case wanted[0] == "":
		return "", fault.InvalidField(HeaderAccount, "cannot be empty")
	case !id.Is(id.Account, wanted[0]):
		return "", fault.InvalidField(HeaderAccount, "must be the id of an account")
	}
	return wanted[0], nil
}

const maxToken = 256 // bytes

// Token returns the session cookie of a request. Two cookies of that name are rejected, because they are
// ambiguous. Error: Unauthorized.
func (d *Authenticator) Token(r *http.Request) (string, error) {
	found := r.CookiesNamed(d.cookie)
	if d.cookie == "" || len(found) != 1 || found[0].Value == "" || len(found[0].Value) > maxToken {
		return "", fault.Unauthenticated()
	}
	return found[0].Value, nil
}

// RequireSameSite returns an error if a state-changing request does not come from a page of this
// installation. The standard library allows requests with neither header, and origins with another scheme.
// RequireSameSite rejects those first.
func (d *Authenticator) RequireSameSite(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	origins := r.Header.Values("Origin")
	ours := len(origins) == 1 && slices.Contains(d.origins, origins[0])
	if !ours && r.Header.Get("Sec-Fetch-Site") != "same-origin" || d.guard.Check(r) != nil {
		return ErrCrossOrigin()
	}
	return nil
}

// RejectForeign returns an error if a browser sent the request from a page of another site. It accepts
// requests of programs, which have neither header, because they carry no cookie.
func (d *Authenticator) RejectForeign(r *http.Request) error {
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && !slices.Contains(d.origins, origins[0]) || d.guard.Check(r) != nil {
		return ErrCrossOrigin()
	}
	return nil
}

// ErrCrossOrigin is the error for a request from a page of another site.
func ErrCrossOrigin() *fault.Error {
	return fault.Forbiddenf(fault.CodeCrossOrigin,
		"A request with a session cookie must come from a page of this installation: its Origin must be the base URL")
}

// Cookie returns the session cookie to set under a base URL. An empty value deletes the cookie.
func Cookie(baseURL, value string) *http.Cookie {
	cookie := &http.Cookie{Name: CookieName(baseURL), Value: value, Path: "/", HttpOnly: true,
		Secure:   strings.HasPrefix(baseURL, "https://"),
		SameSite: http.SameSiteLaxMode, MaxAge: cookieLife}
	if value == "" {
		cookie.MaxAge = -1
	}
	return cookie
}

const cookieLife = 30 * 24 * 60 * 60 // seconds; the session itself may end earlier

// DeviceLife is how long a browser is recognized after a sign-in.
const DeviceLife = 180 * 24 * time.Hour

// devicePaths are the paths on which people sign in. Other paths do not receive the device cookie.
var devicePaths = []string{"/api", "/sign-in", "/reset", "/email", "/invite"}

// deviceName returns the name of the device cookie, which identifies a browser. The cookie does not
// authenticate its holder.
func deviceName(baseURL string) string {
	if strings.HasPrefix(baseURL, "https://") {
		return "__Secure-postrider-device"
	}
	return "postrider-device"
}

// DeviceCookies returns the cookies that identify a browser after a sign-in.
func DeviceCookies(baseURL, value string) []*http.Cookie {
	list := make([]*http.Cookie, len(devicePaths))
	for i, path := range devicePaths {
		list[i] = &http.Cookie{Name: deviceName(baseURL), Value: value, Path: path, HttpOnly: true,
			Secure:   strings.HasPrefix(baseURL, "https://"),
			SameSite: http.SameSiteLaxMode, MaxAge: int(DeviceLife.Seconds())}
	}
	return list
}

// Device returns the device cookie of a request, or "" if there is none.
func Device(r *http.Request, baseURL string) string {
	for _, cookie := range r.CookiesNamed(deviceName(baseURL)) {
		return cookie.Value
	}
	return ""
}
