package signin

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/session"
	"github.com/postrider/postrider/ent/signinlink"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/theme"
)

// Lifetimes of a session: since its last use, and in total.
const (
	IdleTimeout     = 7 * 24 * time.Hour
	SessionLifetime = 30 * 24 * time.Hour
)

// Sign-in methods.
const (
	ByPassword = "password"
	ByPasskey  = "passkey"
	ByOIDC     = "oidc"
	ByLink     = "link"
)

// NewSession is a new session: its cookie, which is returned only once, and its view.
type NewSession struct {
	Token        secret.String // zero if the user was not signed in
	DeviceCookie string        // the new cookie that identifies the browser
	View
}

// View is a session as shown to its owner.
type View struct {
	Session      *ent.Session
	User         Profile
	Memberships  []team.Membership
	SecondFactor bool // the user has an active second factor
}

type tokenHash [sha256.Size]byte

// membership is a membership in the snapshot of a session.
type membership struct {
	AccountID string      `json:"a"`
	Role      rights.Role `json:"r"`
	Factor    bool        `json:"f"` // the account requires a second factor
	Suspended bool        `json:"s"`
	Frozen    bool        `json:"z"` // being moved to another installation
	MovedTo   string      `json:"t"`
}

// sessionEntry is the cached result of a token lookup, possibly "unknown".
type sessionEntry struct {
	known     bool
	person    accounts.Person
	accountID string // the session's account
	belongs   []membership
	endsAt    time.Time // by the clock of this process
}

const (
	cacheTTL      = 3 * time.Second
	cacheSize     = 20_000
	lookupTimeout = 5 * time.Second
)

func newCache() *cache.Cache[tokenHash, sessionEntry] {
	return cache.New(cache.Config[tokenHash, sessionEntry]{Max: cacheSize, TTL: cacheTTL, LoadTimeout: lookupTimeout})
}

// AuthenticateSession authenticates a session cookie for an account; an empty accountID selects the session's account.
// Errors: Unauthorized; NotFound if the user is not a member of the account; Unavailable.
func (s *Service) AuthenticateSession(ctx context.Context, token, accountID string) (accounts.Caller, error) {
	f, err := s.seen.sessions.Get(ctx, tokenHash(secret.HashToken(token)), s.loadSession)
	switch {
	case err != nil:
		return accounts.Caller{}, fmt.Errorf("session: %w", err)
	case !f.known || !time.Now().Before(f.endsAt):
		return accounts.Caller{}, fault.Unauthenticated()
	}
	s.seen.used.Mark(f.person.SessionID)
	return f.callerFor(accountID)
}

// ForgetSessions drops all sessions from the cache of this process.
func (s *Service) ForgetSessions() { s.seen.sessions.InvalidateAll() }

// callerFor returns the session's user as the caller of a request for an account.
func (f sessionEntry) callerFor(accountID string) (accounts.Caller, error) {
	who := f.person
	wanted := accountID
	if wanted == "" {
		wanted = f.accountID
	}
	for _, b := range f.belongs {
		if b.AccountID == wanted {
			who.Role, who.SetUpFirst = b.Role, b.Factor && !who.SecondFactor
			return accounts.Caller{AccountID: b.AccountID, Suspended: b.Suspended, Person: &who,
				Residence: accounts.Residence{Frozen: b.Frozen, MovedTo: b.MovedTo}}, nil
		}
	}
	if accountID != "" {
		return accounts.Caller{}, fault.NoSuch("account", accountID)
	}
	return accounts.Caller{Person: &who}, nil
}

const sessionSQL = `
SELECT s.id, s.user_id, coalesce(s.account_id, ''), s.second_factor, s.method, extract(epoch FROM now() - s.confirmed_at)::float8,
       extract(epoch FROM least(s.expires_at, s.last_used_at + $2 * interval '1 second') - now())::float8, u.email, u.name, u.operator,
       coalesce((SELECT jsonb_agg(jsonb_build_object('a', m.account_id, 'r', m.role, 'f', a.require_second_factor, 's', a.suspended_at IS NOT NULL, 'z', a.frozen_at IS NOT NULL AND a.moved_to IS NULL, 't', coalesce(a.moved_to, '')) ORDER BY m.id)
                   FROM memberships m JOIN accounts a ON a.id = m.account_id WHERE m.user_id = s.user_id), '[]')::text
  FROM sessions s JOIN users u ON u.id = s.user_id
 WHERE s.token_hash = $1 AND s.revoked_at IS NULL AND u.disabled_at IS NULL`

