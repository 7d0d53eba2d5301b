package signin_test

import (
	"encoding/json"
	"testing"

	"github.com/descope/virtualwebauthn"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/passkeys"
	"github.com/postrider/postrider/runtime/base/fault"
)

// device is an authenticator with one passkey, and the page that uses it.
type device struct {
	page virtualwebauthn.RelyingParty
	chip virtualwebauthn.Authenticator
	key  virtualwebauthn.Credential
}

// coseKeyBytes is the length of a complete P-256 key in CBOR (RFC 9053 section 7.1.1).
const coseKeyBytes = 77

// newKey returns a new key pair. The library omits leading zeros of coordinates, so one key in 128 would be
// invalid.
func newKey() virtualwebauthn.Credential {
	for {
		if made := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2); len(made.Key.AttestationData()) == coseKeyBytes {
			return made
		}
	}
}

func newDevice(userID string) *device {
	return &device{page: virtualwebauthn.RelyingParty{Name: "Postrider", ID: "mail.example.com", Origin: base},
		chip: virtualwebauthn.NewAuthenticatorWithOptions(virtualwebauthn.AuthenticatorOptions{UserHandle: []byte(userID)}), key: newKey()}
}

func encodeOptions(t *testing.T, c passkeys.Ceremony) string {
	t.Helper()
	text, err := json.Marshal(c.Options)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// answerRegistration returns the response to the options for a new passkey.
func (d *device) answerRegistration(t *testing.T, c passkeys.Ceremony) passkeys.CeremonyResult {
	t.Helper()
	options, err := virtualwebauthn.ParseAttestationOptions(encodeOptions(t, c))
	if err != nil {
		t.Fatal(err)
	}
	return passkeys.CeremonyResult{ChallengeID: c.ChallengeID,
		Credential: []byte(virtualwebauthn.CreateAttestationResponse(d.page, d.chip, d.key, *options)), Name: "Laptop"}
}

// answerSignIn returns the response to the options for a sign-in.
func (d *device) answerSignIn(t *testing.T, c passkeys.Ceremony) passkeys.CeremonyResult {
	t.Helper()
	options, err := virtualwebauthn.ParseAssertionOptions(encodeOptions(t, c))
	if err != nil {
		t.Fatal(err)
	}
	return passkeys.CeremonyResult{ChallengeID: c.ChallengeID,
		Credential: []byte(virtualwebauthn.CreateAssertionResponse(d.page, d.chip, d.key, *options))}
}

// registerPasskey adds a passkey to the caller's user.
func (w *world) registerPasskey(t *testing.T, c accounts.Caller) *device {
	t.Helper()
	d := newDevice(c.Person.UserID)
	options, err := w.Passkeys().BeginRegistration(t.Context(), c.Person.UserID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Passkeys().Add(t.Context(), c, d.answerRegistration(t, options)); err != nil {
		t.Fatal(err)
	}
	d.chip.AddCredential(d.key)
	return d
}

func (w *world) beginSignIn(t *testing.T) passkeys.Ceremony {
	t.Helper()
	c, err := w.Passkeys().BeginSignIn()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A passkey signs in its owner with both factors, even while their password is locked. Each response works
// once.
func TestSignsInByPasskey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	d := w.registerPasskey(t, ada)
	ctx := requestFrom(t, "192.0.2.1")
	for range 6 {
		_, _ = w.SignIn(ctx, signin.Credentials{Email: "ada@example.com", Password: "wrong"})
	}
	answer := d.answerSignIn(t, w.beginSignIn(t))
	in, err := w.SignInByPasskey(ctx, answer)
	if err != nil || !in.Session.SecondFactor || in.User.ID != ada.Person.UserID ||
		in.Session.Method != signin.ByPasskey {
		t.Fatalf("the passkey while the password is locked: %+v, %v; want a session of its owner with both factors",
			in.View.Session, err)
	}
	if _, err := w.SignInByPasskey(ctx, answer); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("the same response again: %v, want Unauthorized", err)
	}
	ended := runConcurrently(8, func() func(int) error {
		answer := d.answerSignIn(t, w.beginSignIn(t))
		return func(int) error { _, err := w.SignInByPasskey(ctx, answer); return err }
	}())
	if ended[succeeded] != 1 || ended[fault.Unauthorized] != 7 {
		t.Errorf("one response eight times concurrently: %v, want one success", ended)
	}
	confirmed, err := w.Confirm(ctx, ada, signin.Confirmation{Passkey: new(d.answerSignIn(t, w.beginSignIn(t)))})
	if err != nil || confirmed.Session.ID != ada.Person.SessionID {
		t.Errorf("confirming the owner's session with the passkey: %v, want success", err)
	}
}

// A response is accepted only if it is signed by the owner's passkey and answers our challenge on our page.
func TestRejectsInvalidPasskeyResponses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.setUp(t)
	ada := w.callerOf(t, first)
	d := w.registerPasskey(t, ada)
	otherHost, stranger, unverified := *d, newDevice(ada.Person.UserID), *d
	otherHost.page.Origin = "https://mail.example.com.evil.test"
	unverified.chip.Options.UserNotVerified = true
	unknownUser := *d
	unknownUser.chip.Options.UserHandle = []byte("usr_nobody")
	other := d.answerSignIn(t, w.beginSignIn(t))
	mixed := d.answerSignIn(t, w.beginSignIn(t))
	mixed.ChallengeID = w.beginSignIn(t).ChallengeID
	registering, err := w.Passkeys().BeginRegistration(t.Context(), ada.Person.UserID)
	if err != nil {
		t.Fatal(err)
	}
	otherPurpose := other
	otherPurpose.ChallengeID = registering.ChallengeID
	for name, answer := range map[string]passkeys.CeremonyResult{
		"on a page of another host":   otherHost.answerSignIn(t, w.beginSignIn(t)),
		"by an unknown key":           stranger.answerSignIn(t, w.beginSignIn(t)),
		"without user verification":   unverified.answerSignIn(t, w.beginSignIn(t)),
		"for an unknown user":         unknownUser.answerSignIn(t, w.beginSignIn(t)),
		"to another challenge":        mixed,
		"to a registration challenge": otherPurpose,
		"without a challenge":         {Credential: other.Credential},
		"with a forged challenge":     {ChallengeID: "bm90IHNlYWxlZA", Credential: other.Credential},
	} {
		if _, err := w.SignInByPasskey(t.Context(), answer); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("a response %s: %v, want Unauthorized", name, err)
		}
	}
	for _, malformed := range []string{"", "{}", "null", "[]",
		`{"id":"AQID","rawId":"AQID","type":"public-key","response":{}}`,
		string(d.answerRegistration(t, registering).Credential)} {
		if _, err := w.SignInByPasskey(t.Context(),
			passkeys.CeremonyResult{ChallengeID: other.ChallengeID, Credential: []byte(malformed)}); fault.Classify(err).
			Fields["credential"] == "" {
			t.Errorf("the response %.60s: %v, want an error for the field credential", malformed, err)
		}
	}
	disabled := true
	if _, err := w.teams.ChangeAsOperator(t.Context(), accounts.Caller{}, "ada@example.com", userChange(&disabled)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.SignInByPasskey(t.Context(),
		d.answerSignIn(t, w.beginSignIn(t))); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("the passkey of a disabled user: %v, want Unauthorized", err)
	}
}

