package passkeys

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
)

const challengeLife = 5 * time.Minute

// newRelyingParty returns the relying party that passkeys are bound to: the first host that is a name, with
// all URLs on that host. WebAuthn does not accept IP addresses. Without such a host, it returns nil.
func newRelyingParty(name string, urls []string) (*webauthn.WebAuthn, error) {
	var host string
	var origins []string
	for _, raw := range urls {
		at, err := url.Parse(raw)
		if err != nil || at.Hostname() == "" {
			continue
		}
		if _, err := netip.ParseAddr(at.Hostname()); err == nil || host != "" && at.Hostname() != host {
			continue
		}
		host = at.Hostname()
		origins = append(origins, at.Scheme+"://"+at.Host)
	}
	if host == "" {
		return nil, nil //nolint:nilnil // nil disables passkeys
	}
	times := webauthn.TimeoutConfig{Enforce: true, Timeout: challengeLife, TimeoutUVD: challengeLife}
	return webauthn.New(&webauthn.Config{RPID: host, RPDisplayName: name, RPOrigins: origins,
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementRequired,
			UserVerification: protocol.VerificationRequired},
		Timeouts: webauthn.TimeoutsConfig{Login: times, Registration: times}})
}

// Ceremony is a request to a browser. The browser returns ChallengeID with its response.
type Ceremony struct {
	Options     any // JSON options of navigator.credentials.get or create
	ChallengeID string
}

// Purposes of challenges. A challenge is valid only for its own purpose.
var (
	toSignIn   = []byte("passkey challenge")
	toRegister = []byte("new passkey challenge")
)

func seal(box *secret.Box, session *webauthn.SessionData, purpose []byte) (string, error) {
	plain, err := json.Marshal(session)
	if err != nil {
		return "", fmt.Errorf("passkey challenge: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(box.Seal(plain, purpose)), nil
}

// unseal opens a challenge that seal created for the same purpose. Error: Unauthorized.
func unseal(box *secret.Box, challengeID string, purpose []byte) (session webauthn.SessionData, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(challengeID)
	if err != nil {
		return session, fault.Unauthenticated()
	}
	plain, err := box.Open(sealed, purpose)
	if err != nil {
		return session, fault.Unauthenticated()
	}
	return session, json.Unmarshal(plain, &session)
}
