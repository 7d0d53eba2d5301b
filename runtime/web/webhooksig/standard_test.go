package webhooksig_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/web/webhooksig"
)

// The test vector is from the libraries of Standard Webhooks.
func TestStandardSignature(t *testing.T) {
	t.Parallel()
	const (
		secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		id     = "msg_p5jXN8AQM9LWM0D4loKWxJek"
		body   = `{"test": 2432232314}`
		want   = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	)
	at := time.Unix(1614265330, 0)
	header := http.Header{}
	webhooksig.SetHeaders(header, id, []string{secret}, at, []byte(body))
	if got := header.Get(webhooksig.HeaderSignature); got != want || header.Get(webhooksig.HeaderID) != id ||
		header.Get(webhooksig.HeaderTimestamp) != "1614265330" {
		t.Errorf("the header is %v, want the signature %s", header, want)
	}
	if err := webhooksig.Verify(secret, header.Get(webhooksig.Header), []byte(body), at); err != nil {
		t.Errorf("Service-Signature returned %v", err)
	}
	// During a rotation both secrets sign. A secret of an earlier release signs only Service-Signature.
	earlier := "whsec_" + strings.Repeat("0", 43)
	for _, c := range []struct {
		secrets  []string
		standard int
	}{{[]string{webhooksig.NewSecret(), secret}, 2}, {[]string{webhooksig.NewSecret(), earlier}, 1},
		{[]string{earlier}, 0}} {
		header := http.Header{}
		webhooksig.SetHeaders(header, id, c.secrets, at, []byte(body))
		if got := len(strings.Fields(header.Get(webhooksig.HeaderSignature))); got != c.standard {
			t.Errorf("the secrets %v sign %d times, want %d: %v", c.secrets, got, c.standard, header)
		}
		if (header.Get(webhooksig.HeaderID) != "") != (c.standard > 0) {
			t.Errorf("the secrets %v: the id is %q, want an id only with a signature", c.secrets,
				header.Get(webhooksig.HeaderID))
		}
		for _, secret := range c.secrets {
			if err := webhooksig.Verify(secret, header.Get(webhooksig.Header), []byte(body), at); err != nil {
				t.Errorf("Service-Signature with %s returned %v", secret, err)
			}
		}
	}
}

func TestNewSecretIsStrictBase64(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		secret := webhooksig.NewSecret()
		key, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) != 32 || !strings.HasPrefix(secret, "whsec_") || seen[secret] {
			t.Fatalf("the secret %s has %d bytes (%v), want 32 new ones", secret, len(key), err)
		}
		seen[secret] = true
	}
}
