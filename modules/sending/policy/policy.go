package policy

import (
	"strings"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

// Input contains everything that the decision depends on.
type Input struct {
	Caller     accounts.Caller // zero if there is no caller, because a scheduled email is being released
	Account    accounts.Account
	Identity   domains.SigningIdentity
	Recipients []address.Address
}

// Check returns nil if the message may be sent, or else an error of kind Forbidden whose code is the reason.
func (p Input) Check() error {
	if p.Account.Suspended {
		return fault.Forbiddenf(fault.CodeAccountSuspended,
			"This account is suspended and cannot send. Contact the operator of this service.")
	}
	if !p.Caller.MayUseDomain(p.Identity.DomainID) {
		return fault.Forbiddenf(fault.CodeDomainNotVerified, "This credential cannot send from %s", p.Identity.Domain)
	}
	if p.Account.System {
		return nil
	}
	if p.Identity.Sandbox {
		if other, found := p.otherRecipient(); found {
			return fault.Forbiddenf(fault.CodeSandboxRecipient,
				"The sandbox sender can only send to the account's own email, not to %s. Verify your own domain to send to others.", other)
		}
	}
	if !p.Account.IsUnlocked(!p.Identity.Sandbox) { // package domains returns an identity only for verified domains
		if other, found := p.otherRecipient(); found {
			return fault.Forbiddenf(fault.CodeProductionLocked,
				"Until production is unlocked, this account can only send to its own email, not to %s", other)
		}
	}
	return nil
}

// otherRecipient returns a recipient that is not the account's own address.
func (p Input) otherRecipient() (string, bool) {
	for _, r := range p.Recipients {
		if !strings.EqualFold(r.AddrSpec(), p.Account.Email) {
			return r.AddrSpec(), true
		}
	}
	return "", false
}
