package openid

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/runtime/base/secret"
)

// stateLife is the maximum duration of a sign-in at the provider.
const stateLife = 5 * time.Minute

// pendingSignIn is a started sign-in. The browser keeps it in a cookie.
type pendingSignIn struct {
	State    string `json:"s"`
	Until    int64  `json:"t"` // Unix time
	ReturnTo string `json:"r"`
	UserID   string `json:"u,omitempty"` // the user who links the provider; empty for a sign-in
}

func newPending(returnTo, userID string, now time.Time) pendingSignIn {
	state, _ := secret.NewToken("")
	return pendingSignIn{State: state.Reveal(), Until: now.Add(stateLife).Unix(), ReturnTo: returnTo, UserID: userID}
}

// keys derive the secrets of a started sign-in. New sign-ins use the first key. The others belong to master
// keys that are being replaced.
type keys [][]byte

func computeMAC(key []byte, purpose, text string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose + "\x00" + text))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// codes are the nonce of a sign-in and its PKCE verifier (RFC 7636 section 4.1): 43 characters, 256 bits.
type codes struct{ nonce, verifier string }

func deriveCodes(key []byte, state string) codes {
	return codes{computeMAC(key, "nonce", state), computeMAC(key, "verifier", state)}
}

// seal encodes and authenticates a started sign-in as a cookie value.
func (k keys) seal(p pendingSignIn) (string, error) {
	plain, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(plain)
	return text + "." + computeMAC(k[0], "cookie", text), nil
}

var errState = errors.New("the callback is for another browser, too old, or modified")

// open verifies and decodes the cookie of a browser that returns with a state.
func (k keys) open(cookie, state string, now time.Time) (p pendingSignIn, c codes, err error) {
	text, sum, _ := strings.Cut(cookie, ".")
	for _, key := range k {
		if subtle.ConstantTimeCompare([]byte(computeMAC(key, "cookie", text)), []byte(sum)) == 0 {
			continue
		}
		plain, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			return p, c, errState
		}
		if err := json.Unmarshal(plain, &p); err != nil {
			return p, c, errState
		}
		if subtle.ConstantTimeCompare([]byte(p.State), []byte(state)) == 0 || now.Unix() >= p.Until {
			return p, c, errState
		}
		return p, deriveCodes(key, p.State), nil
	}
	return p, c, errState
}

func cookieName(baseURL string) string { return admission.CookieName(baseURL) + "-oidc" }

// newCookie returns the cookie of a started sign-in, or one that deletes it if value is empty. SameSite=Lax
// lets the browser send it when the provider redirects back.
func newCookie(baseURL, value string) *http.Cookie {
	cookie := admission.Cookie(baseURL, value)
	cookie.Name = cookieName(baseURL)
	if value != "" {
		cookie.MaxAge = int(stateLife.Seconds())
	}
	return cookie
}

// findCookie returns the cookie's value from a Cookie header, or "" if it does not occur exactly once.
func findCookie(baseURL, header string) string {
	r := http.Request{Header: http.Header{"Cookie": {header}}}
	found := r.CookiesNamed(cookieName(baseURL))
	if len(found) != 1 {
		return ""
	}
	return found[0].Value
}
