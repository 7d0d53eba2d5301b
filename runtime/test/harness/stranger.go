package harness

import (
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
)

// Stranger creates another account of the given name on the same installation and returns the app as seen by
// its full-scope key. Only the first app must be stopped.
func (a *App) Stranger(t testing.TB, name string) *App {
	t.Helper()
	other := *a
	other.AccountEmail = name + "@other.test"
	a.Operate(t, "", func(o Operator) {
		account, err := o.Accounts.CreateAccount(t.Context(),
			accounts.NewAccount{Name: name, Email: other.AccountEmail, Plan: "pro", Unmetered: true})
		if err != nil {
			t.Fatal(err)
		}
		other.AccountID = account.ID
		other.APIKey = newKey(t, o, account.ID, name, rights.ScopeFull)
	})
	return &other
}

// WithKey creates a key of the scope and returns the app as a client with that key.
func (a *App) WithKey(t testing.TB, scope rights.Scope) *App {
	t.Helper()
	other := *a
	a.Operate(t, "", func(o Operator) { other.APIKey = newKey(t, o, a.AccountID, string(scope), scope) })
	return &other
}

func newKey(t testing.TB, o Operator, accountID, name string, scope rights.Scope) string {
	t.Helper()
	_, secret, err := o.Accounts.CreateKey(t.Context(), accounts.NewKey{AccountID: accountID, Name: name, Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	return secret.Reveal()
}

// WithOperatorKey creates an operator key and returns the app as a client that acts for its account with that key.
func (a *App) WithOperatorKey(t testing.TB) *App {
	t.Helper()
	other := *a
	other.Account = a.AccountID
	a.Operate(t, "", func(o Operator) {
		_, secret, err := o.Accounts.CreateOperatorKey(t.Context(), accounts.NewOperatorKey{Name: "provisioning"})
		if err != nil {
			t.Fatal(err)
		}
		other.APIKey = secret.Reveal()
	})
	return &other
}
