package tracking

import (
	"errors"
	"testing"

	"github.com/postrider/postrider/modules/tracking/linkrules"
	"github.com/postrider/postrider/runtime/base/id"
)

// oldToken is a click token of testAccount for oldTarget, issued by a version that did not bind tokens to
// hosts.
const (
	oldToken  = "EgGbwUJw8XG6i4tlWOqWB0oBm8FCcPFxuouLZVjqlgdLZXhhbXBsZS5jb20vcmVjZWlwdHMvMTA0Mj9hPTEmYj0yb9_IfJaiEg3WCIDk"
	oldTarget = "https://example.com/receipts/1042?a=1&b=2"
)

func (w *world) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := w.db.SQL.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
	if err := w.rules.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
}

const (
	addAccountSQL = `INSERT INTO accounts (id, name, email) VALUES ($1, 'Account', 'owner@example.com')`
	addDomainSQL  = `INSERT INTO domains (id, account_id, name, status, ownership_token) VALUES ($1, $2, $3, 'verified', 'token')`
	addHostSQL    = `INSERT INTO tracking_hosts (account_id, domain_id, host, status, verified_at) VALUES ($1, $2, $3, 'verified', now())`
)

// addCustomer adds an account with a domain and a tracking host.
func (w *world) addCustomer(t *testing.T, accountID, domain string) (domainID string) {
	t.Helper()
	domainID = id.New(id.Domain)
	w.exec(t, addAccountSQL, accountID)
	w.exec(t, addDomainSQL, domainID, accountID, domain)
	w.exec(t, addHostSQL, accountID, domainID, "links."+domain)
	return domainID
}

func (w *world) clickToken(t *testing.T, accountID, host string) string {
	t.Helper()
	m, err := w.tokens.newMinter(accountID, testEmail, host)
	if err != nil {
		t.Fatal(err)
	}
	return m.mintClick("https://shop.example/offer")
}

func (w *world) wantRead(t *testing.T, what, token, host string, want error) {
	t.Helper()
	mark, err := w.Read(t.Context(), Click, token, host)
	if !errors.Is(err, want) || (want == nil) != (mark.Target != "") {
		t.Errorf("%s, requested on %s, returned %q and error %v, want error %v", what, host, mark.Target, err, want)
	}
}

func TestLinkWorksOnlyOnItsHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addCustomer(t, w.ada, "ada.example")
	w.addCustomer(t, w.eve, "eve.example")
	adas, base := w.clickToken(t, w.ada, "links.ada.example"), w.clickToken(t, w.ada, ownHost)
	for _, host := range []string{"links.ada.example", "LINKS.ada.example.", "links.ada.example:8443"} {
		w.wantRead(t, "a link under the account's tracking host", adas, host, nil)
	}
	for _, host := range []string{"mail.example.org", "old.example.org", "links.eve.example", "unknown.example",
		"ada.example", "x.links.ada.example", "127.0.0.1:8080", "postrider", ""} {
		w.wantRead(t, "a link under the account's tracking host", adas, host, ErrForged)
	}
	for _, host := range []string{"mail.example.org", "MAIL.example.org:443", "old.example.org", "127.0.0.1:8080",
		"[::1]:8080", "localhost:8080", "postrider:8080"} {
		w.wantRead(t, "a link under the base URL", base, host, nil)
	}
	for _, host := range []string{"links.ada.example", "links.eve.example", "unknown.example"} {
		w.wantRead(t, "a link under the base URL", base, host, ErrForged)
	}
}

// A replaced tracking host keeps answering links in sent mail until its domain is deleted or moves to another
// account.
func TestLinkOnFormerHostWorksWhileAccountOwnsDomain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	domainID := w.addCustomer(t, w.ada, "ada.example")
	token := w.clickToken(t, w.ada, "links.ada.example")
	w.exec(t, `UPDATE tracking_hosts SET host = 'go.ada.example' WHERE account_id = $1`, w.ada)
	w.wantRead(t, "a link under a former host", token, "links.ada.example", nil)
	w.exec(t, `DELETE FROM tracking_hosts WHERE account_id = $1`, w.ada)
	w.wantRead(t, "a link under a deleted host", token, "links.ada.example", nil)
	w.exec(t, `DELETE FROM domains WHERE id = $1`, domainID)
	w.wantRead(t, "a link under a deleted domain", token, "links.ada.example", ErrForged)
	w.addCustomer(t, w.eve, "ada.example")
	w.wantRead(t, "a link under a domain that now belongs to another account", token, "links.ada.example", ErrForged)
}

