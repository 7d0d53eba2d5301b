package domains

import (
	"context"
	"strings"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/dnsx"
)

// names parses the names that accounts request.
type names struct {
	reserved reserved
	accounts accountReader
}

// parseRequest returns the account and the normalized name of a request. Error: Invalid.
func (n names) parseRequest(ctx context.Context, accountID,
	input string) (account accounts.Account, name string, err error) {
	name, reason := n.reserved.parseName(input)
	if reason != "" {
		return account, "", fault.InvalidField("name", "%s", reason)
	}
	account, err = n.accounts.Account(ctx, accountID)
	return account, name, err
}

// reserved contains the names of this installation, which accounts cannot add.
type reserved struct {
	hosts   map[string]string // name to its use in the installation
	sandbox string
}

func newReserved(c Config) reserved {
	r := reserved{hosts: map[string]string{}, sandbox: dnsx.CanonicalName(c.SandboxDomain)}
	for _, own := range []struct{ host, what string }{
		{c.BaseHost, "the host of this service"}, {c.ReturnPathHost, "the return path host of this service"},
		{c.SPFInclude, "the SPF host of this service"}, {c.SMTPHost, "the SMTP host of this service"}, {c.Hostname, "the mail host of this service"},
	} {
		if own.host != "" {
			r.hosts[dnsx.CanonicalName(own.host)] = own.what
		}
	}
	return r
}

// parseName returns the normalized name (A-labels, lower case, no final dot), or the reason why accounts
// cannot add it.
func (r reserved) parseName(input string) (name, reason string) {
	input = strings.Trim(input, " ") // except line breaks, which are rejected below
	if input == "" {
		return "", "is required"
	}
	name, err := address.ParseDomain(strings.TrimSuffix(input, "."))
	if err != nil {
		return "", err.Error()
	}
	if what, own := r.hosts[name]; own {
		return "", "is " + what
	}
	if name == r.sandbox || strings.HasSuffix(name, "."+r.sandbox) {
		return "", "is the sandbox domain of this service, or a subdomain of it"
	}
	if address.IsPublicSuffix(name) {
		return "", "is a public suffix, under which others can register names; add your own domain"
	}
	return name, ""
}
