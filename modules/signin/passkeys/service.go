package passkeys

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/passkey"
	"github.com/postrider/postrider/ent/signinchallenge"
	"github.com/postrider/postrider/ent/user"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/signin/trust"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
)

// MaxPasskeys is the maximum number of passkeys per user.
const MaxPasskeys = 20

// Service manages passkeys. It is safe for concurrent use.
type Service struct {
	db    *db.DB
	box   *secret.Box
	party *webauthn.WebAuthn // nil: no URL has a host name
}

// New returns a new Service for pages served under the URLs, which are in order of preference.
func New(d *db.DB, box *secret.Box, name string, urls ...string) (*Service, error) {
	party, err := newRelyingParty(name, urls)
	if err != nil {
		return nil, fmt.Errorf("passkeys: %w", err)
	}
	return &Service{d, box, party}, nil
}

// IsAvailable reports whether passkeys are available in this installation.
func (s *Service) IsAvailable() bool { return s.party != nil }

func unavailableError() error {
	return fault.Conflictf(fault.CodeConflict,
		"Passkeys require a host name in POSTRIDER_BASE_URL; in development, open the pages at localhost")
}

// holder implements webauthn.User.
type holder struct {
	who  *ent.User
	keys []webauthn.Credential
}

func (h *holder) WebAuthnID() []byte                         { return []byte(h.who.ID) }
func (h *holder) WebAuthnName() string                       { return h.who.Email }
func (h *holder) WebAuthnDisplayName() string                { return h.who.Email }
func (h *holder) WebAuthnCredentials() []webauthn.Credential { return h.keys }

// lockHolder locks a user until the transaction ends, and returns the user with their passkeys.
func lockHolder(ctx context.Context, tx *ent.Tx, userID string) (*holder, error) {
	who, err := tx.User.Query().Where(user.ID(userID)).ForUpdate().Only(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Passkey.Query().Where(passkey.UserID(userID)).Order(ent.Asc(passkey.FieldID)).Limit(MaxPasskeys).
		All(ctx)
	if err != nil {
		return nil, err
	}
	h := &holder{who: who}
	for _, row := range rows {
		var key webauthn.Credential
		if err := json.Unmarshal(row.Credential, &key); err != nil {
			return nil, fmt.Errorf("passkey %s: %w", row.ID, err)
		}
		h.keys = append(h.keys, key)
	}
	return h, nil
}

// BeginSignIn starts a sign-in with any passkey for this installation. Error: Conflict if passkeys are unavailable.
func (s *Service) BeginSignIn() (c Ceremony, err error) {
	if s.party == nil {
		return c, unavailableError()
	}
	options, session, err := s.party.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return c, fmt.Errorf("begin passkey: %w", err)
	}
	c.Options = options
	c.ChallengeID, err = seal(s.box, session, toSignIn)
	return c, err
}

// CeremonyResult is the response of a browser to a ceremony.
type CeremonyResult struct {
	ChallengeID string
	Credential  []byte // PublicKeyCredential as JSON
	Name        string // name of a new passkey
}

// Verify verifies a sign-in response, marks its challenge as used, and calls then with the user, in one
// transaction. Errors: Invalid; Unauthorized; Conflict if passkeys are unavailable; errors of then.
func (s *Service) Verify(ctx context.Context, in CeremonyResult, then func(tx *ent.Tx, who *ent.User) error) error {
	if s.party == nil {
		return unavailableError()
	}
	session, err := unseal(s.box, in.ChallengeID, toSignIn)
	if err != nil {
		return err
	}
	answer, err := protocol.ParseCredentialRequestResponseBytes(in.Credential)
	if err != nil {
		return fault.InvalidField("credential", "must be a WebAuthn assertion")
	}
	return fault.OrUnavailable(s.db.InTx(ctx, func(tx *ent.Tx) error {
		who, err := s.verify(ctx, tx, session, answer)
		if err != nil {
			return err
		}
		if err := markUsed(ctx, tx, session); err != nil {
			return err
		}
		return then(tx, who)
	}))
}

// verify checks a response and updates the passkey's last use. Error: Unauthorized.
func (s *Service) verify(ctx context.Context, tx *ent.Tx, session webauthn.SessionData,
	answer *protocol.ParsedCredentialAssertionData) (*ent.User, error) {
	var met error
	found, key, err := s.party.ValidatePasskeyLogin(func(_, handle []byte) (webauthn.User, error) {
		h, err := lockHolder(ctx, tx, string(handle))
		if err != nil && !ent.IsNotFound(err) {
			met = err
		}
		return h, err
	}, session, answer)
	switch {
	case met != nil:
		return nil, met
	case err != nil:
		return nil, fault.Unauthenticated().WithCause(err)
	case key.Authenticator.CloneWarning: // the counter went backward: the key may have been copied
		return nil, fault.Unauthenticated().WithCause(errors.New("the counter of the passkey went backward"))
	}
	h, is := found.(*holder)
	if !is {
		return nil, errors.New("WebAuthn returned an unexpected user type")
	}
	encoded, err := json.Marshal(key)
	if err != nil {
		return nil, err
	}
	return h.who, tx.Passkey.Update().Where(passkey.CredentialID(key.ID)).SetCredential(encoded).
		SetLastUsedAt(time.Now()).Exec(ctx)
}

