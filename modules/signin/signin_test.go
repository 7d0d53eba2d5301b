package signin_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pquerna/otp/totp"

	"github.com/postrider/postrider/ent/auditentry"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/notices"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

const (
	adasPassword = "green paper horses run"
	base         = "https://mail.example.com"
)

// world is an installation without users.
type world struct {
	*signin.Service

	db       *db.DB
	accounts *accounts.Service
	teams    *team.Service
	box      *mailbox
}

func newWorld(t *testing.T, change ...func(*signin.Config)) *world {
	t.Helper()
	return newWorldOn(t, dbtest.New(t), change...)
}

func newWorldOn(t *testing.T, d *db.DB, change ...func(*signin.Config)) *world {
	t.Helper()
	w := &world{db: d}
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	cursors := page.NewCodec([]byte("sixteen bytes or more"))
	if w.accounts, err = accounts.New(accounts.Params{DB: w.db, Cursors: cursors, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	config := signin.Config{BaseURL: base, Passwords: true}
	for _, c := range change {
		c(&config)
	}
	guard := signin.NewGuard(w.db, box)
	w.teams = team.New(team.Params{DB: w.db, Accounts: w.accounts, Cursors: cursors, Bounds: guard})
	if w.Service, err = signin.New(signin.Params{Config: config, DB: w.db, Accounts: w.accounts, Teams: w.teams,
		Box: box, Guard: guard, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	w.box = &mailbox{db: w.db}
	w.SetMailer(w.box)
	return w
}

// mailbox records the emails of an installation, with their tokens.
type mailbox struct {
	db    *db.DB
	mails []notices.Notice
}

func (m *mailbox) Send(ctx context.Context, n notices.Notice,
	hold func(context.Context, db.Execer) (bool, error)) error {
	held, err := hold(ctx, m.db.SQL)
	if held {
		m.mails = append(m.mails, n)
	}
	return err
}

// sendDueMail sends all due mail and returns it.
func (w *world) sendDueMail(t *testing.T) []notices.Notice {
	t.Helper()
	before := len(w.box.mails)
	if err := w.Post(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w.box.mails[before:]
}

// lastMail returns the latest email of a kind to an address.
func (w *world) lastMail(t *testing.T, kind notices.NoticeKind, to string) notices.Notice {
	t.Helper()
	w.sendDueMail(t)
	for i := len(w.box.mails) - 1; i >= 0; i-- {
		if m := w.box.mails[i]; m.Kind == kind && m.To == to {
			return m
		}
	}
	t.Fatalf("no mail of kind %s was sent to %s; there are %d others", kind, to, len(w.box.mails))
	return notices.Notice{}
}

// requestFrom returns the context of a request from an address.
func requestFrom(t *testing.T, ip string) context.Context {
	t.Helper()
	return audit.WithOrigin(t.Context(), audit.Origin{Addr: netip.MustParseAddr(ip)})
}

func tokenOf(t *testing.T, link string) string {
	t.Helper()
	_, token, found := strings.Cut(link, "#")
	if !found {
		t.Fatalf("the link %q has no token", link)
	}
	return token
}

func (w *world) setUp(t *testing.T) signin.NewSession {
	t.Helper()
	link, err := w.SetUpLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in, err := w.SetUp(t.Context(), signin.SetUpInput{Token: tokenOf(t, link), Email: "ada@example.com",
		Password: adasPassword, AccountName: "Acme"})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// callerOf returns the caller of a session.
func (w *world) callerOf(t *testing.T, in signin.NewSession) accounts.Caller {
	t.Helper()
	c, err := w.AuthenticateSession(t.Context(), in.Token.Reveal(), "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// runConcurrently calls do n times concurrently and counts the results by kind.
func runConcurrently(n int, do func(i int) error) map[fault.Kind]int {
	var mu sync.Mutex
	ended := map[fault.Kind]int{}
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			err := do(i)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				ended[-1]++
				return
			}
			ended[fault.KindOf(err)]++
		})
	}
	all.Wait()
	return ended
}

const succeeded = fault.Kind(-1)

// Only one of twenty concurrent uses of a set-up link succeeds, and afterwards no link works.
func TestOnlyOneSetUpSucceeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	link, err := w.SetUpLink(t.Context())
	if err != nil || !strings.HasPrefix(link, base+"/setup#") {
		t.Fatalf("SetUpLink returned %q, %v", link, err)
	}
	second, err := w.SetUpLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := runConcurrently(20, func(i int) error {
		token := tokenOf(t, []string{link, second}[i%2])
		_, err := w.SetUp(t.Context(), signin.SetUpInput{Token: token, Email: fmt.Sprintf("p%d@example.com", i),
			Password: adasPassword, AccountName: "Acme"})
		return err
	})
	if ended[succeeded] != 1 || ended[fault.NotFound]+ended[fault.Unavailable] != 19 {
		t.Errorf("20 concurrent set-ups returned %v, want one success, and NotFound or Unavailable for the others",
			ended)
	}
	if users := w.db.Ent.User.Query().CountX(t.Context()); users != 1 {
		t.Errorf("there are %d users, want 1", users)
	}
	if again, err := w.SetUpLink(t.Context()); err != nil || again != "" {
		t.Errorf("after set-up SetUpLink returned %q, %v; want no link", again, err)
	}
}

// The first user becomes the owner of the account that already has their email.
func TestSetUpAdoptsExistingAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before, err := w.accounts.CreateAccount(t.Context(), accounts.NewAccount{Name: "Old", Email: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	in := w.setUp(t)
	if len(in.Memberships) != 1 || in.Memberships[0].AccountID != before.ID ||
		in.Memberships[0].Role != rights.RoleOwner || !in.User.Operator {
		t.Errorf("the first user is %+v with memberships %+v, want an operator and owner of %s", in.User,
			in.Memberships, before.ID)
	}
}

// Of the guesses at one email from one network, five are hashed. The others are rejected without a hash, even
// for an unknown email.
func TestLimitsPasswordGuesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp(t)
	for i, email := range []string{"ada@example.com", "nobody@example.com"} {
		ctx := requestFrom(t, fmt.Sprintf("192.0.2.%d", i+1))
		before := w.HashCount()
		ended := map[fault.Kind]int{}
		for range 200 {
			_, err := w.SignIn(ctx, signin.Credentials{Email: email, Password: "wrong"})
			ended[fault.KindOf(err)]++
		}
		if hashed := w.HashCount() - before; hashed != 5 || ended[fault.Unauthorized] != 5 ||
			ended[fault.Limit] != 195 {
			t.Errorf("200 guesses at %s: %d hashed, results %v; want 5 hashed and 195 over the limit", email,
				hashed, ended)
		}
	}
	if _, err := w.SignIn(requestFrom(t, "192.0.2.1"),
		signin.Credentials{Email: "ada@example.com", Password: adasPassword}); fault.KindOf(err) != fault.Limit {
		t.Errorf("correct password from the locked network: %v, want Limit", err)
	}
	if _, err := w.SignIn(requestFrom(t, "198.51.100.7"),
		signin.Credentials{Email: "ada@example.com", Password: adasPassword}); err != nil {
		t.Errorf("correct password from another network: %v, want success", err)
	}
	link, err := w.UserLink(t.Context(), "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.SignInByLink(requestFrom(t, "192.0.2.1"), tokenOf(t, link)); err != nil {
		t.Errorf("link from the locked network: %v, want success", err)
	}
}

// Guesses at many emails from one network are limited as well. All IPv6 addresses in a /64 count as one
// network.
func TestLimitsGuessesPerNetwork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.HashCount()
	for i := range 60 {
		_, err := w.SignIn(requestFrom(t, fmt.Sprintf("2001:db8::%x", i+1)),
			signin.Credentials{Email: fmt.Sprintf("p%d@example.com", i), Password: "wrong"})
		if kind := fault.KindOf(err); kind != fault.Unauthorized && kind != fault.Limit {
			t.Fatal(err)
		}
	}
	if hashed := w.HashCount() - before; hashed != 30 {
		t.Errorf("60 guesses from one /64 caused %d hashes, want 30", hashed)
	}
}

// A correct password clears the failures, so occasional typos never lock out a user.
func TestSuccessClearsFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp(t)
	ctx := requestFrom(t, "192.0.2.9")
	for range 4 {
		for range 4 {
			if _, err := w.SignIn(ctx, signin.Credentials{Email: "ada@example.com",
				Password: "wrong"}); fault.KindOf(err) != fault.Unauthorized {
				t.Fatalf("wrong password: %v, want Unauthorized", err)
			}
		}
		if _, err := w.SignIn(ctx, signin.Credentials{Email: "ada@example.com", Password: adasPassword}); err != nil {
			t.Fatalf("correct password after four wrong ones: %v", err)
		}
	}
}

// When the last two owners leave concurrently, one of them stays.
func TestLastTwoOwnersCannotBothLeave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	other, err := w.teams.CreateUser(t.Context(), accounts.Caller{}, "bob@example.com", "Bob", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.db.Ent.Membership.Create().SetAccountID(ada.AccountID).SetUserID(other.ID).SetRole("owner").ExecX(t.Context())
	link, err := w.UserLink(t.Context(), other.ID)
	if err != nil {
		t.Fatal(err)
	}
	in, err := w.SignInByLink(t.Context(), tokenOf(t, link))
	if err != nil {
		t.Fatal(err)
	}
	bob := w.callerOf(t, in)
	ended := runConcurrently(2, func(i int) error {
		c := []accounts.Caller{ada, bob}[i]
		return w.teams.Remove(t.Context(), c, c.Person.UserID)
	})
	if ended[succeeded] != 1 || ended[fault.Conflict] != 1 {
		t.Errorf("two owners leaving concurrently: %v, want one success and one Conflict", ended)
	}
}

// Of many concurrent attempts to accept an invitation, one succeeds.
func TestAcceptsInvitationOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	if _, err := w.teams.Invite(t.Context(), ada,
		team.NewInvitation{Email: "Bob@Example.com", Role: rights.RoleViewer}); err != nil {
		t.Fatal(err)
	}
	due, err := w.teams.TakeDue(t.Context(), 10)
	if err != nil || len(due) != 1 || due[0].Email != "bob@example.com" {
		t.Fatalf("TakeDue returned %+v, %v; want bob's invitation", due, err)
	}
	token, hash := secret.NewToken("")
	if held, err := team.SetInvitationToken(t.Context(), w.db.SQL, due[0], hash); err != nil || !held {
		t.Fatalf("Mailed returned %t, %v; want true", held, err)
	}
	if held, err := team.SetInvitationToken(t.Context(), w.db.SQL, due[0], hash); err != nil || held {
		t.Errorf("second Mailed returned %t, %v; want false", held, err)
	}
	ended := runConcurrently(10, func(int) error {
		_, err := w.AcceptInvitation(t.Context(),
			signin.AcceptInput{Token: token.Reveal(), Password: "seven wet umbrellas sing"})
		return err
	})
	if ended[succeeded] != 1 {
		t.Errorf("10 concurrent acceptances returned %v, want one success", ended)
	}
	if n := w.db.Ent.Membership.Query().CountX(t.Context()); n != 2 {
		t.Errorf("the team has %d members, want 2", n)
	}
}

