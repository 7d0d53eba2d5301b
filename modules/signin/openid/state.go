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

// stateLife is the maximum time between Begin and Finish.
const stateLife = 5 * time.Minute

// pending is a sign-in that has begun, as its browser keeps it.
type pending struct {
	State    string `json:"s"`
	Until    int64  `json:"t"` // seconds since 1970
	ReturnTo string `json:"r"`
	UserID   string `json:"u,omitempty"` // who links the provider; empty: somebody signs in
}

func newPending(returnTo, userID string, now time.Time) pending {
	state, _ := secret.NewToken("")
	return pending{State: state.Reveal(), Until: now.Add(stateLife).Unix(), ReturnTo: returnTo, UserID: userID}
}

// keys make what only this installation knows of a sign-in that has begun. The first one is used; the
// others are of master keys that are being replaced.
type keys [][]byte

func mac(key []byte, purpose, text string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose + "\x00" + text))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// codes are the nonce of a sign-in, and its verifier of RFC 7636 section 4.1: 43 characters, 256 bits.
type codes struct{ nonce, verifier string }

func codesOf(key []byte, state string) codes {
	return codes{mac(key, "nonce", state), mac(key, "verifier", state)}
}

// seal writes a sign-in down for its browser.
func (k keys) seal(p pending) (string, error) {
	plain, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(plain)
	return text + "." + mac(k[0], "cookie", text), nil
}

var errState = errors.New("the answer is not for this browser, is too old, or was changed")

// open reads the cookie of a browser that has come back with a state.
func (k keys) open(cookie, state string, now time.Time) (p pending, c codes, err error) {
	text, sum, _ := strings.Cut(cookie, ".")
	for _, key := range k {
		if subtle.ConstantTimeCompare([]byte(mac(key, "cookie", text)), []byte(sum)) == 0 {
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
		return p, codesOf(key, p.State), nil
	}
	return p, c, errState
}

func cookieName(baseURL string) string { return admission.CookieName(baseURL) + "-oidc" }

// newCookie makes the cookie of a sign-in that has begun, or takes it away. A browser sends it also when
// the provider sends the browser back, which is a navigation (SameSite=Lax).
func newCookie(baseURL, value string) *http.Cookie {
	cookie := admission.Cookie(baseURL, value)
	cookie.Name = cookieName(baseURL)
	if value != "" {
		cookie.MaxAge = int(stateLife.Seconds())
	}
	return cookie
}

// pick finds the cookie in a header Cookie; two of its name are none.
func pick(baseURL, header string) string {
	r := http.Request{Header: http.Header{"Cookie": {header}}}
	found := r.CookiesNamed(cookieName(baseURL))
	if len(found) != 1 {
		return ""
	}
	return found[0].Value
}
