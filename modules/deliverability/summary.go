package deliverability

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Share counts messages by their results.
type Share struct {
	Messages, DMARC, DKIM, SPF int64 // DMARC, DKIM and SPF: passed and aligned
	Quarantined, Rejected      int64
}

func (s *Share) scan() []any {
	return []any{&s.Messages, &s.DMARC, &s.DKIM, &s.SPF, &s.Quarantined, &s.Rejected}
}

// ReceiverShare counts the messages that one receiver reported.
type ReceiverShare struct {
	Receiver string
	Share
}

// Source counts the messages from one server.
type Source struct {
	Address string
	Name    string // verified reverse name; empty if unknown
	Service string // known service with that name; empty if unknown
	Ours    bool
	Share

	AtRisk int64 // as in Advice
}

// Refusal counts the refused messages with one reason.
type Refusal struct {
	Reason   string
	Messages int64
}

// Reporting says where reports go.
type Reporting struct {
	Address string
	// Authorization is the record of RFC 7489 section 7.1 with which the installation accepts reports about the
	// domain.
	Authorization Authorization
	Reports       int64 // accepted in the period
	LastReportAt  *time.Time
	Refusals      []Refusal
}

// Authorization is a record that the operator of the installation publishes.
type Authorization struct {
	Name, Value string
	Status      string // verified, missing, unknown
}

// Summary is what receivers think of the mail of a domain.
type Summary struct {
	DomainID, Domain string
	Since, Until     string // UTC days, inclusive
	Reporting        Reporting
	Totals           Share
	Receivers        []ReceiverShare
	Sources          []Source // the largest ones
	Advice           Advice
	Requirements     []Requirement
	Placement        []Placement
	Grade            Grade
	TLS              TLSSummary
}

const (
	// Period is the number of days that a Summary covers.
	Period       = 30
	maxSources   = 100
	maxReceivers = 100

	shareSQL = `coalesce(sum(c.messages), 0), coalesce(sum(c.messages) FILTER (WHERE c.dkim OR c.spf), 0),
	coalesce(sum(c.messages) FILTER (WHERE c.dkim), 0), coalesce(sum(c.messages) FILTER (WHERE c.spf), 0),
	coalesce(sum(c.messages) FILTER (WHERE c.disposition = 'quarantine'), 0),
	coalesce(sum(c.messages) FILTER (WHERE c.disposition = 'reject'), 0)`

	riskSQL = `coalesce(sum(c.messages) FILTER (WHERE NOT c.dkim AND NOT c.spf AND (c.signed OR c.permitted OR m.ours)), 0)`

	fromSQL = ` FROM dmarc_counts c LEFT JOIN mail_sources m USING (source) WHERE c.domain_id = $1 AND c.day BETWEEN $2 AND $3`

	totalsSQL = `SELECT ` + shareSQL + `, ` + riskSQL + `, count(DISTINCT c.day)` + fromSQL

	receiversSQL = `SELECT c.receiver, ` + shareSQL + fromSQL + ` GROUP BY c.receiver ORDER BY sum(c.messages) DESC, c.receiver LIMIT $4`

	sourcesSQL = `SELECT c.source, coalesce(m.name, ''), coalesce(m.ours, false), ` + shareSQL + `, ` + riskSQL + fromSQL + `
 GROUP BY c.source, m.name, m.ours ORDER BY sum(c.messages) DESC, c.source LIMIT $4`

	refusalsSQL = `SELECT reason, sum(messages) FROM dmarc_refusals WHERE domain_id = $1 AND day BETWEEN $2 AND $3
 GROUP BY reason ORDER BY sum(messages) DESC, reason`

	reportsSQL = `SELECT count(*), max(created_at) FROM dmarc_reports WHERE domain_id = $1 AND created_at >= $2::date`
)

// Summarize returns the summary of the last Period days up to today. Error: NotFound.
func (s *Service) Summarize(ctx context.Context, accountID, domainID string) (Summary, error) {
	d, err := s.domains.Get(ctx, accountID, domainID)
	if err != nil {
		return Summary{}, err
	}
	now := clock.Now().UTC()
	out := Summary{DomainID: d.ID, Domain: d.Name, Until: now.Format(time.DateOnly),
		Since: now.AddDate(0, 0, 1-Period).Format(time.DateOnly)}
	evidence, err := s.readCounts(ctx, &out)
	if err != nil {
		return Summary{}, fmt.Errorf("deliverability: %w", err)
	}
	if out.TLS, err = s.summarizeTLS(ctx, subject{d.ID, d.Name}, out.Since, out.Until); err != nil {
		return Summary{}, fmt.Errorf("deliverability: %w", err)
	}
	out.Reporting.Address = s.addresses.Address(d.ID)
	out.Reporting.Authorization = s.authorization(ctx, d.Name)
	records := s.domains.Records(d)
	evidence.Record, evidence.Address = publishedPolicy(records), out.Reporting.Address
	out.Advice = Advise(evidence)
	traffic, err := s.readTraffic(ctx, accountID, d.ID, now)
	if err != nil {
		return Summary{}, err
	}
	out.Placement = traffic.placement
	out.Requirements = judgeRequirements(standing{records: records, policy: out.Advice.Policy, found: evidence,
		sent: traffic.sent})
	out.Grade = gradeOf(out.Requirements)
	return out, nil
}

