package deliverability

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/statistics"
)

// State is whether a domain meets a requirement.
type State string

// The states, from worst to best.
const (
	StateBroken  State = "broken"
	StateClose   State = "close"
	StateMet     State = "met"
	StateUnknown State = "unknown" // not enough mail or reports
)

// Requirement is one that mailbox providers publish for senders.
type Requirement struct {
	Code      string // stable: spf, dkim, dmarc, alignment, complaints, bounces, ptr, tls, unsubscribe
	Providers []string
	Since     string // day from which the rule applies
	State     State
	Found     string
	Fix       string // empty if it is met
}

// Placement compares the mail to one mailbox provider with the week before.
type Placement struct {
	Provider         string   // providerOf the domains
	RecipientDomains []string // of the last week, the largest first
	This, Last       statistics.Figures
	Causes           []ReplyCause // of the last week; only in the summary of one domain
}

// Grade summarizes the requirements: it is as good as the worst of them.
type Grade struct {
	Grade   string   // good, fair, poor; unknown without evidence
	Reasons []string // codes of the requirements that are not met
}

// The days on which the rules of Gmail and Yahoo, those of Microsoft, and those about one-click unsubscribe took
// effect.
const (
	sinceGmail     = "2024-02-01"
	sinceMicrosoft = "2025-05-05"
	sinceOneClick  = "2024-06-01"
)

// standing is what requirements are judged by.
type standing struct {
	records []dnscheck.RecordCheck
	policy  string
	found   Evidence
	traffic traffic
	sample  mailSample
	sources []sendingAddress
}

const (
	minReported = 20  // messages in reports before alignment is judged
	minSent     = 100 // recipients before rates are judged
	// bulkSender is the number of recipients a day at one provider from which it requires one-click unsubscribe.
	bulkSender = 5_000
)

func judgeRequirements(st standing) []Requirement {
	all := []string{gmail, yahoo, microsoft}
	policy := Requirement{Code: "dmarc", Providers: all, Since: sinceGmail, State: StateMet,
		Found: "The published policy is p=" + st.policy + "."}
	if st.policy == "" {
		policy.State, policy.Found = StateBroken, "The last check found no DMARC record."
		policy.Fix = "Publish the DMARC record."
	}
	return []Requirement{
		judgeRecord(st, dnscheck.SPF, Requirement{Code: "spf", Providers: all, Since: sinceGmail}),
		judgeRecord(st, dnscheck.DKIM, Requirement{Code: "dkim", Providers: all, Since: sinceGmail}),
		policy,
		judgeAlignment(st, Requirement{Code: "alignment", Providers: all, Since: sinceGmail}),
		judgeRate(st.traffic.sent.Complained, st.traffic.sent.Delivered, rate{1, 3}, "complained", Requirement{Code: "complaints",
			Providers: []string{gmail, yahoo}, Since: sinceGmail,
			Fix: "Send only to people who asked for your mail, and make it easy to unsubscribe."}),
		judgeRate(st.traffic.sent.Bounced, st.traffic.sent.Recipients, rate{20, 50}, "bounced", Requirement{Code: "bounces",
			Providers: []string{microsoft}, Since: sinceMicrosoft,
			Fix: "Remove addresses that bounce, and confirm new addresses before you send to them."}),
		judgePTR(st.sources, Requirement{Code: "ptr", Providers: []string{gmail, yahoo}, Since: sinceGmail}),
		judgeTLS(st.sample, Requirement{Code: "tls", Providers: []string{gmail}, Since: sinceGmail}),
		judgeUnsubscribe(st, Requirement{Code: "unsubscribe", Providers: []string{gmail, yahoo}, Since: sinceOneClick}),
	}
}

// judgePTR judges the reverse names of source addresses. A name counts only if it resolves to the address.
func judgePTR(list []sendingAddress, r Requirement) Requirement {
	named, unknown := 0, 0
	var without []string
	for _, a := range list {
		switch {
		case !a.known:
			unknown++
		case a.name == "":
			without = append(without, a.address)
		default:
			named++
		}
	}
	switch {
	case len(without) > 0:
		first := strings.Join(without[:min(len(without), 3)], ", ")
		r.State, r.Found = StateBroken, fmt.Sprintf("%d of %d source addresses have no reverse name that resolves to them: %s.",
			len(without), len(list), first)
		r.Fix = "The operator sets a PTR record for each address, and an A or AAAA record of that name with the address."
	case named == 0 || unknown > 0:
		r.State, r.Found = StateUnknown, "The public source addresses, or their reverse names, are not known yet."
	default:
		r.State, r.Found = StateMet, fmt.Sprintf("The reverse names of all %d source addresses resolve to them.", named)
		if named == 1 {
			r.Found = "The reverse name of the source address resolves to it."
		}
	}
	return r
}