// A sign-out during a request is final, because requests never write whole sessions.
func TestSignOutDuringRequestIsFinal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.setUp(t)
	slow := w.callerOf(t, in) // the request has begun
	if err := w.SignOut(t.Context(), slow); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Confirm(t.Context(), slow,
		signin.Confirmation{Password: adasPassword}); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("confirming in the slow request: %v, want Unauthorized", err)
	}
	if err := w.Stop(t.Context()); err != nil { // writes pending last_used_at values
		t.Error(err)
	}
	var ended bool
	if err := w.db.SQL.QueryRowContext(t.Context(), `SELECT revoked_at IS NOT NULL FROM sessions WHERE id = $1`,
		in.Session.ID).Scan(&ended); err != nil || !ended {
		t.Errorf("session ended: %t, %v; want true", ended, err)
	}
}

// A rejected password has an error for its field.
func TestRejectsWeakPasswords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	link, err := w.SetUpLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "eleven char", strings.Repeat("x", 257), strings.Repeat("a", 20), "abababababab",
		"123456789012", "ada@example.com", "password1234", "PassWordPassWord", "with\x00a NUL inside",
		"bad \xff bytes here"} {
		_, err := w.SetUp(t.Context(), signin.SetUpInput{Token: tokenOf(t, link), Email: "ada@example.com",
			Password:    bad,
			AccountName: "Acme"})
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Fields["password"] == "" {
			t.Errorf("password %.40q: %v, want an error for the field", bad, err)
		}
	}
	_, err = w.SetUp(t.Context(), signin.SetUpInput{Token: tokenOf(t, link), Email: "not an address", Password: "short",
		Name: "a\nb"})
	for _, field := range []string{"email", "password", "name", "account_name"} {
		if fault.Classify(err).Fields[field] == "" {
			t.Errorf("no error for field %s in %v", field, err)
		}
	}
}

