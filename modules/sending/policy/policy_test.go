package policy

import (
	"errors"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	own := address.Address{Local: "owner", Domain: "example.com"}
	ownUpper := address.Address{Local: "Owner", Domain: "example.com"}
	other := address.Address{Local: "bob", Domain: "example.net"}
	free := accounts.Account{Email: "owner@example.com", Plan: accounts.Plan{Sandboxed: true}}
	unlocked := accounts.Account{Email: "owner@example.com", Plan: accounts.Plan{Sandboxed: true},
		ProductionUnlocked: true}
	paying := accounts.Account{Email: "owner@example.com", Plan: accounts.Plan{Sandboxed: true}, PaymentMethod: true}
	paid := accounts.Account{Email: "owner@example.com"}
	domain := domains.SigningIdentity{DomainID: "dom_1", Domain: "example.com"}
	sandbox := domains.SigningIdentity{DomainID: "dom_0", Domain: "sandbox.test", Sandbox: true}

	for name, c := range map[string]struct {
		in   Input
		code string
	}{
		"paid account to any address": {Input{Account: paid, Identity: domain, Recipients: []address.Address{other}}, ""},
		"free account to itself":      {Input{Account: free, Identity: domain, Recipients: []address.Address{own, ownUpper}}, ""},
		"free account to another": {Input{Account: free, Identity: domain,
			Recipients: []address.Address{own, other}}, fault.CodeProductionLocked},
		"free account unlocked":              {Input{Account: unlocked, Identity: domain, Recipients: []address.Address{other}}, ""},
		"free account with a payment method": {Input{Account: paying, Identity: domain, Recipients: []address.Address{own, other}}, ""},
		"the same, sandbox sender to itself": {Input{Account: paying, Identity: sandbox, Recipients: []address.Address{own}}, ""},
		"the same, sandbox sender to another": {Input{Account: paying, Identity: sandbox,
			Recipients: []address.Address{other}}, fault.CodeSandboxRecipient},
		"sandbox to the account email": {Input{Account: paid, Identity: sandbox, Recipients: []address.Address{own}}, ""},
		"sandbox to another, even on a paid plan": {Input{Account: paid, Identity: sandbox,
			Recipients: []address.Address{own, other}}, fault.CodeSandboxRecipient},
		"key bound to this domain": {Input{Account: paid, Identity: domain, Recipients: []address.Address{other},
			Caller: accounts.Caller{DomainIDs: []string{"dom_9", "dom_1"}}}, ""},
		"key bound to another domain": {Input{Account: paid, Identity: domain, Recipients: []address.Address{other},
			Caller: accounts.Caller{DomainIDs: []string{"dom_9"}}}, fault.CodeDomainNotVerified},
		"key bound to a domain, sandbox sender": {Input{Account: paid, Identity: sandbox, Recipients: []address.Address{own},
			Caller: accounts.Caller{DomainIDs: []string{"dom_9"}}}, fault.CodeDomainNotVerified},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.in.Check()
			var refused *fault.Error
			switch {
			case c.code == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.code != "" && (!errors.As(err, &refused) || refused.Code != c.code ||
				refused.Kind != fault.Forbidden):
				t.Errorf("got %v, want Forbidden %s", err, c.code)
			}
		})
	}
}