// judgeTLS judges deliveries to Gmail, which requires TLS.
func judgeTLS(m mailSample, r Requirement) Requirement {
	if m.delivered == 0 {
		r.State, r.Found = StateUnknown, "There is too little mail."
		return r
	}
	r.Found = fmt.Sprintf("%s of the newest %d deliveries used TLS", percent(m.encrypted, m.delivered), m.delivered)
	if m.gmailDelivered == 0 {
		r.State, r.Found = StateUnknown, r.Found+"; none went to Gmail."
		return r
	}
	r.Found += fmt.Sprintf(", and %d of %d to Gmail.", m.gmailDelivered-m.gmailUnencrypted, m.gmailDelivered)
	switch {
	case m.gmailUnencrypted == 0:
		r.State = StateMet
		return r
	case exceeds(m.gmailUnencrypted, m.gmailDelivered, 100):
		r.State = StateBroken
	default:
		r.State = StateClose
	}
	r.Fix = "Set the TLS mode of the domain to enforced, and make sure that no firewall or smarthost removes STARTTLS."
	return r
}

// judgeUnsubscribe judges one-click unsubscribe (RFC 8058). Providers require it for marketing and subscribed mail of
// bulk senders, and not for receipts and the like, which only the sender can distinguish.
func judgeUnsubscribe(st standing, r Requirement) Requirement {
	m := st.sample
	if m.emails == 0 {
		r.State, r.Found = StateUnknown, "There is too little mail."
		return r
	}
	r.State = StateMet
	r.Found = fmt.Sprintf("%d of the newest %d emails have one-click unsubscribe. At most %d recipients a day at Gmail or Yahoo; "+
		"the rule applies from %d.", m.oneClick, m.emails, st.traffic.peak, bulkSender)
	switch {
	case m.oneClick == m.emails || st.traffic.peak*5 < bulkSender*4:
		return r
	case st.traffic.peak < bulkSender || m.oneClick > 0:
		r.State = StateClose
	default:
		r.State = StateBroken
	}
	r.Fix = `Send marketing and subscribed mail with "unsubscribe": true. Receipts and the like do not need it.`
	return r
}

// judgeRecord judges the records of one purpose. The two keys of a domain are both required if they are listed.
func judgeRecord(st standing, purpose dnscheck.Purpose, r Requirement) Requirement {
	r.State, r.Found = StateMet, "The record is published."
	for _, record := range st.records {
		if record.Purpose == purpose && record.Required && record.Status != dnscheck.Verified {
			r.State, r.Found, r.Fix = StateBroken, "The record "+record.Name+" is "+string(record.Status)+".", record.Error
		}
	}
	return r
}

// judgeAlignment judges the mail that receivers attribute to the domain, except probable forgeries.
func judgeAlignment(st standing, r Requirement) Requirement {
	wanted, failed := st.found.countWanted(), st.found.AtRisk
	if wanted < minReported {
		r.State, r.Found = StateUnknown, "There are too few reports."
		return r
	}
	r.State = StateMet
	r.Found = fmt.Sprintf("%s of reported mail passes DMARC, not counting probable forgeries.",
		percent(wanted-failed, wanted))
	switch {
	case exceeds(failed, wanted, 10):
		r.State = StateBroken
	case exceeds(failed, wanted, 50):
		r.State = StateClose
	default:
		return r
	}
	r.Fix = "Authenticate the sources with messages at risk: sign their mail with DKIM for this domain."
	return r
}

// rate is the limit of a rate, per thousand: from which it is close, and from which it is broken.
type rate struct{ near, limit int64 }