func userChange(disabled *bool) team.UserChange { return team.UserChange{Disabled: disabled} }

// An invalid link does not cause a hash.
func TestInvalidLinkCausesNoHash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wrong, _ := secret.NewToken("")
	before := w.HashCount()
	if _, err := w.SetUp(t.Context(), signin.SetUpInput{Token: wrong.Reveal(), Email: "eve@example.com",
		Password: adasPassword, AccountName: "Eve"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("set-up with an invalid link: %v, want NotFound", err)
	}
	if _, err := w.CompleteSignUp(t.Context(), signin.SignUpInput{Token: wrong.Reveal(), Password: adasPassword,
		AccountName: "Eve"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("sign-up with an invalid link: %v, want NotFound", err)
	}
	if _, err := w.ResetPassword(t.Context(), wrong.Reveal(), adasPassword); fault.KindOf(err) != fault.NotFound {
		t.Errorf("reset with an invalid link: %v, want NotFound", err)
	}
	if _, err := w.AcceptInvitation(t.Context(),
		signin.AcceptInput{Token: wrong.Reveal(), Password: adasPassword}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("acceptance with an invalid link: %v, want NotFound", err)
	}
	if hashed := w.HashCount() - before; hashed != 0 {
		t.Errorf("invalid links caused %d hashes, want 0", hashed)
	}
}

// An account can send a limited number of invitations per day, even if it revokes them.
func TestLimitsInvitationsPerDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	var refused *fault.Error
	mails := 0
	for refused == nil && mails <= 200 {
		made, err := w.teams.Invite(t.Context(), ada,
			team.NewInvitation{Email: fmt.Sprintf("victim%d@example.org", mails), Role: rights.RoleViewer})
		if errors.As(err, &refused) {
			break
		}
		if mails++; err != nil {
			t.Fatal(err)
		}
		if mails%2 == 0 {
			_, err = w.teams.Resend(t.Context(), ada, made.ID)
			if errors.As(err, &refused) {
				break
			}
			mails++
		}
		if err := errors.Join(err, w.teams.Revoke(t.Context(), ada, made.ID)); err != nil {
			t.Fatal(err)
		}
	}
	if refused == nil || refused.Kind != fault.Limit || mails != 100 {
		t.Errorf("%d invitation mails were sent before %v; want 100, then Limit", mails, refused)
	}
}