func (s *Service) loadSession(ctx context.Context, hash tokenHash) (sessionEntry, error) {
	type row struct {
		sessionEntry

		method            string
		confirmed, endsIn float64
	}
	askedAt := time.Now()
	r, err := db.One(ctx, s.db.SQL, func(r *row) []any {
		p := &r.person
		return []any{&p.SessionID, &p.UserID, &r.accountID, &p.SecondFactor, &r.method, &r.confirmed, &r.endsIn, &p.Email, &p.Name,
			&p.Operator, db.ScanJSON(&r.belongs)}
	}, sessionSQL, hash[:], IdleTimeout.Seconds())
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return sessionEntry{}, nil
	case fault.IsDatabaseUnavailable(err):
		return sessionEntry{}, fault.DatabaseUnavailable(err)
	case err != nil:
		return sessionEntry{}, err
	}
	out := r.sessionEntry
	out.known, out.endsAt = true, askedAt.Add(seconds(r.endsIn))
	out.person.ConfirmedAt = askedAt.Add(-seconds(r.confirmed))
	if owner := s.seen.developer.Load(); owner != nil && *owner == out.person.UserID && r.method == ByLink {
		out.person.ConfirmedAt = askedAt // the user of the development link does not know the password
	}
	return out, nil
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// startSession creates a session for a user, in a transaction, and queues an alert if the browser is unknown.
func (s *Service) startSession(ctx context.Context, tx *ent.Tx, who *ent.User, method string,
	secondFactor bool) (NewSession, error) {
	if err := s.alertUnknownDevice(ctx, tx, who); err != nil {
		return NewSession{}, err
	}
	// Links from operators are for users who cannot sign in. Without this, one that an operator key created for a user
	// who had never signed in could be used afterwards.
	if _, err := tx.SignInLink.Delete().Where(signinlink.PurposeEQ(signinlink.PurposeSignIn), signinlink.UserID(who.ID),
		signinlink.UsedAtIsNil(), signinlink.Again(false)).Exec(ctx); err != nil {
		return NewSession{}, err
	}
	return s.startSessionWithoutAlert(ctx, tx, who, method, secondFactor)
}

// startSessionWithoutAlert is startSession for a user who is notified in another way.
func (s *Service) startSessionWithoutAlert(ctx context.Context, tx *ent.Tx, who *ent.User, method string,
	secondFactor bool) (NewSession, error) {
	if who.DisabledAt != nil {
		return NewSession{}, fault.Unauthenticated()
	}
	token, hash := secret.NewToken("")
	o := audit.OriginOf(ctx)
	accountID, err := lastAccount(ctx, tx, who.ID)
	if err != nil {
		return NewSession{}, err
	}
	create := tx.Session.Create().SetID(id.New(id.Session)).SetTokenHash(hash).SetUserID(who.ID).
		SetMethod(session.Method(method)).SetSecondFactor(secondFactor).
		SetIP(o.IP()).SetUserAgent(o.UserAgent()).SetExpiresAt(time.Now().Add(SessionLifetime))
	if accountID != "" {
		create.SetAccountID(accountID)
	}
	made, err := create.Save(ctx)
	if err != nil {
		return NewSession{}, err
	}
	if err := s.teams.SignedIn(ctx, tx, who.ID, theme.FindLanguage(o.Languages)); err != nil {
		return NewSession{}, err
	}
	if err := audit.Write(ctx, tx,
		audit.Entry{AccountID: accountID, Actor: audit.Actor{Kind: audit.ByUser, ID: who.ID, Name: who.Email},
			Action: "session.started",
			Target: made.ID, Changes: map[string]any{"method": method, "second_factor": secondFactor}}); err != nil {
		return NewSession{}, err
	}
	return NewSession{Token: token, DeviceCookie: s.issueDeviceCookie(ctx, who.Email),
		View: View{Session: made.Unwrap()}}, nil
}

// issueDeviceCookie returns the device cookie of a browser in which the user with the email has just signed in.
func (s *Service) issueDeviceCookie(ctx context.Context, email string) string {
	return s.guard.devices.Remember(audit.OriginOf(ctx).Device, email, time.Now())
}

// alertUnknownDevice queues an alert if a user who has signed in before uses an unknown browser.
func (s *Service) alertUnknownDevice(ctx context.Context, tx *ent.Tx, who *ent.User) error {
	if who.LastSignInAt == nil || who.DisabledAt != nil {
		return nil
	}
	v, err := s.identifyVisitor(ctx, who.Email)
	if err != nil || v.Device != "" {
		return err
	}
	return alerts.Add(ctx, tx, alerts.Alert{UserID: who.ID, Email: who.Email, Kind: alerts.NewDevice})
}

const lastAccountSQL = `
SELECT m.account_id FROM memberships m JOIN accounts a ON a.id = m.account_id WHERE m.user_id = $1
 ORDER BY a.moved_to IS NOT NULL, (SELECT max(s.id COLLATE "C") FROM sessions s WHERE s.user_id = $1 AND s.account_id = m.account_id) DESC NULLS LAST, m.id LIMIT 1`

