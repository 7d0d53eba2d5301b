package id

import "strings"

// A tenant owns data: emails, suppressions, webhooks and so on. Every account is one, and has a second one for test
// mode, whose id differs only in its prefix. Rows of test mode have the id of the test tenant in account_id, so every
// query that is limited to one account also separates the modes. Only definitions that both modes share, such as
// domains and templates, are looked up by HomeAccount.

// TestTenantOf returns the id under which an account stores the data of test mode.
func TestTenantOf(accountID string) string {
	if suffix, found := strings.CutPrefix(accountID, string(Account)+"_"); found {
		return string(TestTenant) + "_" + suffix
	}
	return accountID
}

// HomeAccount returns the account of a tenant: the id itself, or the account that a test tenant belongs to.
func HomeAccount(tenantID string) string {
	if suffix, found := strings.CutPrefix(tenantID, string(TestTenant)+"_"); found {
		return string(Account) + "_" + suffix
	}
	return tenantID
}

// IsTestTenant reports whether a tenant stores data of test mode.
func IsTestTenant(tenantID string) bool { return strings.HasPrefix(tenantID, string(TestTenant)+"_") }