// markUsed marks a challenge as used, because the library would accept the same response repeatedly. Error:
// Unauthorized if the challenge was used already.
func markUsed(ctx context.Context, tx *ent.Tx, session webauthn.SessionData) error {
	sum := sha256.Sum256([]byte(session.Challenge))
	err := tx.SignInChallenge.Create().SetID(string(id.Challenge) + "_" + hex.EncodeToString(sum[:])).
		SetKind(signinchallenge.KindPasskey).
		SetData([]byte("{}")).SetExpiresAt(session.Expires.Add(time.Minute)).Exec(ctx)
	if ent.IsConstraintError(err) {
		return fault.Unauthenticated().WithCause(errors.New("the challenge was already used"))
	}
	return err
}

// BeginRegistration starts the registration of a new passkey. Error: Conflict if passkeys are unavailable,
// and over MaxPasskeys.
func (s *Service) BeginRegistration(ctx context.Context, userID string) (c Ceremony, err error) {
	if s.party == nil {
		return c, unavailableError()
	}
	var h *holder
	if err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		h, err = lockHolder(ctx, tx, userID)
		return err
	}); err != nil {
		return c, fault.Wrap("begin new passkey", err)
	}
	if len(h.keys) >= MaxPasskeys {
		return c, limitError()
	}
	known := make([]protocol.CredentialDescriptor, len(h.keys))
	for i, key := range h.keys {
		known[i] = key.Descriptor()
	}
	options, session, err := s.party.BeginRegistration(h, webauthn.WithExclusions(known))
	if err != nil {
		return c, fmt.Errorf("begin new passkey: %w", err)
	}
	c.Options = options
	c.ChallengeID, err = seal(s.box, session, toRegister)
	return c, err
}

func limitError() error {
	return fault.Conflictf(fault.CodeConflict, "You have %d passkeys, which is the limit. Remove one first.",
		MaxPasskeys)
}

// Add stores a new passkey of the caller and ends their other sessions. Errors: Invalid; Unauthorized if the
// challenge was issued to another user; Conflict if the passkey is already registered, and over MaxPasskeys.
func (s *Service) Add(ctx context.Context, c accounts.Caller, in CeremonyResult) (made *ent.Passkey, err error) {
	if s.party == nil {
		return nil, unavailableError()
	}
	wrong := fault.Fields{}
	if in.Name = accounts.CheckName(wrong, "name", in.Name); in.Name == "" {
		in.Name = "Passkey"
	}
	answer, malformed := protocol.ParseCredentialCreationResponseBytes(in.Credential)
	if malformed != nil {
		wrong.Add("credential", "must be a WebAuthn attestation")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	session, err := unseal(s.box, in.ChallengeID, toRegister)
	if err != nil {
		return nil, err
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		made, err = s.add(ctx, tx, c, session, answer, in.Name)
		return err
	})
	if err != nil {
		return nil, fault.Wrap("add passkey", err)
	}
	return made, nil
}

func (s *Service) add(ctx context.Context, tx *ent.Tx, c accounts.Caller, session webauthn.SessionData,
	answer *protocol.ParsedCredentialCreationData, name string) (*ent.Passkey, error) {
	h, err := lockHolder(ctx, tx, c.Person.UserID)
	switch {
	case err != nil:
		return nil, err
	case string(session.UserID) != h.who.ID:
		return nil, fault.Unauthenticated()
	case len(h.keys) >= MaxPasskeys:
		return nil, limitError()
	}
	key, err := s.party.CreateCredential(h, session, answer)
	if err != nil {
		return nil, fault.InvalidField("credential", "does not match the challenge")
	}
	encoded, err := json.Marshal(key)
	if err != nil {
		return nil, err
	}
	made, err := tx.Passkey.Create().SetID(id.New(id.Passkey)).SetUserID(h.who.ID).SetCredentialID(key.ID).
		SetCredential(encoded).SetName(name).Save(ctx)
	switch {
	case ent.IsConstraintError(err):
		return nil, fault.Conflictf(fault.CodeConflict, "This passkey is already registered").WithCause(err)
	case err != nil:
		return nil, err
	}
	return made.Unwrap(), trust.RecordChange(ctx, tx,
		passkeyChange(c, alerts.PasskeyAdded, "passkey.added", made.ID, name))
}

// passkeyChange is the addition or removal of a passkey, which keeps the caller's session open.
func passkeyChange(c accounts.Caller, kind alerts.Kind, action, passkeyID, name string) trust.CredentialChange {
	return trust.CredentialChange{UserID: c.Person.UserID, Email: c.Person.Email, KeepSession: c.Person.SessionID,
		Kind:   kind,
		Action: action, Target: passkeyID, Details: map[string]any{"name": name}}
}

// List returns the user's passkeys, oldest first.
func (s *Service) List(ctx context.Context, userID string) ([]*ent.Passkey, error) {
	rows, err := s.db.Ent.Passkey.Query().Where(passkey.UserID(userID)).Order(ent.Asc(passkey.FieldID)).
		Limit(MaxPasskeys).All(ctx)
	return rows, fault.Wrap("passkeys", err)
}

// Remove deletes one of the caller's passkeys and ends their other sessions. Error: NotFound.
func (s *Service) Remove(ctx context.Context, c accounts.Caller, passkeyID string) error {
	return fault.Wrap("remove passkey", s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := trust.LockUser(ctx, tx, c.Person.UserID); err != nil {
			return err
		}
		gone, err := tx.Passkey.Query().Where(passkey.ID(passkeyID), passkey.UserID(c.Person.UserID)).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			return fault.NoSuch("passkey", passkeyID)
		case err != nil:
			return err
		}
		if err := tx.Passkey.DeleteOneID(passkeyID).Exec(ctx); err != nil {
			return err
		}
		return trust.RecordChange(ctx, tx, passkeyChange(c, alerts.PasskeyRemoved, "passkey.removed", passkeyID,
			gone.Name))
	}))
}
