package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/spf"
)

// unlisted is an address that no SPF record lists (RFC 1112 section 4).
var unlisted = net.IPv4(240, 0, 0, 1)

const askAgain = "Retry later. If the problem remains, check the DNS servers of %s and the resolver in POSTRIDER_DNS."

// resolver queries a name that cannot exist (RFC 6761 section 6.4). A resolver that returns an address for it
// invents answers, which delivery and verification cannot trust.
func (d *Doctor) resolver(ctx context.Context) []Finding {
	s := subject{"dns.resolver", "the resolver responds, and reports that a nonexistent name does not exist"}
	name := strings.ToLower(rand.Text()[:12]) + ".invalid"
	found, err := d.DNS.LookupIP(ctx, name)
	switch {
	case errors.Is(err, dnsx.ErrNotFound):
		return []Finding{s.ok("it does")}
	case err != nil:
		return []Finding{s.finding(Error, reason(err),
			"Set POSTRIDER_DNS to a resolver that serves this machine, or fix /etc/resolv.conf: nothing can be delivered without one.")}
	default:
		return []Finding{s.finding(Error, fmt.Sprintf("%s has the address %s", name, texts(found)),
			"Use a resolver that does not invent answers (POSTRIDER_DNS): mail to nonexistent domains would go to that address, and every domain would appear to have records.")}
	}
}

// host checks the addresses of a name of the installation.
func (d *Doctor) host(ctx context.Context, h host) []Finding {
	ours := d.Config.addresses()
	s := subject{h.check, h.name + " has a public address"}
	if len(ours) > 0 {
		s.expected = fmt.Sprintf("%s has the address %s", h.name, list(ours))
	}
	found, err := d.DNS.LookupIP(ctx, h.name)
	switch {
	case errors.Is(err, dnsx.ErrNotFound):
		return []Finding{s.finding(Error, "no address", "Publish %s. Its purpose: %s.",
			recordsText(d.Config.addressRecords(h.name)), h.use)}
	case err != nil:
		return []Finding{s.finding(Error, reason(err), askAgain, h.name)}
	}
	if i := slices.IndexFunc(found, func(ip netip.Addr) bool { return !isPublic(ip.Unmap()) }); i >= 0 {
		return []Finding{s.finding(Error, texts(found),
			"Replace %s, which is not reachable from outside, with the public address.", found[i])}
	}
	if len(ours) == 0 || slices.ContainsFunc(found, func(ip netip.Addr) bool {
		return slices.ContainsFunc(ours, func(a SendingAddress) bool { return a.IP == ip.Unmap() })
	}) {
		return []Finding{s.ok(texts(found))}
	}
	return []Finding{s.finding(Warning, texts(found),
		"If that is a proxy or a router, no action is needed. Otherwise publish %s.",
		recordsText(d.Config.addressRecords(h.name)))}
}

// spf evaluates an SPF record of the installation for each address from which mail is sent.
func (d *Doctor) spf(ctx context.Context, check, name string) []Finding {
	record := RequiredRecord{"TXT", name, d.Config.spfRecord(), ""}
	if name == d.Config.ReturnPathHost {
		record.Value = "v=spf1 include:" + d.Config.SPFInclude + " -all"
	}
	s := subject{check, fmt.Sprintf("one SPF record at %s that lists every address that sends mail", name)}
	addresses := d.Config.addresses()
	if !d.Config.Direct {
		addresses, s.expected = nil, "one SPF record at "+name+" that includes that of the smarthost"
	}
	if len(addresses) == 0 {
		f := d.spfOf(ctx, s, record, unlisted, false)
		if f.Level == OK && d.Config.Direct {
			f.Level, f.Do = Warning,
				"Set POSTRIDER_PUBLIC_ADDRESSES to the addresses that send mail: this machine has no public address, so the record cannot be compared."
		}
		return []Finding{f}
	}
	var all []Finding
	for _, a := range addresses {
		f := d.spfOf(ctx, s, record, net.IP(a.IP.AsSlice()), true)
		if len(all) == 0 || f.Level > all[0].Level {
			all = []Finding{f}
		}
	}
	return all
}

