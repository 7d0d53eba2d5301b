package dnscheck

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
)

// Customers publish the target, so the target of an id must never change.
func TestOwnTargetIsStable(t *testing.T) {
	t.Parallel()
	const want = "f5yws6afqse2n4sp.rp.mail.example.com"
	if got := OwnTarget("dom_01kabm5yq3e0tv2w6z9j7r4d5c", "rp.mail.example.com"); got != want {
		t.Errorf("the target is %s, want %s", got, want)
	}
}

func TestOwnTargetsAreDistinctNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		domainID := id.New(id.Domain)
		target := OwnTarget(domainID, "rp.mail.example.com")
		if parsed, err := address.ParseDomain(target); err != nil || parsed != target {
			t.Fatalf("the target %s is not a domain name in canonical form: %s, %v", target, parsed, err)
		}
		if seen[target] || strings.Contains(target, strings.TrimPrefix(domainID, "dom_")) {
			t.Fatalf("the target %s of %s is not unique, or contains the id", target, domainID)
		}
		seen[target] = true
	}
}

// Existing domains keep the target that they have published, whatever the setting.
func TestShownReturnPathTarget(t *testing.T) {
	t.Parallel()
	const shared, domainID = "rp.mail.example.com", "dom_01kabm5yq3e0tv2w6z9j7r4d5c"
	own, account := OwnTarget(domainID, shared), "acc_1"
	for _, c := range []struct {
		name    string
		setting bool
		account *string
		found   []string
		want    string
	}{
		{"a new domain", true, &account, nil, own},
		{"a new domain without the setting", false, &account, nil, shared},
		{"a domain that points to the shared target", true, &account, []string{"RP.mail.example.com."}, shared},
		{"a domain that points to its own target", true, &account, []string{own + ".", shared + "."}, own},
		{"its own target, after the setting was removed", false, &account, []string{own, shared}, own},
		{"a domain that points elsewhere", true, &account, []string{"www.example.net."}, own},
		{"a domain of the installation", true, nil, nil, shared},
	} {
		d := &ent.Domain{ID: domainID, AccountID: c.account, Name: "example.com",
			Records: []shape.RecordState{{Purpose: string(SPF), Found: []string{own}},
				{Purpose: string(ReturnPath), Found: c.found}}}
		set := NewSet(d, Hosts{ReturnPath: shared, OwnTargets: c.setting})
		for _, r := range set.RecordChecks(d) {
			if r.Purpose == ReturnPath && r.Value != c.want {
				t.Errorf("%s is shown the target %s, want %s", c.name, r.Value, c.want)
			}
		}
	}
}
