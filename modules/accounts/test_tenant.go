package accounts

import "github.com/postrider/postrider/runtime/base/id"

// The limits of test mode, which are the same on every plan.
const (
	testDailyEmails  = 10_000
	testStoredBytes  = 1_000_000_000
	testDailyBytes   = 250_000_000
	testRetention    = 7 // days
	testPlanName     = "Test mode"
	testRequestsRate = 50 // requests per second, at least
)

// asTestTenant returns an account as the owner of its data of test mode: with the same rights to send, and with
// limits that have nothing to do with what the account pays for.
func (a Account) asTestTenant() Account {
	a.ID = id.TestTenantOf(a.ID)
	a.Unmetered, a.MonthlyLimit, a.PaymentDue = false, nil, false
	a.StoredBytes, a.DailyBytes = nil, nil
	a.Plan.Name = testPlanName
	a.Plan.DailyEmails, a.Plan.MonthlyEmails = new(testDailyEmails), nil
	a.Plan.StoredBytes, a.Plan.DailyBytes = new(testStoredBytes), new(testDailyBytes)
	a.Plan.IncludedEmails, a.Plan.Overage = nil, false
	a.Plan.RequestsPerSecond = max(a.Plan.RequestsPerSecond, testRequestsRate)
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
