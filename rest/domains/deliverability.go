package domains

import (
	"context"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/deliverability"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
)

// DeliverabilityService is the part of deliverability that the operation uses.
type DeliverabilityService interface {
	Summarize(ctx context.Context, accountID, domainID string) (deliverability.Summary, error)
}

var _ DeliverabilityService = (*deliverability.Service)(nil)

type deliverabilityAnswer struct {
	Deliverability deliverabilityRecord `json:"deliverability" doc:"What receivers think of the domain's mail."`
}

type deliverabilityRecord struct {
	DomainID      string                  `json:"domain_id" doc:"The ID of the domain." example:"dom_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Domain        string                  `json:"domain" doc:"The name of the domain." example:"example.com"`
	Since         string                  `json:"since" doc:"First UTC day of the period." example:"2026-01-01"`
	Until         string                  `json:"until" doc:"Last UTC day of the period." example:"2026-01-30"`
	Grade         string                  `json:"grade" enum:"good,fair,poor,unknown" doc:"The worst state among the requirements: poor if one is broken, fair if one is close, unknown without enough reports."`
	Reasons       []string                `json:"reasons" nullable:"false" doc:"Codes of the requirements that are broken or close."`
	Requirements  []requirementRecord     `json:"requirements" nullable:"false" doc:"Published requirements of mailbox providers."`
	Totals        ResultShare             `json:"totals" doc:"All messages in DMARC reports."`
	Receivers     []receiverShare         `json:"receivers" nullable:"false" doc:"Messages by receiver, the largest 100."`
	Sources       []sourceShare           `json:"sources" nullable:"false" doc:"Messages by sending server, the largest 100."`
	Advice        policyAdvice            `json:"advice" doc:"Whether a stricter DMARC policy is safe."`
	Placement     []placementRecord       `json:"placement" nullable:"false" doc:"Outcomes of mail to the largest mailbox providers in the last 7 days, compared with the 7 days before."`
	Reporting     deliverabilityReporting `json:"reporting" doc:"Where receivers send reports, and which DMARC reports arrived."`
	Degradations  []degradationRecord     `json:"degradations" nullable:"false" doc:"Mailbox providers that started to refuse or defer the domain's mail and have not recovered, the newest first."`
	Blocklists    []listingRecord         `json:"blocklists" nullable:"false" doc:"Lookups of the source addresses and the domain in the blocklists that the operator chose, listings first."`
	FeedbackLoops []feedbackLoopRecord    `json:"feedback_loops" nullable:"false" doc:"Services with which mailbox providers report complaints, and how to register."`
	BIMI          []bimiFinding           `json:"bimi" nullable:"false" doc:"Checks of the BIMI record, its logo and its certificate, as of the last DNS check. Empty without a logo URL."`
	TLS           tlsSummary              `json:"tls" doc:"What senders report about TLS when they send mail to the domain (RFC 8460)."`
}

type degradationRecord struct {
	Provider      string    `json:"provider" doc:"Mailbox provider, or the domain of the recipients." example:"Gmail"`
	Problem       string    `json:"problem" enum:"refused,deferred" doc:"What the provider does with the mail."`
	Since         wire.Time `json:"since" doc:"When the problem was found. The other fields are as of then."`
	Recipients    int64     `json:"recipients" doc:"Recipients at the provider in the 24 hours before."`
	Affected      int64     `json:"affected" doc:"Recipients that were refused or deferred."`
	PreviousShare float64   `json:"previous_share" doc:"The share of affected recipients in the 7 days before that: 0.01 means 1 %."`
	Cause         string    `json:"cause" doc:"Class of the most frequent reply, such as block or throttle." example:"throttle"`
	Reason        string    `json:"reason" doc:"The likely cause, in one sentence."`
	Fix           string    `json:"fix" doc:"What to do, in one or two sentences."`
	Reply         *string   `json:"reply" doc:"A reply of the provider with this cause, without addresses; null if it may name a recipient."`
}

type listingRecord struct {
	Subject     string            `json:"subject" doc:"Source address or domain." example:"192.0.2.25"`
	List        string            `json:"list" doc:"Zone of the list." example:"bl.spamcop.net"`
	Status      string            `json:"status" enum:"listed,clear,refused,broken,unknown" doc:"refused: the list does not answer this installation. broken: the answer cannot come from the list. unknown: the list did not answer."`
	CheckedAt   wire.Time         `json:"checked_at" doc:"Time of the lookup."`
	ListedSince wire.OptionalTime `json:"listed_since" doc:"First lookup with the listing; null unless listed."`
	Found       string            `json:"found" doc:"What the list says, in one sentence."`
	Fix         *string           `json:"fix" doc:"What to do, in one sentence; null if nothing is needed."`
	Page        *string           `json:"page" doc:"Page of the list for lookups and removals; null if unknown."`
}

type feedbackLoopRecord struct {
	Provider   string `json:"provider" doc:"Mailbox provider." example:"Yahoo"`
	Name       string `json:"name" doc:"Name of the service." example:"Complaint Feedback Loop"`
	Complaints int64  `json:"complaints" doc:"Complaints of the provider's users that were counted in the last 14 days."`
	About      string `json:"about" doc:"What the provider reports, and to whom."`
	Fix        string `json:"fix" doc:"How to register, in one sentence."`
	Page       string `json:"page" doc:"Page of the service."`
}

type bimiFinding struct {
	Code  string  `json:"code" doc:"Stable code of the check." enum:"record,dmarc,logo,logo_profile,logo_shape,logo_title,logo_content,certificate,certificate_issuers,certificate_validity,certificate_domain,certificate_logo"`
	State string  `json:"state" enum:"met,close,broken,unknown" doc:"close: most mailbox providers show no logo. broken: none does."`
	Found string  `json:"found" doc:"What was found, in one sentence. It may quote the files."`
	Fix   *string `json:"fix" doc:"What to do, in one sentence; null if nothing is needed."`
}

type tlsSummary struct {
	Reports      int64             `json:"reports" doc:"TLS reports that were accepted in the period."`
	LastReportAt wire.OptionalTime `json:"last_report_at" doc:"When the last TLS report arrived. null if none did."`
	TLSSessions
	Days      []tlsDay      `json:"days" nullable:"false" doc:"Sessions by day, for each day with a report, the oldest first."`
	Receivers []tlsReceiver `json:"receivers" nullable:"false" doc:"Sessions by reporting organization, the largest 100."`
	Failures  []tlsFailure  `json:"failures" nullable:"false" doc:"Failed sessions by type, the largest first. A sender may report several types for one session, or none."`
}

// TLSSessions counts SMTP sessions. It is exported for the same reason as ResultShare.
type TLSSessions struct {
	Succeeded int64 `json:"succeeded" doc:"SMTP sessions that negotiated TLS."`
	Failed    int64 `json:"failed" doc:"SMTP sessions in which TLS failed."`
}

type tlsDay struct {
	Day string `json:"day" doc:"UTC day." example:"2026-01-29"`
	TLSSessions
}

type tlsReceiver struct {
	Receiver     string `json:"receiver" doc:"Domain that sent the reports. The report messages pass DMARC for it." example:"google.com"`
	Organization string `json:"organization" doc:"Name of the organization in its newest report, which is not verified. Empty if that report was deleted." example:"Google Inc."`
	TLSSessions
}

type tlsFailure struct {
	Type     string `json:"type" doc:"Type of the failure in RFC 8460 section 4.3, such as certificate-expired. unspecified: the sender reported no type. other: the type is not in the standard." example:"certificate-expired"`
	Policy   string `json:"policy" enum:"sts,tlsa,no-policy-found,other" doc:"Policy that the sender applied: MTA-STS, DANE, or none."`
	Sessions int64  `json:"sessions" doc:"Number of sessions."`
	Reason   string `json:"reason" doc:"What the type means, in one sentence."`
	Fix      string `json:"fix" doc:"What to do, in one or two sentences."`
}

type requirementRecord struct {
	Code      string   `json:"code" enum:"spf,dkim,dmarc,alignment,complaints,bounces,ptr,tls,unsubscribe" doc:"Stable code of the requirement."`
	Providers []string `json:"providers" nullable:"false" doc:"Mailbox providers that publish it."`
	Since     string   `json:"since" doc:"Day from which the rule applies." example:"2024-02-01"`
	State     string   `json:"state" enum:"met,close,broken,unknown" doc:"unknown: there is too little mail, or too few reports."`
	Found     string   `json:"found" doc:"What was found, in one sentence."`
	Fix       *string  `json:"fix" doc:"What to do, in one sentence; null if nothing is needed."`
}

// ResultShare counts messages by their results. It is exported, because the OpenAPI document omits the fields of other
// embedded structs.
type ResultShare struct {
	Messages    int64 `json:"messages" doc:"Number of messages."`
	DMARC       int64 `json:"dmarc" doc:"Messages that pass DMARC."`
	DKIM        int64 `json:"dkim" doc:"Messages with an aligned DKIM signature that passes."`
	SPF         int64 `json:"spf" doc:"Messages with an aligned SPF result that passes."`
	Quarantined int64 `json:"quarantined" doc:"Messages that the receiver quarantined because of the policy."`
	Rejected    int64 `json:"rejected" doc:"Messages that the receiver rejected because of the policy."`
}

type receiverShare struct {
	Receiver string `json:"receiver" doc:"Domain that sent the reports. The report messages pass DMARC for it." example:"google.com"`
	ResultShare
}

type sourceShare struct {
	Address string  `json:"address" doc:"IP address of the server." example:"192.0.2.25"`
	Name    *string `json:"name" doc:"Verified reverse name of the address; null if it has none, or until it is looked up."`
	Service *string `json:"service" doc:"Known service that the reverse name belongs to; null if unknown."`
	Ours    bool    `json:"ours" doc:"Whether the SPF record of this installation contains the address."`
	AtRisk  int64   `json:"at_risk" doc:"Messages that fail DMARC although they look wanted: they come from this installation, or pass SPF or DKIM for another domain."`
	ResultShare
}

type policyAdvice struct {
	Verdict  string  `json:"verdict" enum:"wait,fix,quarantine,reject,keep" doc:"wait: not enough evidence. fix: authenticate sources first. quarantine and reject: this policy is safe. keep: the policy is the strictest that the evidence supports."`
	Policy   *string `json:"policy" enum:"none,quarantine,reject" doc:"The published policy; null if there is no DMARC record."`
	Days     int     `json:"days" doc:"Days with reports."`
	Messages int64   `json:"messages" doc:"Messages in the reports."`
	AtRisk   int64   `json:"at_risk" doc:"Messages that fail DMARC although they look wanted."`
	Unknown  int64   `json:"unknown" doc:"Messages that fail DMARC and authenticate nothing. They are probably forged."`
	Reason   string  `json:"reason" doc:"Reason for the verdict, in one or two sentences."`
	Record   *string `json:"record" doc:"DMARC record to publish; null if the published one should stay."`
}

type placementRecord struct {
	Provider         string          `json:"provider" doc:"The mailbox provider; the domain of the recipients if it is not a well-known one." example:"Gmail"`
	RecipientDomains []string        `json:"recipient_domains" nullable:"false" doc:"Domains of its recipients in the last 7 days, the largest first." example:"[\"gmail.com\"]"`
	LastWeek         placementCounts `json:"last_7_days" doc:"The last 7 days, including today."`
	WeekBefore       placementCounts `json:"previous_7_days" doc:"The 7 days before."`
	Causes           []replyCause    `json:"causes" nullable:"false" doc:"The newest replies that refused or deferred mail in the last 7 days, grouped by cause, the most frequent three."`
}

type replyCause struct {
	Cause      string  `json:"cause" doc:"Class of the replies, such as block or throttle." example:"throttle"`
	Recipients int64   `json:"recipients" doc:"Recipients with such a reply, among the newest 1,000."`
	Reason     string  `json:"reason" doc:"What the class means, in one sentence."`
	Fix        string  `json:"fix" doc:"What to do, in one or two sentences."`
	Reply      *string `json:"reply" doc:"The newest such reply of the provider, without addresses; null if it may name a recipient."`
}

type placementCounts struct {
	Recipients int64 `json:"recipients" doc:"Recipients of accepted emails."`
	Delivered  int64 `json:"delivered" doc:"Recipients whose server accepted the email."`
	Delayed    int64 `json:"delayed" doc:"Recipients whose server deferred the email at least once."`
	Bounced    int64 `json:"bounced" doc:"Recipients that were refused."`
	Complained int64 `json:"complained" doc:"Recipients that complained."`

	Median *float64 `json:"median_seconds" doc:"Median time from acceptance to delivery, within 10 %; null without deliveries."`
}

type deliverabilityReporting struct {
	Address       string              `json:"address" doc:"Address for the rua tags of the DMARC record and the TLS reporting record."`
	Authorization authorizationRecord `json:"authorization" doc:"The record with which this installation accepts reports about the domain (RFC 7489 section 7.1). The operator publishes it, usually as one wildcard record."`
	Reports       int64               `json:"reports" doc:"Reports that were accepted in the period."`
	LastReportAt  wire.OptionalTime   `json:"last_report_at" doc:"When the last report arrived. null if none did."`
	Refused       []refusedReports    `json:"refused" nullable:"false" doc:"Refused messages by reason. They change nothing."`
}

type authorizationRecord struct {
	Name   string `json:"name" doc:"Name of the TXT record."`
	Value  string `json:"value" doc:"Value of the record."`
	Status string `json:"status" enum:"verified,missing,unknown" doc:"unknown: DNS did not answer."`
}

type refusedReports struct {
	Reason   string `json:"reason" doc:"Stable code of the reason, such as unauthenticated, malformed or too_large."`
	Messages int64  `json:"messages" doc:"Number of messages."`
}

// DeliverabilityRoutes returns the route of a domain's deliverability.
func DeliverabilityRoutes(service DeliverabilityService) api.Routes {
	return api.NewRoutes("deliverability", func(a *api.API) {
		g := a.Tag(Tag, "")
		g.Bind(Noun, domainIDs{})
		api.Get(g, api.Operation{
			Path: "/domains/{id}/deliverability", ID: "getDomainDeliverability", Needs: rights.Read,
			Summary: "Retrieve a domain's deliverability",
			Description: "Returns what receivers think of the domain's mail in the last 30 days: the sums of their DMARC " +
				"reports by receiver and by sending server, whether a stricter policy is safe, the published requirements " +
				"of mailbox providers, the outcomes by provider, and the sums of TLS reports. Organization names and server names come from third " +
				"parties.",
			Example: map[string]any{"deliverability": deliverabilityExample()}, Of: Noun,
		}, service.Summarize, newDeliverabilityAnswer)
	})
}

func newDeliverabilityAnswer(s deliverability.Summary) deliverabilityAnswer {
	out := deliverabilityRecord{DomainID: s.DomainID, Domain: s.Domain, Since: s.Since, Until: s.Until,
		Grade: s.Grade.Grade, Reasons: wire.List(s.Grade.Reasons), Totals: ResultShare(s.Totals),
		Requirements: []requirementRecord{}, Receivers: []receiverShare{}, Sources: []sourceShare{},
		Degradations: []degradationRecord{}, Blocklists: []listingRecord{}, FeedbackLoops: []feedbackLoopRecord{},
		BIMI:      []bimiFinding{},
		Placement: []placementRecord{}, Reporting: toReporting(s.Reporting), TLS: toTLSSummary(s.TLS),
		Advice: policyAdvice{Verdict: string(s.Advice.Verdict), Policy: wire.OrNull(s.Advice.Policy), Days: s.Advice.Days,
			Messages: s.Advice.Messages, AtRisk: s.Advice.AtRisk, Unknown: s.Advice.Unknown, Reason: s.Advice.Reason,
			Record: wire.OrNull(s.Advice.Record)}}
	for _, r := range s.Requirements {
		out.Requirements = append(out.Requirements, requirementRecord{Code: r.Code, Providers: wire.List(r.Providers),
			Since: r.Since, State: string(r.State), Found: r.Found, Fix: wire.OrNull(r.Fix)})
	}
	for _, f := range s.BIMI {
		out.BIMI = append(out.BIMI, bimiFinding{f.Code, f.State, f.Found, wire.OrNull(f.Fix)})
	}
	for _, r := range s.Receivers {
		out.Receivers = append(out.Receivers, receiverShare{r.Receiver, ResultShare(r.Share)})
	}
	for _, r := range s.Sources {
		out.Sources = append(out.Sources, sourceShare{r.Address, wire.OrNull(r.Name), wire.OrNull(r.Service), r.Ours,
			r.AtRisk, ResultShare(r.Share)})
	}
	for _, p := range s.Placement {
		placed := placementRecord{p.Provider, p.RecipientDomains, toPlacementCounts(p.This), toPlacementCounts(p.Last), []replyCause{}}
		for _, c := range p.Causes {
			placed.Causes = append(placed.Causes, replyCause{c.Cause, c.Recipients, c.Reason, c.Fix, wire.OrNull(c.Reply)})
		}
		out.Placement = append(out.Placement, placed)
	}
	out.addAdvice(s)
	return deliverabilityAnswer{out}
}

func toReporting(r deliverability.Reporting) deliverabilityReporting {
	out := deliverabilityReporting{Address: r.Address, Authorization: authorizationRecord(r.Authorization),
		Reports: r.Reports, LastReportAt: wire.OptionalTime{At: r.LastReportAt}, Refused: []refusedReports{}}
	for _, refused := range r.Refusals {
		out.Refused = append(out.Refused, refusedReports(refused))
	}
	return out
}

func toTLSSummary(t deliverability.TLSSummary) tlsSummary {
	out := tlsSummary{Reports: t.Reports, LastReportAt: wire.OptionalTime{At: t.LastReportAt},
		TLSSessions: TLSSessions(t.TLSSessions), Days: []tlsDay{}, Receivers: []tlsReceiver{}, Failures: []tlsFailure{}}
	for _, d := range t.Days {
		out.Days = append(out.Days, tlsDay{d.Day, TLSSessions(d.TLSSessions)})
	}
	for _, r := range t.Receivers {
		out.Receivers = append(out.Receivers, tlsReceiver{r.Receiver, r.Organization, TLSSessions(r.TLSSessions)})
	}
	for _, f := range t.Failures {
		out.Failures = append(out.Failures, tlsFailure(f))
	}
	return out
}

// addAdvice adds what is wrong now, and where to register.
func (out *deliverabilityRecord) addAdvice(s deliverability.Summary) {
	for _, d := range s.Degradations {
		out.Degradations = append(out.Degradations, degradationRecord{d.Provider, d.Problem, wire.Time(d.Since), d.Recipients,
			d.Affected, d.PreviousShare, d.Cause, d.Reason, d.Fix, wire.OrNull(d.Reply)})
	}
	for _, l := range s.Blocklists {
		out.Blocklists = append(out.Blocklists, listingRecord{l.Subject, l.List, l.Status, wire.Time(l.CheckedAt),
			wire.OptionalTime{At: l.ListedSince}, l.Found, wire.OrNull(l.Fix), wire.OrNull(l.Page)})
	}
	for _, f := range s.FeedbackLoops {
		out.FeedbackLoops = append(out.FeedbackLoops, feedbackLoopRecord(f))
	}
}

func toPlacementCounts(f statistics.Figures) placementCounts {
	return placementCounts{Recipients: f.Recipients, Delivered: f.Delivered, Delayed: f.Delayed, Bounced: f.Bounced,
		Complained: f.Complained, Median: f.MedianSeconds()}
}

func deliverabilityExample() map[string]any {
	share := func(more map[string]any, messages, dmarc int) map[string]any {
		more["messages"], more["dmarc"], more["dkim"], more["spf"] = messages, dmarc, dmarc, dmarc
		more["quarantined"], more["rejected"] = 0, 0
		return more
	}
	week := map[string]any{"recipients": 410, "delivered": 405, "delayed": 3, "bounced": 2, "complained": 0,
		"median_seconds": 1.8}
	const address = "dmarc+01kf0m4w7he6x8q2v5b3n9c1taq3k7m2x5w4r6t2yz@rp.mail.example.org"
	return map[string]any{
		"domain_id": "dom_01kf0m4w7he6x8q2v5b3n9c1ta", "domain": "example.com", "since": "2026-01-01", "until": "2026-01-30",
		"grade": "good", "reasons": []any{},
		"requirements": []any{map[string]any{"code": "alignment", "providers": []any{"Gmail", "Yahoo", "Microsoft"},
			"since": "2024-02-01", "state": "met", "fix": nil,
			"found": "99.61 % of reported mail passes DMARC, not counting probable forgeries."}},
		"totals":    share(map[string]any{}, 1540, 1529),
		"receivers": []any{share(map[string]any{"receiver": "google.com"}, 1540, 1529)},
		"sources": []any{share(map[string]any{"address": "192.0.2.25", "name": "out.mail.example.org", "service": nil,
			"ours": true, "at_risk": 0}, 1529, 1529)},
		"advice": map[string]any{"verdict": "quarantine", "policy": "none", "days": 28, "messages": 1540, "at_risk": 6, "unknown": 5,
			"reason": "Of 1540 messages in 28 days, it would affect 6 messages that may be wanted and 5 messages that are probably forged.",
			"record": "v=DMARC1; p=quarantine; rua=mailto:" + address},
		"placement": []any{map[string]any{"provider": "Gmail", "recipient_domains": []any{"gmail.com"}, "last_7_days": week, "previous_7_days": week,
			"causes": []any{map[string]any{"cause": "throttle", "recipients": 3,
				"reason": "The provider limits how much mail it accepts from this domain or its source addresses.",
				"fix":    "Send less mail per hour to this provider, and increase the volume gradually.",
				"reply":  "421 4.7.28 Gmail has detected an unusual rate of unsolicited mail"}}}},
		"reporting": map[string]any{"address": address, "reports": 28, "last_report_at": "2026-01-30T06:10:00.000Z",
			"authorization": map[string]any{"name": "example.com._report._dmarc.rp.mail.example.org", "value": "v=DMARC1;",
				"status": "verified"},
			"refused": []any{map[string]any{"reason": "unauthenticated", "messages": 2}}},
		"degradations": []any{map[string]any{"provider": "Yahoo", "problem": "deferred", "since": "2026-01-30T09:15:00.000Z",
			"recipients": 1200, "affected": 540, "previous_share": 0.01, "cause": "throttle",
			"reason": "The provider limits how much mail it accepts from this domain or its source addresses.",
			"fix":    "Send less mail per hour to this provider, and increase the volume gradually.",
			"reply":  "421 4.7.0 [TSS04] Messages temporarily deferred due to unexpected volume"}},
		"blocklists": []any{map[string]any{"subject": "192.0.2.25", "list": "bl.spamcop.net", "status": "listed",
			"checked_at": "2026-01-30T09:00:00.000Z", "listed_since": "2026-01-29T15:00:00.000Z",
			"found": "192.0.2.25 is listed in bl.spamcop.net.",
			"fix":   "Find and stop the mail that caused the listing, then ask the list to remove it.",
			"page":  "https://www.spamcop.net/bl.shtml"}},
		"feedback_loops": []any{map[string]any{"provider": "Yahoo", "name": "Complaint Feedback Loop", "complaints": 3,
			"about": "Yahoo reports complaints by the domain of the DKIM signature, to an address that you register.",
			"fix":   "Register example.com with the Complaint Feedback Loop, and suppress the recipients that it reports.",
			"page":  "https://senders.yahooinc.com/complaint-feedback-loop/"}},
		"bimi": []any{map[string]any{"code": "logo_shape", "state": "broken", "found": `The viewBox "0 0 512 300" is not square.`,
			"fix": `Set a square viewBox on the root, such as viewBox="0 0 512 512".`}},
		"tls": map[string]any{"reports": 1, "last_report_at": "2026-01-30T08:00:00.000Z", "succeeded": 310, "failed": 4,
			"days": []any{map[string]any{"day": "2026-01-29", "succeeded": 310, "failed": 4}},
			"receivers": []any{map[string]any{"receiver": "google.com", "organization": "Google Inc.", "succeeded": 310,
				"failed": 4}},
			"failures": []any{map[string]any{"type": "certificate-expired", "policy": "no-policy-found", "sessions": 4,
				"reason": "The certificate of the mail server has expired.",
				"fix":    "Renew the certificate, and have it renewed automatically."}}},
	}
}
