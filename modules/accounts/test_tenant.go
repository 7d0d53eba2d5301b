package accounts

import "github.com/postrider/postrider/runtime/base/id"

// testRetention is how long the data of test mode is kept, in days.
const testRetention = 7

// asTestTenant returns an account as the owner of its data of test mode: with the same rights to send, and with
// limits that have nothing to do with what the account pays for.
func (a Account) asTestTenant() Account {
	a.ID = id.TestTenantOf(a.ID)
	a.MonthlyLimit, a.PaymentDue = nil, false
	a.StoredBytes, a.DailyBytes = nil, nil
	a.Plan = a.Plan.withTestLimits()
	a.BodyRetentionDays, a.RecordRetentionDays = testRetention, testRetention
	return a
}

// tenantOf returns the account of a row, or its test tenant.
func tenantOf(account Account, tenantID string) Account {
	if id.IsTestTenant(tenantID) {
		return account.asTestTenant()
	}
	return account
}
