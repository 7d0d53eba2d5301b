package id

import "testing"

func TestTenantsOfAnAccount(t *testing.T) {
	t.Parallel()
	account := New(Account)
	test := TestTenantOf(account)
	if test == account || !IsTestTenant(test) || !Is(TestTenant, test) || IsTestTenant(account) {
		t.Errorf("the test tenant of %s is %s", account, test)
	}
	if HomeAccount(test) != account || HomeAccount(account) != account || TestTenantOf(test) != test {
		t.Errorf("%s and %s do not map to each other", account, test)
	}
	for _, none := range []string{"", "tst", "acc", "msg_1"} {
		if TestTenantOf(none) != none || HomeAccount(none) != none || IsTestTenant(none) {
			t.Errorf("%q is not a tenant", none)
		}
	}
}
