package accounts

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

func addOperatorKey(t testing.TB, s *Service, in NewOperatorKey) (*ent.OperatorKey, string) {
	t.Helper()
	in.Name = "provisioning"
	made, token, err := s.CreateOperatorKey(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return made, token.Reveal()
}

// An operator key acts for the account that a request names, and for none without a name. It is no API key.
func TestOperatorKeyActsForAccounts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	acme := addAccount(t, s, "ada@example.com")
	made, token := addOperatorKey(t, s, NewOperatorKey{})
	if !strings.HasPrefix(token, "svc_op_") || !IsOperatorSecret(token) || made.Prefix != token[:12] {
		t.Errorf("secret %s, prefix %s", token, made.Prefix)
	}
	want := Caller{Scope: rights.ScopeOperator, Operator: &Operator{KeyID: made.ID, Name: "provisioning"}}
	for _, want.AccountID = range []string{"", acme.ID, ""} {
		got, err := s.AuthenticateOperator(t.Context(), token, netip.Addr{}, want.AccountID)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("for %q: %v %s", want.AccountID, err, diff)
		}
	}
	if _, err := s.Authenticate(t.Context(), token, netip.Addr{}); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("an operator key as an API key: %v", err)
	}
	if _, err := s.AuthenticateHash(t.Context(), [32]byte(secret.HashToken(token)), netip.Addr{}); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("an operator key as the password of an SMTP session: %v", err)
	}
	_, ordinary := addKey(t, s, NewKey{AccountID: acme.ID})
	for _, wrong := range []string{ordinary, token[:len(token)-1] + "!", "svc_op_" + strings.Repeat("x", 40), "svc_op_", ""} {
		if _, err := s.AuthenticateOperator(t.Context(), wrong, netip.Addr{}, acme.ID); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("%q as an operator key: %v", wrong, err)
		}
	}
	system, err := s.EnsureSystem(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []string{system, id.New(id.Account)} {
		if _, err := s.AuthenticateOperator(t.Context(), token, netip.Addr{}, hidden); fault.KindOf(err) != fault.NotFound {
			t.Errorf("an operator key for the account %s: %v", hidden, err)
		}
	}
}

// A suspended account cannot send through an operator key either.
func TestOperatorKeyOfSuspendedAccountCannotSend(t *testing.T) {
	t.Parallel()
	s := newService(t)
	acme := addAccount(t, s, "ada@example.com")
	_, token := addOperatorKey(t, s, NewOperatorKey{})
	for _, suspended := range []bool{false, true, false} {
		if _, err := s.UpdateAccount(t.Context(), acme.ID, AccountChange{Suspended: &suspended}); err != nil {
			t.Fatal(err)
		}
		caller, err := s.AuthenticateOperator(t.Context(), token, netip.Addr{}, acme.ID)
		if err != nil || caller.Suspended != suspended {
			t.Fatalf("suspended %t: %+v, %v", suspended, caller, err)
		}
		if refused := caller.Authorize(rights.Send) != nil; refused != suspended || caller.Authorize(rights.Write) != nil {
			t.Errorf("suspended %t: sending is refused %t", suspended, refused)
		}
	}
}

func TestOperatorKeyEnds(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := start(t, d, Config{CacheTTL: time.Millisecond})
	refused := func(token string) bool {
		_, err := s.AuthenticateOperator(t.Context(), token, netip.MustParseAddr("192.0.2.1"), "")
		if err != nil && fault.KindOf(err) != fault.Unauthorized {
			t.Fatal(err)
		}
		return err != nil
	}
	exec := func(query, keyOrUser string) {
		t.Helper()
		if _, err := d.SQL.ExecContext(t.Context(), query, keyOrUser); err != nil {
			t.Fatal(err)
		}
	}
	revoked, token := addOperatorKey(t, s, NewOperatorKey{})
	if refused(token) {
		t.Error("a new key is refused")
	}
	for range 2 {
		if k, err := s.RevokeOperatorKey(t.Context(), revoked.ID, nil); err != nil || k.RevokedAt == nil {
			t.Fatal(k, err)
		}
	}
	if !refused(token) {
		t.Error("a revoked key is accepted")
	}
	_, err := s.RevokeOperatorKey(t.Context(), id.New(id.OperatorKey), nil)
	wantKind(t, err, fault.NotFound)

	soon := time.Now().Add(time.Hour)
	expired, token := addOperatorKey(t, s, NewOperatorKey{ExpiresAt: &soon})
	if refused(token) {
		t.Error("a key is refused before it expires")
	}
	exec(`UPDATE operator_keys SET expires_at = now() - interval '1 second' WHERE id = $1`, expired.ID)
	expect.Eventually(t, "an expired key", func() bool { return refused(token) })

	// The key of an operator ends when that user is disabled or loses the role.
	acme := addAccount(t, s, "ada@example.com")
	var owner string
	if err := d.SQL.QueryRowContext(t.Context(), `SELECT user_id FROM memberships WHERE account_id = $1`, acme.ID).
		Scan(&owner); err != nil {
		t.Fatal(err)
	}
	exec(`UPDATE users SET operator = true WHERE id = $1`, owner)
	_, token = addOperatorKey(t, s, NewOperatorKey{CreatedBy: owner})
	if refused(token) {
		t.Error("the key of an operator is refused")
	}
	exec(`UPDATE users SET disabled_at = now() WHERE id = $1`, owner)
	expect.Eventually(t, "the key of a disabled operator", func() bool { return refused(token) })
	exec(`UPDATE users SET disabled_at = NULL, operator = false WHERE id = $1`, owner)
	expect.Eventually(t, "the key of a former operator", func() bool { return refused(token) })
}

func TestOperatorKeyIsLimitedToNetworks(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made, token := addOperatorKey(t, s, NewOperatorKey{AllowedIPs: []string{"192.0.2.0/24", "2001:db8::1"}})
	for from, allowed := range map[string]bool{"192.0.2.7": true, "::ffff:192.0.2.7": true, "2001:db8::1": true,
		"198.51.100.1": false, "2001:db8::2": false, "": false} {
		var addr netip.Addr
		if from != "" {
			addr = netip.MustParseAddr(from)
		}
		_, err := s.AuthenticateOperator(t.Context(), token, addr, "")
		if (err == nil) != allowed || err != nil && fault.Classify(err).Code != fault.CodeAddressNotAllowed {
			t.Errorf("from %q: %v", from, err)
		}
	}
	if err := s.flushUses(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := s.OperatorKeys(t.Context(), page.Request{})
	if err != nil || len(found.Items) != 1 || found.Items[0].ID != made.ID || found.Items[0].LastUsedAt == nil ||
		found.Items[0].LastUsedIP == nil {
		t.Errorf("after a use, the keys are %+v, %v", found.Items, err)
	}
	past := time.Now().Add(-time.Hour)
	wrong := fault.Classify(NewOperatorKey{AllowedIPs: []string{"x"}, ExpiresAt: &past}.Validate()).Fields
	for _, field := range []string{"name", "allowed_ips[0]", "expires_at"} {
		if wrong[field] == "" {
			t.Errorf("an invalid key has the errors %v, want one of %s", wrong, field)
		}
	}
}
