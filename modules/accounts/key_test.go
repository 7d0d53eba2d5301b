package accounts

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/apikey"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

func addKey(t testing.TB, s *Service, in NewKey) (*ent.APIKey, string) {
	t.Helper()
	if in.Name == "" {
		in.Name = "server"
	}
	made, token, err := s.CreateKey(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return made, token.Reveal()
}

func TestKeyAuthenticates(t *testing.T) {
	t.Parallel()
	s := newService(t)
	owner := addAccount(t, s, "ada@example.com")
	domainID := addDomain(t, s, owner.ID)
	made, token := addKey(t, s, NewKey{AccountID: owner.ID, Scope: rights.ScopeSending, DomainIDs: []string{domainID}})

	if !strings.HasPrefix(token, "svc_") || made.Prefix != token[:12] {
		t.Errorf("secret %s, prefix %s", token, made.Prefix)
	}
	if hash := sha256.Sum256([]byte(token)); cmp.Diff(hash[:], made.Hash) != "" {
		t.Error("the stored hash is not the SHA-256 of the secret")
	}
	want := Caller{AccountID: owner.ID, KeyID: made.ID, Scope: rights.ScopeSending, DomainIDs: []string{domainID}}
	for range 2 { // from the database, then from the cache
		caller, err := s.Authenticate(t.Context(), token, netip.Addr{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, caller); diff != "" {
			t.Error(diff)
		}
	}
}

// A test key acts for the test tenant of its account, which has its own limits and retention. Rotating it keeps the
// mode.
func TestTestKeyActsForTestTenant(t *testing.T) {
	t.Parallel()
	s := newService(t)
	owner := addAccount(t, s, "ada@example.com")
	other := addAccount(t, s, "eve@example.com")
	made, token := addKey(t, s, NewKey{AccountID: owner.ID, Mode: apikey.ModeTest})
	rotated, next, err := s.RotateKey(t.Context(), Rotation{AccountID: owner.ID, KeyID: made.ID, Overlap: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for secret, key := range map[string]*ent.APIKey{token: made, next.Reveal(): rotated} {
		caller, err := s.Authenticate(t.Context(), secret, netip.Addr{})
		if err != nil || caller.AccountID != id.TestTenantOf(owner.ID) || !caller.IsTest() ||
			!strings.HasPrefix(secret, "svc_test_") || key.Prefix != secret[:17] {
			t.Errorf("the key %s authenticates %+v, %v, want the test tenant", key.Prefix, caller, err)
		}
		if hash := sha256.Sum256([]byte(secret)); cmp.Diff(hash[:], key.Hash) == "" {
			t.Error("earlier versions of Postrider find the test key, and would send with it")
		}
		if caller.Authorize(rights.Read) == nil {
			t.Error("Authorize allows a caller in test mode, want it refused without a decision about the operation")
		}
	}
	live, err := s.Account(t.Context(), owner.ID)
	if err != nil {
		t.Fatal(err)
	}
	test, err := s.Account(t.Context(), id.TestTenantOf(owner.ID))
	if err != nil || test.ID != id.TestTenantOf(owner.ID) || test.Email != live.Email ||
		test.Plan.Sandboxed != live.Plan.Sandboxed || *test.Plan.DailyEmails != testDailyEmails ||
		test.ByteQuota().IsUnlimited() {
		t.Errorf("the account in test mode is %+v, %v", test, err)
	}
	kept, err := s.Retentions(t.Context(), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range kept {
		if want := map[string]int{owner.ID: testRetention, other.ID: 0}[r.AccountID]; r.TestDays != want {
			t.Errorf("data of test mode of %s is kept for %d days, want %d", r.AccountID, r.TestDays, want)
		}
	}
	if _, _, err := s.CreateKey(t.Context(), NewKey{AccountID: owner.ID, Name: "n", Mode: "x"}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("creating a key in an unknown mode returned %v, want Invalid", err)
	}
	if _, err := s.EnsureKey(t.Context(), owner.ID, "n", next, rights.ScopeFull); fault.KindOf(err) != fault.Invalid {
		t.Errorf("storing the secret of a test key as that of a live key returned %v, want Invalid", err)
	}
}

// Not parallel: the cell is one for the whole process.
func TestKeyNamesItsCell(t *testing.T) {
	s := newService(t)
	owner := addAccount(t, s, "ada@example.com")
	old, oldToken := addKey(t, s, NewKey{AccountID: owner.ID})
	id.SetCell(1023)
	defer id.SetCell(0)
	made, token := addKey(t, s, NewKey{AccountID: owner.ID})
	digits, found := strings.CutPrefix(token, "svc_1023_")
	if !found || len(digits) != 43 || strings.Contains(digits, "_") || made.Prefix != "svc_1023_"+digits[:8] {
		t.Errorf("in cell 1023, a secret is %s and its shown start %s", token, made.Prefix)
	}
	rotated, next, err := s.RotateKey(t.Context(), Rotation{AccountID: owner.ID, KeyID: old.ID, Overlap: time.Minute})
	if err != nil || !strings.HasPrefix(next.Reveal(), "svc_1023_") || id.Cell(rotated.ID) != 1023 {
		t.Errorf("the key of another cell was rotated to %+v, %v, want a key of this cell", rotated, err)
	}
	for keyID, bearer := range map[string]string{old.ID: oldToken, made.ID: token, rotated.ID: next.Reveal()} {
		if caller, err := s.Authenticate(t.Context(), bearer, netip.Addr{}); err != nil || caller.KeyID != keyID {
			t.Errorf("key %s authenticates as %+v, %v", keyID, caller, err)
		}
	}
	// The tag is part of the secret.
	for _, forged := range []string{"svc_" + digits, "svc_1022_" + digits, "svc_01023_" + digits} {
		if _, err := s.Authenticate(t.Context(), forged, netip.Addr{}); err == nil {
			t.Errorf("%s authenticates, but only %s is a key", forged, token)
		}
	}
}

func TestStartOfSecret(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{"svc_0123456789abcdef0123": "svc_01234567",
		"svc_7_0123456789abcdef0123": "svc_7_01234567", "svc_1023_0123456789abcdef": "svc_1023_01234567",
		"svc_test_0123456789abcdef": "svc_test_01234567", "svc_7_test_0123456789abcdef": "svc_7_test_01234567", "svc_0_0123456789abcdef0123": "svc_0_012345"} {
		if got := startOf(token); got != want {
			t.Errorf("the shown start of %s is %s, want %s", token, got, want)
		}
	}
}

func TestSecretIsNotInTheDatabase(t *testing.T) {
	t.Parallel()
	s := newService(t)
	_, token := addKey(t, s, NewKey{AccountID: addAccount(t, s, "ada@example.com").ID})
	var row string
	if err := s.db.SQL.QueryRowContext(t.Context(), `SELECT k::text FROM api_keys k`).Scan(&row); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(row, token[12:]) {
		t.Errorf("the row contains the secret: %s", row)
	}
}

func TestMalformedKeysAreRejectedWithoutQuery(t *testing.T) {
	t.Parallel()
	s := newService(t)
	if err := s.db.SQL.Close(); err != nil { // any query would fail now
		t.Fatal(err)
	}
	for _, bearer := range []string{"", "svc_", "svc_short", "sk_" + strings.Repeat("a", 43), strings.Repeat("a", 47),
		"Bearer svc_" + strings.Repeat("a", 43),
		"svc_" + strings.Repeat("a", 200), "svc_" + strings.Repeat("a", 42) + " ", "svc_" + strings.Repeat("a", 30) +
			"'; DROP--", "svc_" + strings.Repeat("é", 20), "svc_\x00" + strings.Repeat("a", 42)} {
		_, err := s.Authenticate(t.Context(), bearer, netip.Addr{})
		if fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("Authenticate of %q: %v, want unauthorized without a query", bearer, err)
		}
	}
}

func TestUnusableKeysAreUnauthorized(t *testing.T) {
	t.Parallel()
	s := newService(t)
	owner := addAccount(t, s, "ada@example.com")
	soon := time.Now().Add(time.Hour)
	expired, expiredToken := addKey(t, s, NewKey{AccountID: owner.ID, ExpiresAt: &soon})
	dbtest.Exec(t, s.db, `UPDATE api_keys SET expires_at = now() WHERE id = $1`, expired.ID)
	revoked, revokedToken := addKey(t, s, NewKey{AccountID: owner.ID})
	dbtest.Exec(t, s.db, `UPDATE api_keys SET revoked_at = now() WHERE id = $1`, revoked.ID)
	unknown, _ := secret.NewToken("svc_")
	for name, token := range map[string]string{"expired": expiredToken, "revoked": revokedToken,
		"unknown": unknown.Reveal()} {
		_, err := s.Authenticate(t.Context(), token, netip.Addr{})
		refused := fault.Classify(err)
		if refused.Kind != fault.Unauthorized || refused.Message != "Unauthorized" || refused.Code != "" ||
			refused.Details != nil {
			t.Errorf("%s: Authenticate returned %+v, want only Unauthorized", name, refused)
		}
	}
}

func TestCachedKeyExpires(t *testing.T) {
	t.Parallel()
	s := newService(t)
	owner, soon := addAccount(t, s, "ada@example.com"), time.Now().Add(time.Hour)
	var made *ent.APIKey
	var token string
	var err error
	for _, life := range []int{500, 5_000, 50_000} { // the key must be authenticated before it expires
		made, token = addKey(t, s, NewKey{AccountID: owner.ID, ExpiresAt: &soon})
		dbtest.Exec(t, s.db, `UPDATE api_keys SET expires_at = now() + $2 * interval '1 millisecond' WHERE id = $1`, made.ID, life)
		if _, err = s.Authenticate(t.Context(), token, netip.Addr{}); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	// The row now has a later expiry, so only the cached entry can expire.
	dbtest.Exec(t, s.db, `UPDATE api_keys SET expires_at = now() + interval '1 day' WHERE id = $1`, made.ID)
	expect.EventuallyWithin(t, 2500*time.Millisecond, "the key has expired", func() bool {
		_, err := s.Authenticate(t.Context(), token, netip.Addr{})
		return fault.KindOf(err) == fault.Unauthorized
	})
}

func TestKeyOfSuspendedAccountCannotSend(t *testing.T) {
	t.Parallel()
	s := newService(t)
	owner := addAccount(t, s, "ada@example.com")
	_, token := addKey(t, s, NewKey{AccountID: owner.ID})
	dbtest.Exec(t, s.db, `UPDATE accounts SET suspended_at = now() WHERE id = $1`, owner.ID)
	caller, err := s.Authenticate(t.Context(), token, netip.Addr{})
	if err != nil || !caller.Suspended {
		t.Fatalf("a key of a suspended account authenticates as %+v, %v, want a suspended caller", caller, err)
	}
	for _, op := range []rights.Operation{rights.Write, rights.Read, rights.ReadSent} {
		if err := caller.Authorize(op); err != nil {
			t.Errorf("operation %d of a suspended account: %v", op, err)
		}
	}
	if refused := fault.Classify(caller.Authorize(rights.Send)); refused.Kind != fault.Forbidden ||
		refused.Code != fault.CodeAccountSuspended {
		t.Errorf("a suspended account that sends got %+v, want account_suspended", refused)
	}
	caller.Scope = rights.ScopeRead
	if refused := fault.Classify(caller.Authorize(rights.Send)); refused.Code != fault.CodeInsufficientScope {
		t.Errorf("a key that may not send anyway got %+v", refused)
	}
}

func TestRevocationReachesEveryProcess(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	here, there := start(t, d, Config{}), start(t, d, Config{CacheTTL: 100 * time.Millisecond})
	owner := addAccount(t, here, "ada@example.com")
	took := time.Hour
	for tries := 0; took > 2*time.Second && tries < 5; tries++ { // long enough for a busy machine
		made, token := addKey(t, here, NewKey{AccountID: owner.ID})
		for _, s := range []*Service{here, there} {
			if _, err := s.Authenticate(t.Context(), token, netip.Addr{}); err != nil {
				t.Fatal(err)
			}
		}
		revoked, err := here.RevokeKey(t.Context(), owner.ID, made.ID)
		if err != nil || revoked.RevokedAt == nil {
			t.Fatal(revoked, err)
		}
		_, err = here.Authenticate(t.Context(), token, netip.Addr{})
		wantKind(t, err, fault.Unauthorized) // immediately in this process
		begin := time.Now()
		expect.Eventually(t, "the other process rejects the key", func() bool {
			_, err := there.Authenticate(t.Context(), token, netip.Addr{})
			return fault.KindOf(err) == fault.Unauthorized
		})
		took = time.Since(begin)
		again, err := here.RevokeKey(t.Context(), owner.ID, made.ID)
		if err != nil || !again.RevokedAt.Equal(*revoked.RevokedAt) {
			t.Errorf("revoking again returned %v, %v", again, err)
		}
	}
	if took > 2*time.Second {
		t.Errorf("the key was revoked after %s, want within the 100 ms of the cache", took)
	}
}

func TestUnknownKeyIsCachedUntilItIsCreated(t *testing.T) {
	t.Parallel()
	s := newService(t)
	owner := addAccount(t, s, "ada@example.com")
	token, _ := secret.NewToken("svc_")
	_, err := s.Authenticate(t.Context(), token.Reveal(), netip.Addr{})
	wantKind(t, err, fault.Unauthorized)
	if _, cached := s.keys.GetIfPresent(keyHash(secret.HashToken(token.Reveal()))); !cached {
		t.Error("an unknown key is looked up each time")
	}
	first, err := s.EnsureKey(t.Context(), owner.ID, "development", token, rights.ScopeFull)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.EnsureKey(t.Context(), owner.ID, "development", token, rights.ScopeFull)
	if err != nil || second.ID != first.ID {
		t.Errorf("EnsureKey at the second start returned %v, %v, want %s", second, err, first.ID)
	}
	caller, err := s.Authenticate(t.Context(), token.Reveal(), netip.Addr{})
	if err != nil || caller.KeyID != first.ID {
		t.Errorf("after EnsureKey the token authenticates as %+v, %v, want the key %s", caller, err, first.ID)
	}
	_, err = s.EnsureKey(t.Context(), addAccount(t, s, "eve@example.com").ID, "mine", token, rights.ScopeFull)
	wantKind(t, err, fault.Conflict)
	_, err = s.EnsureKey(t.Context(), owner.ID, "weak", secret.New("svc_1"), rights.ScopeFull)
	wantKind(t, err, fault.Invalid)
}

func TestConcurrentLookupsShareOneQuery(t *testing.T) {
	t.Parallel()
	s := newService(t)
	_, token := addKey(t, s, NewKey{AccountID: addAccount(t, s, "ada@example.com").ID})
	before := s.db.SQL.Stats().WaitCount // the pool has 8 connections
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			if _, err := s.Authenticate(t.Context(), token, netip.Addr{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if waited := s.db.SQL.Stats().WaitCount - before; waited > 0 {
		t.Errorf("%d lookups waited for a connection, want one shared query", waited)
	}
}

func TestUnavailableDatabaseIsNotUnauthorized(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	s := start(t, server.OpenPatiently(), Config{CacheTTL: time.Millisecond})
	_, token := addKey(t, s, NewKey{AccountID: addAccount(t, s, "ada@example.com").ID})
	server.Stop()
	for range 3 {
		_, err := s.Authenticate(t.Context(), token, netip.Addr{})
		wantKind(t, err, fault.Unavailable)
	}
	server.Start()
	expect.EventuallyWithin(t, 20*time.Second, "the key works again", func() bool {
		_, err := s.Authenticate(t.Context(), token, netip.Addr{})
		return err == nil
	})
}

func TestLastUseIsWrittenAtStop(t *testing.T) {
	t.Parallel()
	s := newService(t)
	owner := addAccount(t, s, "ada@example.com")
	used, token := addKey(t, s, NewKey{AccountID: owner.ID})
	idle, _ := addKey(t, s, NewKey{AccountID: owner.ID})
	if _, err := s.Authenticate(t.Context(), token, netip.Addr{}); err != nil {
		t.Fatal(err)
	}
	if before := lastUsed(t, s, owner.ID, used.ID); before != nil {
		t.Errorf("last_used_at was written on the hot path: %s", before)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if at := lastUsed(t, s, owner.ID, used.ID); at == nil || time.Since(*at).Abs() > time.Minute {
		t.Errorf("last_used_at is %v, want the time of the use", at)
	}
	if at := lastUsed(t, s, owner.ID, idle.ID); at != nil {
		t.Errorf("an unused key has last_used_at %s", at)
	}
}

func TestLastUseIsWrittenPeriodicallyAndNeverGoesBack(t *testing.T) {
	t.Parallel()
	s := start(t, dbtest.New(t), Config{LastUsedEvery: 10 * time.Millisecond})
	owner := addAccount(t, s, "ada@example.com")
	made, token := addKey(t, s, NewKey{AccountID: owner.ID})
	if _, err := s.Authenticate(t.Context(), token, netip.Addr{}); err != nil {
		t.Fatal(err)
	}
	expect.EventuallyWithin(t, 5*time.Second, "the use is written",
		func() bool { return lastUsed(t, s, owner.ID, made.ID) != nil })
	dbtest.Exec(t, s.db, `UPDATE api_keys SET last_used_at = now() + interval '1 hour' WHERE id = $1`, made.ID) // another process wrote a later use
	later := *lastUsed(t, s, owner.ID, made.ID)
	if _, err := s.Authenticate(t.Context(), token, netip.Addr{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if at := lastUsed(t, s, owner.ID, made.ID); !at.Equal(later) {
		t.Errorf("last_used_at went from %s to %s", later, at)
	}
}

func lastUsed(t testing.TB, s *Service, accountID, keyID string) *time.Time {
	t.Helper()
	found, err := s.Key(t.Context(), accountID, keyID)
	if err != nil {
		t.Fatal(err)
	}
	return found.LastUsedAt
}

func TestKeysArePagedPerAccount(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ada, eve := addAccount(t, s, "ada@example.com"), addAccount(t, s, "eve@example.com")
	var want []string
	for i := range 5 {
		made, _ := addKey(t, s, NewKey{AccountID: ada.ID, Name: fmt.Sprint("key ", i)})
		want = append([]string{made.ID}, want...)
		addKey(t, s, NewKey{AccountID: eve.ID})
	}
	var got []string
	request := page.Request{Limit: 2}
	for {
		list, err := s.Keys(t.Context(), ada.ID, request)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range list.Items {
			got = append(got, key.ID)
		}
		if list.HasMore != (list.NextCursor != "") {
			t.Errorf("the page has has_more %t and cursor %q", list.HasMore, list.NextCursor)
		}
		if !list.HasMore {
			break
		}
		request.Cursor = list.NextCursor
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	_, err := s.Keys(t.Context(), eve.ID, request) // a cursor of ada
	wantKind(t, err, fault.Invalid)
	_, err = s.Keys(t.Context(), ada.ID, page.Request{Limit: 101})
	wantKind(t, err, fault.Invalid)
	_, err = s.Key(t.Context(), eve.ID, want[0])
	wantKind(t, err, fault.NotFound)
	if said, want := fault.Classify(err).Message, "No such API key: "+want[0]; said != want {
		t.Errorf("a cursor of another account got %q, want %q", said, want)
	}
	_, err = s.RevokeKey(t.Context(), eve.ID, want[0])
	wantKind(t, err, fault.NotFound)
	if key, err := s.Key(t.Context(), ada.ID, want[0]); err != nil || key.RevokedAt != nil {
		t.Errorf("a key revoked by another account is %+v, %v", key, err)
	}
}

func TestKeysAreRenamed(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ada, eve := addAccount(t, s, "ada@example.com"), addAccount(t, s, "eve@example.com")
	made, token := addKey(t, s, NewKey{AccountID: ada.ID, Name: "web shop", Scope: rights.ScopeSending})
	if renamed, err := s.UpdateKey(t.Context(), ada.ID, made.ID, KeyChange{Name: new("  shop  ")}); err != nil ||
		renamed.Name != "shop" || renamed.Scope != made.Scope {
		t.Errorf("the renamed key is %+v, %v, want the name shop and the same scope", renamed, err)
	}
	if same, err := s.UpdateKey(t.Context(), ada.ID, made.ID, KeyChange{}); err != nil || same.Name != "shop" {
		t.Errorf("after a change without a name the key is %+v, %v, want the name shop", same, err)
	}
	if _, err := s.Authenticate(t.Context(), token, netip.Addr{}); err != nil {
		t.Errorf("the renamed key is refused: %v", err)
	}
	_, err := s.UpdateKey(t.Context(), eve.ID, made.ID, KeyChange{Name: new("eve's")})
	wantKind(t, err, fault.NotFound)
	for _, name := range []string{"", " ", "two\nlines", "see https://evil.example", strings.Repeat("n", 201)} {
		_, err := s.UpdateKey(t.Context(), ada.ID, made.ID, KeyChange{Name: &name})
		wantKind(t, err, fault.Invalid)
	}
	if kept, err := s.Key(t.Context(), ada.ID, made.ID); err != nil || kept.Name != "shop" {
		t.Errorf("after refused changes the key is %+v, %v, want the name shop", kept, err)
	}
}

func TestKeysAreFiltered(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ada := addAccount(t, s, "ada@example.com")
	web, _ := addKey(t, s, NewKey{AccountID: ada.ID, Name: "The web shop"})
	reader, _ := addKey(t, s, NewKey{AccountID: ada.ID, Name: "Reader", Scope: rights.ScopeRead})
	if _, err := s.RevokeKey(t.Context(), ada.ID, reader.ID); err != nil {
		t.Fatal(err)
	}
	yes, no := true, false
	for name, c := range map[string]struct {
		filter KeyFilter
		want   []string
	}{
		"all": {KeyFilter{}, []string{reader.ID, web.ID}}, "by name": {KeyFilter{Text: "WEB"}, []string{web.ID}},
		"by scope": {KeyFilter{Scope: apikey.ScopeRead}, []string{reader.ID}},
		"revoked":  {KeyFilter{Revoked: &yes}, []string{reader.ID}},
		"in use":   {KeyFilter{Revoked: &no}, []string{web.ID}}, "a wildcard": {KeyFilter{Text: "%"}, nil},
	} {
		found, err := s.FilteredKeys(t.Context(), ada.ID, c.filter, page.Request{})
		var ids []string
		for _, key := range found.Items {
			ids = append(ids, key.ID)
		}
		n, failed := s.CountKeys(t.Context(), ada.ID, c.filter, 10)
		if diff := cmp.Diff(c.want, ids); diff != "" || err != nil || failed != nil || n != len(c.want) {
			t.Errorf("%s: (-want +got) %s, %v; %d counted, %v", name, diff, err, n, failed)
		}
	}
	if _, err := s.FilteredKeys(t.Context(), ada.ID, KeyFilter{Text: "a\x00"}, page.Request{}); fault.Classify(err).
		Fields["query"] == "" {
		t.Errorf("a text with NUL: %v, want an error for query", err)
	}
}

func TestNewKeyReportsEveryWrongField(t *testing.T) {
	t.Parallel()
	s := newService(t)
	past := time.Now().Add(-time.Second)
	_, _, err := s.CreateKey(t.Context(), NewKey{AccountID: addAccount(t, s, "ada@example.com").ID, Scope: "admin",
		DomainIDs: []string{"example.com"}, ExpiresAt: &past})
	for _, field := range []string{"name", "scope", "domain_ids[0]", "expires_at"} {
		if fault.Classify(err).Fields[field] == "" {
			t.Errorf("no error for the field %s in %v", field, err)
		}
	}
	_, _, err = s.CreateKey(t.Context(), NewKey{AccountID: "acc_unknown", Name: "x"})
	wantKind(t, err, fault.NotFound)
}

func BenchmarkAuthenticateCached(b *testing.B) {
	s := newService(b)
	_, token := addKey(b, s, NewKey{AccountID: addAccount(b, s, "ada@example.com").ID})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Authenticate(b.Context(), token, netip.Addr{}); err != nil {
			b.Fatal(err)
		}
	}
}

// A key that is limited to networks works only from their addresses, and its last address is recorded.
func TestKeyIsLimitedToNetworks(t *testing.T) {
	t.Parallel()
	s := newService(t)
	owner := addAccount(t, s, "ada@example.com")
	made, token := addKey(t, s, NewKey{AccountID: owner.ID, AllowedIPs: []string{"192.0.2.77/24", "2001:db8::/32", "198.51.100.7"}})
	if diff := cmp.Diff([]string{"192.0.2.0/24", "2001:db8::/32", "198.51.100.7/32"}, made.AllowedIps); diff != "" {
		t.Errorf("networks (-want +got):\n%s", diff)
	}
	for addr, allowed := range map[string]bool{"192.0.2.1": true, "::ffff:192.0.2.1": true, "2001:db8::1": true,
		"198.51.100.7": true, "198.51.100.8": false, "192.0.3.1": false, "2001:db9::1": false, "127.0.0.1": false} {
		_, err := s.Authenticate(t.Context(), token, netip.MustParseAddr(addr))
		if allowed && err != nil || !allowed && fault.Classify(err).Code != fault.CodeAddressNotAllowed {
			t.Errorf("from %s: error %v, want allowed %t", addr, err, allowed)
		}
	}
	if _, err := s.Authenticate(t.Context(), token, netip.Addr{}); fault.Classify(err).Code != fault.CodeAddressNotAllowed {
		t.Errorf("from an unknown address: error %v, want %s", err, fault.CodeAddressNotAllowed)
	}
	if _, err := s.Authenticate(t.Context(), token, netip.MustParseAddr("::ffff:192.0.2.9")); err != nil {
		t.Fatal(err)
	}
	if err := s.used.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := s.Key(t.Context(), owner.ID, made.ID)
	if err != nil || found.LastUsedIP == nil || *found.LastUsedIP != "192.0.2.9" {
		t.Errorf("the key was last used from %v, error %v, want 192.0.2.9", found.LastUsedIP, err)
	}

	// a key cannot widen its own networks, nor create a key with wider ones
	widen := KeyChange{AllowedIPs: new([]string{"0.0.0.0/0"}), ByKeyID: made.ID}
	if _, err := s.UpdateKey(t.Context(), owner.ID, made.ID, widen); fault.Classify(err).Fields["allowed_ips[0]"] == "" {
		t.Errorf("a key widened its networks: error %v", err)
	}
	if _, _, err := s.CreateKey(t.Context(), NewKey{AccountID: owner.ID, Name: "wider", MakerKeyID: made.ID}); fault.
		Classify(err).Fields["allowed_ips"] == "" {
		t.Errorf("a limited key created an unlimited one: error %v", err)
	}
	narrow := KeyChange{AllowedIPs: new([]string{"192.0.2.128/25"}), ByKeyID: made.ID}
	if _, err := s.UpdateKey(t.Context(), owner.ID, made.ID, narrow); err != nil {
		t.Errorf("a key could not narrow its networks: %v", err)
	}
	if _, err := s.Authenticate(t.Context(), token, netip.MustParseAddr("192.0.2.1")); fault.Classify(err).
		Code != fault.CodeAddressNotAllowed {
		t.Errorf("after the networks were narrowed: error %v, want %s", err, fault.CodeAddressNotAllowed)
	}
}

func TestInvalidNetworksAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "192.0.2", "192.0.2.0/33", "192.0.2.0/-1", "fe80::1%eth0", "example.com", "192.0.2.1 ",
		"::ffff:192.0.2.0/120", "192.0.2.1/24/8"} {
		err := NewKey{AccountID: "acc_1", Name: "server", AllowedIPs: []string{text}}.Validate()
		if fault.Classify(err).Fields["allowed_ips[0]"] == "" {
			t.Errorf("the network %q got the error %v, want one for allowed_ips[0]", text, err)
		}
	}
	many := NewKey{AccountID: "acc_1", Name: "server", AllowedIPs: slices.Repeat([]string{"192.0.2.1"}, maxKeyNetworks+1)}
	if fault.Classify(many.Validate()).Fields["allowed_ips"] == "" {
		t.Error("too many networks were accepted")
	}
}

// A rotated key keeps its rights under a new secret, and the old secret works until the overlap ends.
func TestRotatedKeyOverlaps(t *testing.T) {
	t.Parallel()
	s := newService(t)
	owner := addAccount(t, s, "ada@example.com")
	domainID := addDomain(t, s, owner.ID)
	old, oldToken := addKey(t, s, NewKey{AccountID: owner.ID, Name: "shop", Scope: rights.ScopeFull,
		DomainIDs: []string{domainID}, AllowedIPs: []string{"192.0.2.0/24"}})
	from := netip.MustParseAddr("192.0.2.1")
	rotate := func(keyID, maker string, overlap time.Duration) (*ent.APIKey, string, error) {
		made, token, err := s.RotateKey(t.Context(), Rotation{AccountID: owner.ID, KeyID: keyID, MakerKeyID: maker,
			Overlap: overlap})
		return made, token.Reveal(), err
	}
	made, token, err := rotate(old.ID, old.ID, time.Hour) // the key makes the request
	if err != nil {
		t.Fatal(err)
	}
	if made.ID == old.ID || made.Name != "shop" || made.Scope != old.Scope || made.ExpiresAt != nil ||
		!slices.Equal(made.DomainIds, old.DomainIds) || !slices.Equal(made.AllowedIps, old.AllowedIps) {
		t.Errorf("the new key is %+v, want the rights of %+v", made, old)
	}
	for _, secret := range []string{oldToken, token} {
		if _, err := s.Authenticate(t.Context(), secret, from); err != nil {
			t.Errorf("during the overlap: %v", err)
		}
	}
	kept, err := s.Key(t.Context(), owner.ID, old.ID)
	if err != nil || kept.ExpiresAt == nil || time.Until(*kept.ExpiresAt) > time.Hour+time.Minute {
		t.Errorf("the old key expires at %v, error %v, want in an hour", kept.ExpiresAt, err)
	}
	if _, _, err := rotate(old.ID, "", MaxOverlap); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Key(t.Context(), owner.ID, old.ID); err != nil || !again.ExpiresAt.Equal(*kept.ExpiresAt) {
		t.Errorf("a second rotation moved the expiry to %v, want %v", again.ExpiresAt, kept.ExpiresAt)
	}
	if _, _, err := rotate(made.ID, "", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate(t.Context(), token, from); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("without an overlap, the old secret got the error %v, want unauthorized", err)
	}
	_, _, err = rotate(made.ID, "", 0)
	wantKind(t, err, fault.Conflict)
	_, _, err = rotate("key_00000000000000000000000000", "", 0)
	wantKind(t, err, fault.NotFound)
	_, _, err = rotate(old.ID, "", MaxOverlap+time.Second)
	wantKind(t, err, fault.Invalid)
}