func judgeRate(part, whole int64, limits rate, verb string, r Requirement) Requirement {
	if whole < minSent {
		r.State, r.Found, r.Fix = StateUnknown, "There is too little mail.", ""
		return r
	}
	r.Found = fmt.Sprintf("%s of recipients %s in %d days.", percent(part, whole), verb, Period)
	switch {
	case part*1000 >= limits.limit*whole:
		r.State = StateBroken
	case part*1000 >= limits.near*whole:
		r.State = StateClose
	default:
		r.State, r.Fix = StateMet, ""
	}
	return r
}

func percent(part, whole int64) string {
	return fmt.Sprintf("%.2f %%", 100*float64(part)/float64(whole))
}

// gradeOf returns the grade, with the requirements that are the reason for it.
func gradeOf(list []Requirement) Grade {
	g := Grade{Grade: "unknown", Reasons: []string{}}
	has := func(state State) bool {
		return slices.ContainsFunc(list, func(r Requirement) bool { return r.State == state })
	}
	switch {
	case has(StateBroken):
		g.Grade = "poor"
	case has(StateClose):
		g.Grade = "fair"
	case has(StateMet) && !slices.ContainsFunc(list, func(r Requirement) bool {
		return r.Code == "alignment" && r.State == StateUnknown
	}):
		g.Grade = "good"
	}
	for _, r := range list {
		if r.State == StateBroken || r.State == StateClose {
			g.Reasons = append(g.Reasons, r.Code)
		}
	}
	return g
}

// traffic is the mail that the domain sent.
type traffic struct {
	sent       statistics.Figures // in the period of the summary
	placement  []Placement
	peak       int64            // recipients at Gmail or Yahoo on one day of the last week
	complained map[string]int64 // recipients that complained in the last two weeks, by provider
}

const topPlacement = 10

// readTraffic reads the statistics of a domain; without the module, there are none.
func (s *Service) readTraffic(ctx context.Context, accountID, domainID string, now time.Time) (t traffic, err error) {
	t.placement, t.complained = []Placement{}, map[string]int64{}
	if s.statistics == nil {
		return t, nil
	}
	day := now.Truncate(24 * time.Hour)
	question := func(from, to int) statistics.Question {
		return statistics.Question{Range: statistics.Range{Since: day.AddDate(0, 0, -from), Until: day.AddDate(0, 0, -to)},
			Interval: statistics.Day, Timezone: "UTC", Filter: statistics.Filter{DomainID: domainID}}
	}
	whole, err := s.statistics.Query(ctx, accountID, question(Period-1, -1))
	if err != nil {
		return t, err
	}
	t.sent = whole.Totals
	var weeks [2][]Placement
	for i, q := range []statistics.Question{question(6, -1), question(13, 6)} {
		q.GroupBy, q.Top, q.Latency = statistics.ByRecipientDomain, 100, true
		answer, err := s.statistics.Query(ctx, accountID, q)
		if err != nil {
			return t, err
		}
		t.addProviders(answer.Groups)
		weeks[i] = groupByProvider(answer.Groups)
	}
	for _, p := range weeks[0][:min(len(weeks[0]), topPlacement)] {
		for _, before := range weeks[1] {
			if before.Provider == p.Provider {
				p.Last = before.This
			}
		}
		t.placement = append(t.placement, p)
	}
	return t, nil
}

// groupByProvider adds up mail by domain of recipients, and returns the provider with the most recipients first.
func groupByProvider(groups []statistics.Group) []Placement {
	var out []Placement
	for _, g := range groups {
		provider := providerOf(g.Key)
		i := slices.IndexFunc(out, func(p Placement) bool { return p.Provider == provider })
		if i < 0 {
			i = len(out)
			out = append(out, Placement{Provider: provider})
		}
		out[i].RecipientDomains = append(out[i].RecipientDomains, g.Key)
		out[i].This.Add(g.Totals)
	}
	slices.SortStableFunc(out, func(a, b Placement) int { return cmp.Compare(b.This.Recipients, a.This.Recipients) })
	return out
}

// addProviders adds a week of mail by domain of recipients to the figures of providers.
func (t *traffic) addProviders(groups []statistics.Group) {
	days := map[string]map[time.Time]int64{gmail: {}, yahoo: {}}
	for _, g := range groups {
		provider := providerOf(g.Key)
		t.complained[provider] += g.Totals.Complained
		for _, b := range g.Buckets {
			if day := days[provider]; day != nil {
				day[b.Start] += b.Figures.Recipients
				t.peak = max(t.peak, day[b.Start])
			}
		}
	}
}