// A lockout appears once in the audit log of the user's team.
func TestAuditsLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	for range 20 {
		_, _ = w.SignIn(requestFrom(t, "192.0.2.1"), signin.Credentials{Email: "ada@example.com", Password: "wrong"})
	}
	w.sendDueMail(t)
	found := w.db.Ent.AuditEntry.Query().Where(auditentry.Action("user.locked")).AllX(t.Context())
	if len(found) != 1 || found[0].AccountID == nil || *found[0].AccountID != ada.AccountID ||
		found[0].Target != ada.Person.UserID || found[0].IP != "192.0.2.1" {
		t.Errorf("20 wrong passwords left entries %+v, want one in ada's team from 192.0.2.1", found)
	}
}

// A correct password does not clear failed codes.
func TestLimitsCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	key, err := w.CreateSecondFactor(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	code, err := totp.GenerateCode(key.Secret, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ActivateSecondFactor(t.Context(), ada, code); err != nil {
		t.Fatal(err)
	}
	ctx := requestFrom(t, "192.0.2.1")
	tried := 0
	for range 20 {
		_, err := w.SignIn(ctx, signin.Credentials{Email: "ada@example.com", Password: adasPassword}) // requires a code
		if fault.KindOf(err) == fault.Limit {
			continue
		}
		if fault.Classify(err).Code != fault.CodeSecondFactorRequired {
			t.Fatalf("password alone: %v, want second_factor_required", err)
		}
		if _, err := w.SignIn(ctx, signin.Credentials{Email: "ada@example.com", Password: adasPassword,
			Code: "000000"}); fault.KindOf(err) == fault.Unauthorized {
			tried++
		}
	}
	if tried > 5 {
		t.Errorf("%d codes were checked from one network, want at most 5", tried)
	}
	if _, err := w.AcceptInvitation(ctx, signin.AcceptInput{}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("missing invitation: %v, want NotFound", err)
	}
}

// Invalid User-Agent headers are sanitized and truncated before they are stored.
func TestStoresHostileUserAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp(t)
	for _, agent := range []string{"bad \xff bytes", "NUL \x00 inside", strings.Repeat("é", 400), "a" +
		strings.Repeat("é", 400), strings.Repeat("\xff", 8000), "line\r\nbreak", ""} {
		ctx := audit.WithOrigin(t.Context(), audit.Origin{Agent: agent})
		in, err := w.SignIn(ctx, signin.Credentials{Email: "ada@example.com", Password: adasPassword})
		if err != nil {
			t.Errorf("User-Agent %.20q: %v, want success", agent, err)
			continue
		}
		if got := in.Session.UserAgent; !utf8.ValidString(got) || len(got) > 300 ||
			strings.ContainsAny(got, "\x00\r\n") || in.Session.IP != "" {
			t.Errorf("User-Agent %.20q is stored as %.20q, from %q", agent, got, in.Session.IP)
		}
	}
}