// lastAccount returns the account of the user's latest session, if the user is still a member, or else their
// oldest account. An account that has moved to another installation comes last. It is empty if the user has no account.
func lastAccount(ctx context.Context, tx db.Execer, userID string) (string, error) {
	list, err := db.All(ctx, tx, db.Value[string], lastAccountSQL, userID)
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[0], nil
}

// completeSession loads the view of a new session.
func (s *Service) completeSession(ctx context.Context, e NewSession, err error) (NewSession, error) {
	if err != nil {
		return NewSession{}, err
	}
	e.View, err = s.loadView(ctx, e.Session)
	return e, err
}

// finishSignIn is completeSession for a sign-in attempt, which it also counts.
func (s *Service) finishSignIn(ctx context.Context, e NewSession, err error) (NewSession, error) {
	s.seen.signIns.count(err)
	return s.completeSession(ctx, e, err)
}

func (s *Service) loadView(ctx context.Context, row *ent.Session) (v View, err error) {
	v.Session = row
	accountID := ""
	if row.AccountID != nil {
		accountID = *row.AccountID
	}
	if v.User, err = s.loadProfile(ctx, row.UserID, accountID); err != nil {
		return v, err
	}
	v.Memberships, err = s.teams.Memberships(ctx, row.UserID)
	return v, err
}

// Session returns the caller's session.
func (s *Service) Session(ctx context.Context, c accounts.Caller) (View, error) {
	row, err := s.db.Ent.Session.Query().Where(session.ID(c.Person.SessionID), session.UserID(c.Person.UserID)).
		Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return View{}, fault.Unauthenticated()
	case err != nil:
		return View{}, fmt.Errorf("session: %w", err)
	}
	return s.loadView(ctx, row)
}

// SignOut ends the caller's session. Repeated calls have no effect.
func (s *Service) SignOut(ctx context.Context, c accounts.Caller) error {
	return s.EndSession(ctx, c, c.Person.SessionID)
}

// Sessions returns the caller's open sessions, newest first.
func (s *Service) Sessions(ctx context.Context, c accounts.Caller) ([]*ent.Session, error) {
	rows, err := s.db.Ent.Session.Query().Where(session.UserID(c.Person.UserID), session.RevokedAtIsNil(),
		session.ExpiresAtGT(time.Now()),
		session.LastUsedAtGT(time.Now().Add(-IdleTimeout))).Order(ent.Desc(session.FieldID)).Limit(maxSessions).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	return rows, nil
}

const maxSessions = 200

// EndSession ends one of the caller's sessions. Every node rejects it within five seconds. Error: NotFound.
func (s *Service) EndSession(ctx context.Context, c accounts.Caller, sessionID string) error {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		row, err := tx.Session.Query().Where(session.ID(sessionID), session.UserID(c.Person.UserID)).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			return fault.NoSuch("session", sessionID)
		case err != nil:
			return err
		case row.RevokedAt != nil:
			return nil
		}
		if err := tx.Session.UpdateOneID(sessionID).SetRevokedAt(time.Now()).Exec(ctx); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{AccountID: c.AccountID, Actor: audit.ActorOf(c),
			Action: "session.ended", Target: sessionID})
	})
	s.seen.sessions.InvalidateAll() // rare, and the token that is the cache key is unknown here
	return fault.Wrap("end session", err)
}

// EndOtherSessions ends all sessions of the caller except the current one.
func (s *Service) EndOtherSessions(ctx context.Context, c accounts.Caller) error {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := tx.Session.Update().Where(session.UserID(c.Person.UserID), session.IDNEQ(c.Person.SessionID),
			session.RevokedAtIsNil()).SetRevokedAt(time.Now()).Exec(ctx); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{AccountID: c.AccountID, Actor: audit.ActorOf(c),
			Action: "session.ended_others", Target: c.Person.UserID})
	})
	s.seen.sessions.InvalidateAll()
	return fault.Wrap("end sessions", err)
}

// SwitchAccount switches the session to another of the caller's accounts. Error: NotFound.
func (s *Service) SwitchAccount(ctx context.Context, c accounts.Caller, accountID string) (View, error) {
	list, err := s.teams.Memberships(ctx, c.Person.UserID)
	if err != nil {
		return View{}, err
	}
	for _, m := range list {
		if m.AccountID != accountID {
			continue
		}
		if err := s.db.Ent.Session.UpdateOneID(c.Person.SessionID).SetAccountID(accountID).Exec(ctx); err != nil {
			return View{}, fmt.Errorf("switch account: %w", err)
		}
		s.seen.sessions.InvalidateAll()
		return s.Session(ctx, c)
	}
	return View{}, fault.NoSuch("account", accountID)
}

const sweepSessionsSQL = `
DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at < now() - interval '1 day' LIMIT 1000 FOR UPDATE SKIP LOCKED)`
