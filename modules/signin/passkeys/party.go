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

// relyingParty is what passkeys are bound to: the host of the first URL that has a name, with all
// URLs of that host. WebAuthn takes no addresses; without a name the answer is nil.
func relyingParty(name string, urls []string) (*webauthn.WebAuthn, error) {
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
		return nil, nil //nolint:nilnil // there are no passkeys
	}
	times := webauthn.TimeoutConfig{Enforce: true, Timeout: challengeLife, TimeoutUVD: challengeLife}
	return webauthn.New(&webauthn.Config{RPID: host, RPDisplayName: name, RPOrigins: origins,
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired},
		Timeouts:               webauthn.TimeoutsConfig{Login: times, Registration: times}})
}

// Ceremony is what a browser is asked, and what it brings back beside its answer.
type Ceremony struct {
	Options     any // of navigator.credentials.get or create, as JSON
	ChallengeID string
}

// The purposes of challenges: one does not stand for the other.
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

// unseal reads a challenge that seal has made for the same purpose. Error: Unauthorized.
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
