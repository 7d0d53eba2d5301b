package deliverability

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
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
	Degradations     []Degradation // the newest first
	Blocklists       []Listing     // listings first
	FeedbackLoops    []FeedbackLoop
	BIMI             []shape.RecordFinding // of the last DNS check
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

	fromSQL = ` FROM dmarc_counts c LEFT JOIN mail_sources m USING (source) WHERE c.domain_id = ANY($1) AND c.day BETWEEN $2 AND $3`

	totalsSQL = `SELECT c.domain_id, ` + shareSQL + `, ` + riskSQL + `, count(DISTINCT c.day)` + fromSQL + ` GROUP BY c.domain_id`

	rankSQL = `row_number() OVER (PARTITION BY c.domain_id ORDER BY sum(c.messages) DESC, `

	receiversSQL = `
SELECT * FROM (SELECT c.domain_id, ` + rankSQL + `c.receiver) AS rank, c.receiver, ` + shareSQL + fromSQL + `
	GROUP BY c.domain_id, c.receiver) ranked WHERE rank <= $4 ORDER BY rank`

	sourcesSQL = `
SELECT * FROM (SELECT c.domain_id, ` + rankSQL + `c.source) AS rank, c.source, coalesce(m.name, ''), coalesce(m.ours, false),
	` + shareSQL + `, ` + riskSQL + fromSQL + ` GROUP BY c.domain_id, c.source, m.name, m.ours) ranked WHERE rank <= $4 ORDER BY rank`

	refusalsSQL = `SELECT domain_id, reason, sum(messages) FROM dmarc_refusals WHERE domain_id = ANY($1) AND day BETWEEN $2 AND $3
 GROUP BY domain_id, reason ORDER BY sum(messages) DESC, reason`

	reportsSQL = `SELECT domain_id, count(*), max(created_at) FROM dmarc_reports WHERE domain_id = ANY($1) AND created_at >= $2::date
 GROUP BY domain_id`
)

// Summarize returns the summary of the last Period days up to today. Error: NotFound.
func (s *Service) Summarize(ctx context.Context, accountID, domainID string) (Summary, error) {
	d, err := s.domains.Get(ctx, accountID, domainID)
	if err != nil {
		return Summary{}, err
	}
	all, err := s.summarize(ctx, accountID, []*ent.Domain{d})
	if err != nil {
		return Summary{}, err
	}
	return all[d.ID], s.readPlacementReplies(ctx, accountID, d.ID, clock.Now().UTC(), all[d.ID].Placement)
}

// SummarizeMany returns the summaries of the domains of the account among those IDs, by ID. It reads the reports
// about all of them at once.
func (s *Service) SummarizeMany(ctx context.Context, accountID string,
	domainIDs ...string) (map[string]Summary, error) {
	list, err := s.domains.GetMany(ctx, accountID, domainIDs...)
	if err != nil {
		return nil, err
	}
	return s.summarize(ctx, accountID, list)
}

func (s *Service) summarize(ctx context.Context, accountID string, list []*ent.Domain) (map[string]Summary, error) {
	now := clock.Now().UTC()
	p := period{until: now.Format(time.DateOnly), since: now.AddDate(0, 0, 1-Period).Format(time.DateOnly)}
	all := map[string]*Summary{}
	for _, d := range list {
		p.domainIDs = append(p.domainIDs, d.ID)
		all[d.ID] = &Summary{DomainID: d.ID, Domain: d.Name, Since: p.since, Until: p.until}
	}
	found, err := s.readCounts(ctx, p, all)
	if err == nil {
		err = s.readTLS(ctx, p, all)
	}
	if err == nil {
		err = s.readDegradations(ctx, p, all)
	}
	if err != nil {
		return nil, fmt.Errorf("deliverability: %w", err)
	}
	authorizations := s.authorizations(ctx, list)
	out := make(map[string]Summary, len(list))
	for _, d := range list {
		one, evidence := all[d.ID], found[d.ID]
		one.Reporting.Address, one.Reporting.Authorization = s.addresses.Address(d.ID), authorizations[d.ID]
		records := s.domains.Records(d)
		evidence.Record, evidence.Address = publishedPolicy(records), one.Reporting.Address
		one.Advice = Advise(evidence)
		traffic, err := s.readTraffic(ctx, accountID, d.ID, now)
		if err != nil {
			return nil, err
		}
		sample, addrs, err := s.readSending(ctx, one, now)
		if err != nil {
			return nil, fmt.Errorf("deliverability: %w", err)
		}
		one.BIMI = bimiFindings(records)
		one.Placement, one.FeedbackLoops = traffic.placement, feedbackLoops(d.Name, traffic)
		one.Requirements = judgeRequirements(standing{records: records, policy: one.Advice.Policy, found: evidence,
			traffic: traffic, sample: sample, sources: addrs})
		one.Grade = gradeOf(one.Requirements)
		out[d.ID] = *one
	}
	return out, nil
}