func TestUnboundLinksStayValid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addCustomer(t, testAccount, "ada.example")
	w.addCustomer(t, w.eve, "eve.example")
	for _, host := range []string{"mail.example.org", "old.example.org", "links.ada.example", "127.0.0.1:8080"} {
		mark, err := w.Read(t.Context(), Click, oldToken, host)
		if err != nil || mark.Target != oldTarget {
			t.Errorf("a link from an earlier version, requested on %s, returned %q with error %v, want %s", host,
				mark.Target, err, oldTarget)
		}
	}
	for _, host := range []string{"links.eve.example", "unknown.example"} {
		w.wantRead(t, "a link from an earlier version", oldToken, host, ErrForged)
	}
}

func TestSuspendedAccountLinksDoNotRedirect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addCustomer(t, w.ada, "ada.example")
	token, eves := w.clickToken(t, w.ada, "links.ada.example"), w.clickToken(t, w.eve, ownHost)
	w.exec(t, `UPDATE accounts SET suspended_at = now() WHERE id = $1`, w.ada)
	w.wantRead(t, "a link of a suspended account", token, "links.ada.example", ErrWithheld)
	w.wantRead(t, "a link of another account", eves, "mail.example.org", nil)
	w.exec(t, `UPDATE accounts SET suspended_at = NULL WHERE id = $1`, w.ada)
	w.wantRead(t, "a link of a resumed account", token, "links.ada.example", nil)
}

func TestFlaggedTargetIsNotRedirected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, err := w.tokens.newMinter(w.ada, testEmail, ownHost)
	if err != nil {
		t.Fatal(err)
	}
	flags := linkrules.NewFlags(w.db)
	for _, written := range []string{"Evil.example", "https://shop.example/Offer/"} {
		if _, err := flags.Add(t.Context(), written, "phishing"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.rules.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]error{
		"https://evil.example/": ErrWithheld, "http://www.EVIL.example./a": ErrWithheld,
		"https://good@evil.example:8443/%zz": ErrWithheld, "https://evil.example?a": ErrWithheld,
		"https://notevil.example/": nil, "https://example/evil.example": nil,
		"https://shop.example/offer/1": ErrWithheld, "http://shop.example:80/%6fffer/": ErrWithheld,
		"https://shop.example/offers": nil, "https://www.shop.example/offer/": nil,
	} {
		w.wantRead(t, "a click on "+target, m.mintClick(target), "mail.example.org", want)
	}
	if mark, err := w.Read(t.Context(), Open, m.mintOpen(), "mail.example.org"); err != nil || mark.Kind != Open {
		t.Errorf("an open returned %+v and error %v, want no error", mark, err)
	}
}

func TestLinksWorkWithoutDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addCustomer(t, w.ada, "ada.example")
	w.exec(t, addAccountSQL, w.eve)
	w.exec(t, `UPDATE accounts SET suspended_at = now() WHERE id = $1`, w.eve)
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.rules.Reload(t.Context()); err == nil {
		t.Fatal("Reload succeeded with a closed database")
	}
	w.wantRead(t, "a link", w.clickToken(t, w.ada, "links.ada.example"), "links.ada.example", nil)
	w.wantRead(t, "a link of a suspended account", w.clickToken(t, w.eve, ownHost), "mail.example.org", ErrWithheld)
	if _, err := w.Read(t.Context(), Click, w.clickToken(t, w.ada, "go.ada.example"), "go.ada.example"); err == nil ||
		errors.Is(err, ErrForged) {
		t.Errorf("a link under a host that cannot be looked up returned %v, want a database error", err)
	}
}