// spfOf evaluates the record for one address.
func (d *Doctor) spfOf(ctx context.Context, s subject, record RequiredRecord, ip net.IP, listed bool) Finding {
	asked := &spf.Evaluation{Source: d.DNS, Reverse: []string{"ours.invalid."}}
	result, err := asked.Check(ctx, spf.Client{IP: ip, Hello: d.Config.Hostname, Sender: "bounce@" + record.Name})
	publish := fmt.Sprintf("Publish a TXT record at %s with the value %q. Until then receivers find no valid SPF for any domain that sends through this service.", record.Name, record.Value)
	switch result {
	case spf.TempError:
		return s.finding(Error, reason(err), askAgain, asked.Last)
	case spf.None:
		return s.finding(Error, "no SPF record", "%s", publish)
	case spf.PermError:
		return s.finding(Error, fmt.Sprintf("%q: %s", asked.Record, asked.ExplainError(record.Name, err)),
			"%s", publish)
	case spf.Pass:
		if !listed {
			return s.finding(Warning, fmt.Sprintf("%q, which passes every sender", asked.Record),
				"List the addresses that send mail, and end the record with -all: any sender can impersonate your customers now.")
		}
		return s.ok(asked.Record)
	}
	if !listed {
		return s.ok(asked.Record)
	}
	return s.finding(Error, fmt.Sprintf("%q, which returns %s for %s", asked.Record, result, ip),
		"Add %s to the SPF record at %s: receivers treat mail from that address as forged.", term(ip), record.Name)
}

func term(ip net.IP) string {
	if ip.To4() != nil {
		return "ip4:" + ip.String()
	}
	return "ip6:" + ip.String()
}

// returnPathMX checks where bounces are sent.
func (d *Doctor) returnPathMX(ctx context.Context) []Finding {
	name := d.Config.ReturnPathHost
	s := subject{"dns.return_path_mx",
		fmt.Sprintf("the MX record of %s leads to %s, or to an address of this installation", name, d.Config.SMTPHost)}
	publish := fmt.Sprintf("Publish an MX record at %s with the value %q: bounces and complaints are lost without it.",
		name, "10 "+d.Config.SMTPHost)
	hosts, err := d.DNS.LookupMX(ctx, name)
	if errors.Is(err, dnsx.ErrNotFound) {
		// RFC 5321 section 5.1: without an MX record, the address record counts.
		found, err := d.DNS.LookupIP(ctx, name)
		switch {
		case errors.Is(err, dnsx.ErrNotFound):
			return []Finding{s.finding(Error, "neither an MX record nor an address", "%s", publish)}
		case err != nil:
			return []Finding{s.finding(Error, reason(err), askAgain, name)}
		}
		return []Finding{s.ok("no MX record, and the address " + texts(found))}
	}
	if err != nil {
		return []Finding{s.finding(Error, reason(err), askAgain, name)}
	}
	var names []string
	for _, h := range hosts {
		names = append(names, strings.ToLower(strings.TrimSuffix(h.Host, ".")))
	}
	if slices.Contains(names, d.Config.SMTPHost) || slices.Contains(names, d.Config.Hostname) {
		return []Finding{s.ok(strings.Join(names, ", "))}
	}
	if addresses, err := d.DNS.LookupIP(ctx, names[0]); err == nil &&
		slices.ContainsFunc(d.Config.addresses(),
			func(a SendingAddress) bool { return slices.Contains(addresses, a.IP) }) {
		return []Finding{s.ok(strings.Join(names, ", "))}
	}
	return []Finding{s.finding(Error, strings.Join(names, ", "), "%s", publish)}
}

// checkWildcards looks up a random name below each host that has targets of individual domains below it.
func (d *Doctor) checkWildcards(ctx context.Context) []Finding {
	var all []Finding
	missing, unanswered := false, false
	for _, record := range d.Config.wildcards() {
		f, err := d.wildcard(ctx, record)
		all = append(all, f)
		missing, unanswered = missing || f.Level != OK, unanswered || err != nil
	}
	s := subject{"dns.own_targets", "each domain has CNAME targets of its own, with which it can move to another installation"}
	switch {
	case d.Config.OwnTargets:
		return all
	case unanswered:
		return []Finding{s.finding(Skipped, "no answer", askAgain, d.Config.ReturnPathHost)}
	case missing:
		return []Finding{s.finding(Skipped, "POSTRIDER_OWN_TARGETS is false",
			"To let domains move later, publish %s. Then set POSTRIDER_OWN_TARGETS=true.", recordsText(d.Config.wildcards()))}
	}
	return []Finding{s.finding(Skipped, "the wildcard records exist, but POSTRIDER_OWN_TARGETS is false",
		"Set POSTRIDER_OWN_TARGETS=true.")}
}