// Only the user who requested a new passkey can add it. A removed passkey does not work.
func TestPasskeysBelongToTheirOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	if _, err := w.teams.CreateUser(t.Context(), accounts.Caller{}, "bob@example.com", "Bob", nil); err != nil {
		t.Fatal(err)
	}
	link, err := w.UserLink(t.Context(), "bob@example.com")
	if err != nil {
		t.Fatal(err)
	}
	entered, err := w.SignInByLink(t.Context(), tokenOf(t, link))
	if err != nil {
		t.Fatal(err)
	}
	bob := w.callerOf(t, entered)
	options, err := w.Passkeys().BeginRegistration(t.Context(), ada.Person.UserID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Passkeys().Add(t.Context(), bob, newDevice(ada.Person.UserID).
		answerRegistration(t, options)); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("bob responding to ada's challenge: %v, want Unauthorized", err)
	}
	d := w.registerPasskey(t, ada)
	again, err := w.Passkeys().BeginRegistration(t.Context(), bob.Person.UserID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Passkeys().Add(t.Context(), bob,
		d.answerRegistration(t, again)); fault.KindOf(err) != fault.Conflict {
		t.Errorf("bob adding ada's passkey: %v, want Conflict", err)
	}
	list, err := w.Passkeys().List(t.Context(), ada.Person.UserID)
	if err != nil || len(list) != 1 || list[0].Name != "Laptop" {
		t.Fatalf("ada's passkeys are %v, %v; want Laptop", list, err)
	}
	if err := w.Passkeys().Remove(t.Context(), bob, list[0].ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("bob removing ada's passkey: %v, want NotFound", err)
	}
	if _, err := w.Confirm(t.Context(), bob,
		signin.Confirmation{Passkey: new(d.answerSignIn(t,
			w.beginSignIn(t)))}); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("confirming bob's session with ada's passkey: %v, want Unauthorized", err)
	}
	if err := w.Passkeys().Remove(t.Context(), ada, list[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.SignInByPasskey(t.Context(),
		d.answerSignIn(t, w.beginSignIn(t))); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("a removed passkey: %v, want Unauthorized", err)
	}
}

// Passkeys are unavailable under an IP address. In development they are bound to localhost.
func TestPasskeysRequireHostName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *signin.Config) { c.BaseURL = "http://127.0.0.1:8025" })
	if options, err := w.Options(t.Context()); err != nil || options.Passkeys {
		t.Errorf("options under an IP address are %+v, %v; want no passkeys", options, err)
	}
	if _, err := w.Passkeys().BeginSignIn(); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a passkey under an IP address: %v, want Conflict", err)
	}
	w = newWorld(t, func(c *signin.Config) {
		c.BaseURL, c.Origins = "http://127.0.0.1:8025", []string{"http://localhost:8025", "http://127.0.0.1:8025"}
	})
	ada := w.callerOf(t, w.setUp(t))
	d := newDevice(ada.Person.UserID)
	d.page.ID, d.page.Origin = "localhost", "http://localhost:8025"
	options, err := w.Passkeys().BeginRegistration(t.Context(), ada.Person.UserID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Passkeys().Add(t.Context(), ada, d.answerRegistration(t, options)); err != nil {
		t.Errorf("a passkey of localhost: %v, want success", err)
	}
}
