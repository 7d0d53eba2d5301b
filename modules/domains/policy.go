package domains

import (
	"context"
	"fmt"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/storage/db"
)

// PolicyCertificates obtains certificates for the hosts of MTA-STS policies.
type PolicyCertificates interface {
	// Obtain starts obtaining certificates for the hosts and returns immediately.
	Obtain(hosts ...string)
}

// MTASTSPolicy returns the MTA-STS policy of a domain that receives mail here. Error: NotFound. The result may lag up
// to identityTTL after a change by another process.
func (s *Service) MTASTSPolicy(ctx context.Context, name string) (string, error) {
	found, err := s.receivers.Get(ctx, name, s.loadReceiver)
	switch {
	case err != nil:
		return "", fmt.Errorf("mta-sts policy: %w", err)
	case found.receiver.DomainID == "" || found.policy == domain.MtaStsOff || s.checks.hosts.Policies == "":
		return "", fault.NoSuch("MTA-STS policy", name)
	}
	return dnscheck.MTASTSPolicy(found.policy, dnsx.CanonicalName(s.checks.hosts.Inbound)), nil
}

// AllowPolicyHosts returns a function that decides which hosts of MTA-STS policies may have a certificate: those whose
// CNAME record pointed to the target at the last check.
func AllowPolicyHosts(d *db.DB, target string) func(ctx context.Context, host string) error {
	return func(ctx context.Context, host string) error {
		refused := fmt.Errorf("%s is not the host of an MTA-STS policy", host)
		name, isPolicyHost := dnscheck.PolicyDomain(strings.ToLower(host))
		if !isPolicyHost {
			return refused
		}
		row, err := d.Ent.Domain.Query().Where(domain.Name(name), domain.AccountIDNotNil(), domain.InboundEnabled(true),
			whereOwned()).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			return refused
		case err != nil:
			return fmt.Errorf("host of an MTA-STS policy: %w", err)
		case row.MtaSts == domain.MtaStsOff || !dnscheck.HasPolicyHost(row.Records, target):
			return refused
		}
		return nil
	}
}

// refuseMode returns why the mode of the policy cannot be set, as a predicate, or an empty string.
func (s *Service) refuseMode(ctx context.Context, d *ent.Domain, c DomainChange) string {
	mode := domain.MtaSts(*c.MTASTS)
	if mode == domain.MtaStsOff || mode == d.MtaSts {
		return ""
	}
	if s.checks.hosts.Policies == "" {
		return "requires a host name of this installation: POSTRIDER_TRACKING_HOST"
	}
	if mode != domain.MtaStsEnforce {
		return ""
	}
	if c.InboundEnabled != nil {
		d.InboundEnabled = *c.InboundEnabled
	}
	return s.checks.checker.RefuseEnforce(ctx, s.ExpectedRecords(d))
}

const keepReceiving = "cannot be disabled while mta_sts is enforce: set mta_sts to none first, and wait a week until " +
	"senders have discarded the policy"

// checkPolicy reports settings that would lose mail because of the domain's MTA-STS policy. It performs lookups, so it
// runs outside of a transaction.
func (s *Service) checkPolicy(ctx context.Context, accountID, domainID string, c DomainChange,
	wrong fault.Fields) error {
	stops := c.InboundEnabled != nil && !*c.InboundEnabled
	if c.MTASTS == nil && !stops {
		return nil
	}
	d, err := s.Get(ctx, accountID, domainID)
	if err != nil {
		return err
	}
	if stops && d.InboundEnabled && d.MtaSts == domain.MtaStsEnforce {
		wrong.Add("inbound_enabled", keepReceiving)
	}
	if c.MTASTS != nil && domain.MtaStsValidator(domain.MtaSts(*c.MTASTS)) == nil {
		if reason := s.refuseMode(ctx, d, c); reason != "" {
			wrong.Add("mta_sts", "%s", reason)
		}
	}
	return nil
}
