package sending

import (
	"context"
	"strings"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

// policyInput is all that decides who may send what to whom.
type policyInput struct {
	caller     accounts.Caller
	account    accounts.Account
	identity   domains.Identity
	recipients []address.Address
}

// check is pure; nil means that the message may be sent.
func (p policyInput) check() error {
	if p.account.Suspended {
		return fault.Forbiddenf(fault.CodeAccountSuspended, "This account is suspended and cannot send; contact the operator of this service")
	}
	if !p.caller.MayUseDomain(p.identity.DomainID) {
		return fault.Forbiddenf(fault.CodeDomainNotVerified, "This credential may not send from %s", p.identity.Domain)
	}
	if p.identity.Sandbox {
		if other, found := p.otherRecipient(); found {
			return fault.Forbiddenf(fault.CodeSandboxRecipient,
				"The sandbox sender may write only to the account email, not to %s; verify a domain of your own", other)
		}
	}
	if !p.account.Unlocked(!p.identity.Sandbox) { // domains gives an identity for verified domains only
		if other, found := p.otherRecipient(); found {
			return fault.Forbiddenf(fault.CodeProductionLocked,
				"Until production is unlocked this account may write only to its own email, not to %s", other)
		}
	}
	return nil
}

// otherRecipient finds a recipient that is not the account's own address.
func (p policyInput) otherRecipient() (string, bool) {
	for _, r := range p.recipients {
		if !strings.EqualFold(r.AddrSpec(), p.account.Email) {
			return r.AddrSpec(), true
		}
	}
	return "", false
}

// MaySend tells whether the caller may send from the address at all; whom to is asked
// by Send.
func (s *Service) MaySend(ctx context.Context, caller accounts.Caller, from address.Address) error {
	identity, err := s.domains.Identity(ctx, caller.AccountID, from)
	if err != nil {
		return err
	}
	account, err := s.accounts.Account(ctx, caller.AccountID)
	if err != nil {
		return err
	}
	account.Suspended = account.Suspended || caller.Suspended
	return policyInput{caller: caller, account: account, identity: identity}.check()
}