// period is a range of UTC days, inclusive, of some domains.
type period struct {
	domainIDs    []string
	since, until string
}

func (p period) args() []any { return []any{p.domainIDs, p.since, p.until} }

// readByDomain returns the rows of a statement by the domain in their first column.
func readByDomain[T any](ctx context.Context, on *db.DB, columns func(*T) []any, statement string,
	args ...any) (map[string][]T, error) {
	type row struct {
		domainID string
		value    T
	}
	rows, err := db.All(ctx, on.SQL, func(r *row) []any { return append([]any{&r.domainID}, columns(&r.value)...) },
		statement, args...)
	out := map[string][]T{}
	for _, r := range rows {
		out[r.domainID] = append(out[r.domainID], r.value)
	}
	return out, err
}

// readCounts reads the stored counts of domains into their summaries, and returns the evidence in them.
func (s *Service) readCounts(ctx context.Context, p period, all map[string]*Summary) (map[string]Evidence, error) {
	type totals struct {
		Share
		atRisk int64
		days   int
	}
	sums, err := readByDomain(ctx, s.db, func(t *totals) []any { return append(t.scan(), &t.atRisk, &t.days) }, totalsSQL,
		p.args()...)
	if err != nil {
		return nil, err
	}
	var rank int
	receivers, err := readByDomain(ctx, s.db, func(r *ReceiverShare) []any {
		return append([]any{&rank, &r.Receiver}, r.scan()...)
	}, receiversSQL, append(p.args(), maxReceivers)...)
	if err != nil {
		return nil, err
	}
	sources, err := readByDomain(ctx, s.db, func(r *Source) []any {
		return append(append([]any{&rank, &r.Address, &r.Name, &r.Ours}, r.scan()...), &r.AtRisk)
	}, sourcesSQL, append(p.args(), maxSources)...)
	if err != nil {
		return nil, err
	}
	refusals, err := readByDomain(ctx, s.db, func(r *Refusal) []any { return []any{&r.Reason, &r.Messages} }, refusalsSQL,
		p.args()...)
	if err != nil {
		return nil, err
	}
	reports, err := readByDomain(ctx, s.db, func(r *Reporting) []any { return []any{&r.Reports, &r.LastReportAt} },
		reportsSQL, p.domainIDs, p.since)
	found := map[string]Evidence{}
	for id, out := range all {
		for _, t := range sums[id] {
			out.Totals = t.Share
			found[id] = Evidence{Days: t.days, Messages: t.Messages, AtRisk: t.atRisk,
				Unknown: t.Messages - t.DMARC - t.atRisk}
		}
		for _, r := range reports[id] {
			out.Reporting = r
		}
		out.Receivers, out.Sources, out.Reporting.Refusals = receivers[id], sources[id], refusals[id]
		for i := range out.Sources {
			out.Sources[i].Service = serviceOf(out.Sources[i].Name)
		}
	}
	return found, err
}

const (
	authorizeWithin = 3 * time.Second
	authorizeAtOnce = 10 // lookups
)

// authorizations checks the authorizations of domains concurrently.
func (s *Service) authorizations(ctx context.Context, list []*ent.Domain) map[string]Authorization {
	ctx, cancel := context.WithTimeout(ctx, authorizeWithin)
	defer cancel()
	found := make([]Authorization, len(list))
	free := make(chan struct{}, authorizeAtOnce)
	var group sync.WaitGroup
	for i, d := range list {
		free <- struct{}{}
		group.Go(func() {
			found[i] = s.authorization(ctx, d.Name)
			<-free
		})
	}
	group.Wait()
	out := map[string]Authorization{}
	for i, d := range list {
		out[d.ID] = found[i]
	}
	return out
}

// authorization checks the record without which receivers do not send reports to a host outside the domain (RFC
// 7489 section 7.1). One record with a wildcard covers all domains.
func (s *Service) authorization(ctx context.Context, name string) Authorization {
	a := Authorization{Name: name + "._report._dmarc." + s.addresses.Host(), Value: "v=DMARC1;", Status: "unknown"}
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
