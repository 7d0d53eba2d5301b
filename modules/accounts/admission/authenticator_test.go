package admission_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/runtime/base/fault"
)

// acceptAll accepts any cookie and any key, and returns the requested account.
type acceptAll struct{}

func (acceptAll) Authenticate(context.Context, string, netip.Addr) (accounts.Caller, error) {
	return accounts.Caller{AccountID: "of the key"}, nil
}

func (acceptAll) AuthenticateSession(_ context.Context, _, accountID string) (accounts.Caller, error) {
	return accounts.Caller{AccountID: accountID}, nil
}

const (
	base = "https://mail.example.com"
	one  = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	two  = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
)

func newAuthenticator(t *testing.T) *admission.Authenticator {
	t.Helper()
	door, err := admission.New(acceptAll{}, acceptAll{}, nil, base)
	if err != nil {
		t.Fatal(err)
	}
	return door
}

func post(header http.Header) *http.Request {
	r := httptest.NewRequest(http.MethodPost, base+"/api/webhooks", http.NoBody)
	r.Header = header
	r.AddCookie(&http.Cookie{Name: "__Host-postrider", Value: "x"})
	return r
}

// Under an https base URL, the same host with http, another port or another spelling is a different site.
func TestSecureInstallationRejectsOtherOrigins(t *testing.T) {
	t.Parallel()
	door := newAuthenticator(t)
	for _, foreign := range [][]string{{"http://mail.example.com"}, {"https://mail.example.com:8443"},
		{"https://mail.example.com:443"}, {"https://mail.example.com.evil.example"}, {"https://evil-mail.example.com"},
		{"https://mail.example.com/"}, {"HTTPS://MAIL.EXAMPLE.COM"}, {"https://mail.example.com."},
		{"https://x@mail.example.com"}, {"null"}, {""}, nil, {base, base}, {base, "https://evil.example"}} {
		if _, err := door.Authenticate(post(http.Header{"Origin": foreign})); fault.Classify(err).
			Code != fault.CodeCrossOrigin {
			t.Errorf("a request with a cookie from %q got the error %v, want cross_origin", foreign, err)
		}
	}
	if _, err := door.Authenticate(post(http.Header{"Origin": {base}})); err != nil {
		t.Errorf("a request with a cookie from %s got the error %v, want it accepted", base, err)
	}
}

func TestAccountHeaderIsSentOnce(t *testing.T) {
	t.Parallel()
	door := newAuthenticator(t)
	for _, wrong := range [][]string{{one, two}, {one, one}, {""}, {"", one}, {one + ", " + two},
		{"usr_01kf0m4w7he6x8q2v5b3n9c1ta"}, {one + "\x00"}} {
		_, err := door.Authenticate(post(http.Header{"Origin": {base}, admission.HeaderAccount: wrong}))
		if fault.KindOf(err) != fault.Invalid || fault.Classify(err).Fields[admission.HeaderAccount] == "" {
			t.Errorf("a request for the accounts %q got the error %v, want an error for the header", wrong, err)
		}
	}
	if c, err := door.Authenticate(post(http.Header{"Origin": {base}, admission.HeaderAccount: {one}})); err != nil ||
		c.AccountID != one {
		t.Errorf("a request for one account got %s and the error %v, want %s", c.AccountID, err, one)
	}
	if c, err := door.Authenticate(post(http.Header{"Authorization": {"Bearer svc_x"},
		admission.HeaderAccount: {two}})); fault.KindOf(err) != fault.Forbidden || c.AccountID != "" {
		t.Errorf("a request with an API key and an account header got %s and the error %v, want it refused",
			c.AccountID, err)
	}
}