// readCounts reads the stored counts of a domain, and returns the evidence in them.
func (s *Service) readCounts(ctx context.Context, out *Summary) (e Evidence, err error) {
	on, where := s.db.SQL, []any{out.DomainID, out.Since, out.Until}
	type totals struct {
		Share
		atRisk int64
		days   int
	}
	all, err := db.One(ctx, on, func(t *totals) []any { return append(t.scan(), &t.atRisk, &t.days) }, totalsSQL, where...)
	if err != nil {
		return e, err
	}
	out.Totals = all.Share
	if out.Receivers, err = db.All(ctx, on, func(r *ReceiverShare) []any {
		return append([]any{&r.Receiver}, r.scan()...)
	}, receiversSQL, append(where, maxReceivers)...); err != nil {
		return e, err
	}
	if out.Sources, err = db.All(ctx, on, func(r *Source) []any {
		return append(append([]any{&r.Address, &r.Name, &r.Ours}, r.scan()...), &r.AtRisk)
	}, sourcesSQL, append(where, maxSources)...); err != nil {
		return e, err
	}
	for i := range out.Sources {
		out.Sources[i].Service = serviceOf(out.Sources[i].Name)
	}
	if out.Reporting.Refusals, err = db.All(ctx, on, func(r *Refusal) []any { return []any{&r.Reason, &r.Messages} },
		refusalsSQL, where...); err != nil {
		return e, err
	}
	out.Reporting, err = db.One(ctx, on, func(r *Reporting) []any {
		r.Refusals = out.Reporting.Refusals
		return []any{&r.Reports, &r.LastReportAt}
	}, reportsSQL, out.DomainID, out.Since)
	return Evidence{Days: all.days, Messages: all.Messages, AtRisk: all.atRisk,
		Unknown: all.Messages - all.DMARC - all.atRisk}, err
}

const authorizeWithin = 3 * time.Second

// authorization checks the record without which receivers do not send reports to a host outside the domain (RFC
// 7489 section 7.1). One record with a wildcard covers all domains.
func (s *Service) authorization(ctx context.Context, name string) Authorization {
	a := Authorization{Name: name + "._report._dmarc." + s.addresses.Host(), Value: "v=DMARC1;", Status: "unknown"}
	ctx, cancel := context.WithTimeout(ctx, authorizeWithin)
	defer cancel()
	found, err := s.dns.LookupTXT(ctx, a.Name)
	if err == nil || errors.Is(err, dnsx.ErrNotFound) {
		a.Status = "missing"
	}
	for _, value := range found {
		if version, _, _ := strings.Cut(value, ";"); strings.TrimSpace(version) == "v=DMARC1" {
			a.Status = "verified"
		}
	}
	return a
}

// publishedPolicy returns the DMARC record that the last check found, or an empty string. The records of a verified
// domain that is never looked up, as in development mode, count as published.
func publishedPolicy(records []dnscheck.RecordCheck) string {
	for _, r := range records {
		if r.Purpose != dnscheck.DMARC {
			continue
		}
		found := r.Found
		if len(found) == 0 && r.Status == dnscheck.Verified {
			found = []string{r.Value}
		}
		for _, value := range found {
			value = strings.Trim(value, `"`)
			if version, _, _ := strings.Cut(value, ";"); strings.ReplaceAll(version, " ", "") == "v=DMARC1" {
				return value
			}
		}
	}
	return ""
}

// services are sending services by the registrable domain of their servers' names.
var services = map[string]string{
	"google.com": "Google Workspace or Gmail", "outlook.com": "Microsoft 365", "amazonses.com": "Amazon SES",
	"sendgrid.net": "SendGrid", "mailgun.net": "Mailgun", "mcsv.net": "Mailchimp", "mcdlv.net": "Mailchimp",
	"rsgsv.net": "Mailchimp", "mandrillapp.com": "Mandrill", "mtasv.net": "Postmark", "sparkpostmail.com": "SparkPost",
	"sendinblue.com": "Brevo", "brevo.com": "Brevo", "mailjet.com": "Mailjet", "hubspotemail.net": "HubSpot",
	"exacttarget.com": "Salesforce", "salesforce.com": "Salesforce", "zendesk.com": "Zendesk", "zoho.com": "Zoho",
	"messagingengine.com": "Fastmail", "yahoo.com": "Yahoo", "mail.ru": "Mail.ru", "pphosted.com": "Proofpoint",
	"mimecast.com": "Mimecast", "klaviyomail.com": "Klaviyo", "resend.com": "Resend",
}

// serviceOf returns the known service that a verified reverse name belongs to.
func serviceOf(name string) string {
	for name != "" {
		if known := services[name]; known != "" {
			return known
		}
		_, name, _ = strings.Cut(name, ".")
	}
	return ""
}
