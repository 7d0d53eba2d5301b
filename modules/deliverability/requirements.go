package deliverability

import (
	"context"
	"fmt"
	"slices"
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
	Code      string // stable: spf, dkim, dmarc, alignment, complaints, bounces
	Providers []string
	Since     string // day from which the rule applies
	State     State
	Found     string
	Fix       string // empty if it is met
}

// Placement compares the mail to one domain of recipients with the week before.
type Placement struct {
	RecipientDomain string
	This, Last      statistics.Figures
}

// Grade summarizes the requirements: it is as good as the worst of them.
type Grade struct {
	Grade   string   // good, fair, poor; unknown without evidence
	Reasons []string // codes of the requirements that are not met
}

// The days on which the rules of Gmail and Yahoo, and those of Microsoft, took effect.
const (
	sinceGmail     = "2024-02-01"
	sinceMicrosoft = "2025-05-05"
)

// standing is what requirements are judged by.
type standing struct {
	records []dnscheck.RecordCheck
	policy  string
	found   Evidence
	sent    statistics.Figures
}

const (
	minReported = 20  // messages in reports before alignment is judged
	minSent     = 100 // recipients before rates are judged
)

func judgeRequirements(st standing) []Requirement {
	all := []string{"Gmail", "Yahoo", "Microsoft"}
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
		judgeRate(st.sent.Complained, st.sent.Delivered, rate{1, 3}, "complained", Requirement{Code: "complaints",
			Providers: []string{"Gmail", "Yahoo"}, Since: sinceGmail,
			Fix: "Send only to people who asked for your mail, and make it easy to unsubscribe."}),
		judgeRate(st.sent.Bounced, st.sent.Recipients, rate{20, 50}, "bounced", Requirement{Code: "bounces",
			Providers: []string{"Microsoft"}, Since: sinceMicrosoft,
			Fix: "Remove addresses that bounce, and confirm new addresses before you send to them."}),
	}
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
	sent      statistics.Figures // in the period of the summary
	placement []Placement
}

const topPlacement = 10

// readTraffic reads the statistics of a domain; without the module, there are none.
func (s *Service) readTraffic(ctx context.Context, accountID, domainID string, now time.Time) (t traffic, err error) {
	t.placement = []Placement{}
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
	weeks := [2]map[string]statistics.Figures{}
	for i, q := range []statistics.Question{question(6, -1), question(13, 6)} {
		q.GroupBy, q.Top = statistics.ByRecipientDomain, 100
		answer, err := s.statistics.Query(ctx, accountID, q)
		if err != nil {
			return t, err
		}
		weeks[i] = map[string]statistics.Figures{}
		for _, g := range answer.Groups {
			weeks[i][g.Key] = g.Totals
			if i == 0 && len(t.placement) < topPlacement {
				t.placement = append(t.placement, Placement{RecipientDomain: g.Key, This: g.Totals})
			}
		}
	}
	for i := range t.placement {
		t.placement[i].Last = weeks[1][t.placement[i].RecipientDomain]
	}
	return t, nil
}