// wildcard looks up a random name that a wildcard record must answer. The error is that of an unanswered lookup.
func (d *Doctor) wildcard(ctx context.Context, record RequiredRecord) (Finding, error) {
	s := subject{"dns.own_targets", fmt.Sprintf("%s is an alias of %s", record.Name, record.Value)}
	name := strings.ToLower(rand.Text()[:16]) + strings.TrimPrefix(record.Name, "*")
	found, err := d.DNS.LookupCNAME(ctx, name)
	found = strings.ToLower(strings.TrimSuffix(found, "."))
	switch {
	case errors.Is(err, dnsx.ErrNotFound):
		found = "no CNAME record at " + name
	case err != nil:
		return s.finding(Error, reason(err), askAgain, name), err
	case found == record.Value:
		return s.ok(name + " is an alias of " + found), nil
	}
	return s.finding(Error, found, "Publish %s. Until then, domains that point to names below it cannot be verified.",
		recordsText([]RequiredRecord{record})), nil
}

// checkReverse checks the reverse names of the addresses, and whether they resolve back.
func (d *Doctor) checkReverse(ctx context.Context) []Finding {
	addresses := d.Config.addresses()
	if len(addresses) == 0 {
		s := subject{"dns.ptr", "each address that sends mail has a reverse name that resolves back to it"}
		return []Finding{s.finding(Skipped, "this machine has no public address",
			"Set POSTRIDER_PUBLIC_ADDRESSES to the addresses that send mail.")}
	}
	var all []Finding
	for _, a := range addresses {
		all = append(all, d.reverseOf(ctx, a))
	}
	return all
}

func (d *Doctor) reverseOf(ctx context.Context, a SendingAddress) Finding {
	greets := d.Config.greets(a)
	s := subject{"dns.ptr", fmt.Sprintf("the PTR record of %s is %s, which has the address %s", a.IP, greets, a.IP)}
	set := fmt.Sprintf("Have the provider of the address set the reverse name of %s to %s", a.IP, greets)
	names, err := d.DNS.LookupAddr(ctx, a.IP.String())
	switch {
	case errors.Is(err, dnsx.ErrNotFound):
		return s.finding(Error, "no PTR record",
			"%s: the large mailbox providers reject mail from addresses without one.", set)
	case err != nil:
		return s.finding(Error, reason(err), askAgain, "the reverse zone of "+a.IP.String())
	}
	var back []string
	var last error
	for i, name := range names {
		names[i] = strings.ToLower(strings.TrimSuffix(name, "."))
		found, err := d.DNS.LookupIP(ctx, names[i])
		if err != nil && !errors.Is(err, dnsx.ErrNotFound) {
			last = err
		}
		if slices.ContainsFunc(found, func(ip netip.Addr) bool { return ip.Unmap() == a.IP }) {
			back = append(back, names[i])
		}
	}
	found := strings.Join(names, ", ")
	switch {
	case len(back) == 0 && last != nil:
		return s.finding(Error, found+"; "+reason(last), askAgain, found)
	case len(back) == 0:
		return s.finding(Error, found+", which does not resolve back to the address",
			"Publish the address of %s as %s, or do this: %s. The large mailbox providers reject a name that does not resolve back.", found, a.IP, set)
	case !slices.Contains(back, greets):
		return s.finding(Warning, found+", but the EHLO name is "+greets,
			"%s, or set POSTRIDER_HOSTNAME (of a source: its --hostname) to %s.", set, back[0])
	}
	return s.ok(found)
}

// reason describes a missing answer.
func reason(err error) string { return "no answer: " + err.Error() }

func texts(all []netip.Addr) string {
	var words []string
	for _, ip := range all {
		words = append(words, ip.String())
	}
	return strings.Join(words, ", ")
}

func list(all []SendingAddress) string {
	var words []string
	for _, a := range all {
		words = append(words, a.IP.String())
	}
	return strings.Join(words, " or ")
}

func recordsText(all []RequiredRecord) string {
	var words []string
	for _, r := range all {
		words = append(words, fmt.Sprintf("%s %s %s", r.Name, r.Type, r.Value))
	}
	return strings.Join(words, " and ")
}
