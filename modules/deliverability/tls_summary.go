package deliverability

import (
	"context"
	"strings"
	"time"
)

// TLSSummary is what senders report about TLS in their SMTP sessions with a domain.
type TLSSummary struct {
	Reports      int64 // accepted in the period
	LastReportAt *time.Time
	TLSSessions

	Days      []TLSDay // with reports, the oldest first
	Receivers []TLSReceiver
	Failures  []TLSFailure
}

// TLSSessions counts SMTP sessions.
type TLSSessions struct{ Succeeded, Failed int64 }

func (s *TLSSessions) scan() []any { return []any{&s.Succeeded, &s.Failed} }

// TLSDay counts the sessions of one day.
type TLSDay struct {
	Day string // UTC
	TLSSessions
}

// TLSReceiver counts the sessions that one organization reported.
type TLSReceiver struct {
	Receiver     string // domain that authenticated the messages of the reports
	Organization string // name in the newest report; not verified
	TLSSessions
}

// TLSFailure counts the sessions that failed in one way.
type TLSFailure struct {
	Type     string // of package tlsreport
	Policy   string // that the sender applied
	Sessions int64
	Reason   string // one sentence
	Fix      string // one or two sentences
}

const (
	maxTLSReceivers = 100

	tlsSessionsSQL = `coalesce(sum(c.sessions) FILTER (WHERE c.result = 'successful'), 0),
	coalesce(sum(c.sessions) FILTER (WHERE c.result = 'failed'), 0)`

	tlsFromSQL = ` FROM tls_counts c WHERE c.domain_id = ANY($1) AND c.day BETWEEN $2 AND $3`

	tlsDaysSQL = `SELECT c.domain_id, c.day, ` + tlsSessionsSQL + tlsFromSQL + ` GROUP BY c.domain_id, c.day ORDER BY c.day`

	tlsReceiversSQL = `
WITH ranked AS (SELECT c.domain_id, c.receiver, ` + tlsSessionsSQL + `, row_number() OVER (PARTITION BY c.domain_id
	ORDER BY sum(c.sessions) FILTER (WHERE c.result IN ('successful', 'failed')) DESC NULLS LAST, c.receiver) AS rank` + tlsFromSQL + `
	GROUP BY c.domain_id, c.receiver)
SELECT k.*, coalesce((SELECT r.organization FROM tls_reports r WHERE r.domain_id = k.domain_id AND r.receiver = k.receiver
	ORDER BY r.created_at DESC, r.id DESC LIMIT 1), '')
  FROM ranked k WHERE k.rank <= $4 ORDER BY k.rank`

	tlsFailuresSQL = `SELECT c.domain_id, c.result, c.policy, sum(c.sessions)` + tlsFromSQL + ` AND c.result NOT IN ('successful', 'failed')
 GROUP BY c.domain_id, c.result, c.policy ORDER BY sum(c.sessions) DESC, c.result, c.policy`

	tlsReportsSQL = `SELECT domain_id, count(*), max(created_at) FROM tls_reports WHERE domain_id = ANY($1) AND created_at >= $2::date
 GROUP BY domain_id`
)

// readTLS reads the TLS reports about domains into their summaries.
func (s *Service) readTLS(ctx context.Context, p period, all map[string]*Summary) error {
	reports, err := readByDomain(ctx, s.db, func(t *TLSSummary) []any { return []any{&t.Reports, &t.LastReportAt} },
		tlsReportsSQL, p.domainIDs, p.since)
	if err != nil {
		return err
	}
	days, err := readByDomain(ctx, s.db, func(t *TLSDay) []any { return append([]any{&t.Day}, t.scan()...) }, tlsDaysSQL,
		p.args()...)
	if err != nil {
		return err
	}
	var rank int
	receivers, err := readByDomain(ctx, s.db, func(t *TLSReceiver) []any {
		return append(append([]any{&t.Receiver}, t.scan()...), &rank, &t.Organization)
	}, tlsReceiversSQL, append(p.args(), maxTLSReceivers)...)
	if err != nil {
		return err
	}
	failures, err := readByDomain(ctx, s.db, func(t *TLSFailure) []any { return []any{&t.Type, &t.Policy, &t.Sessions} },
		tlsFailuresSQL, p.args()...)
	for id, out := range all {
		for _, r := range reports[id] {
			out.TLS = r
		}
		out.TLS.Days, out.TLS.Receivers, out.TLS.Failures = days[id], receivers[id], failures[id]
		for _, day := range out.TLS.Days {
			out.TLS.Succeeded += day.Succeeded
			out.TLS.Failed += day.Failed
		}
		for i := range out.TLS.Failures {
			f := &out.TLS.Failures[i]
			f.Reason, f.Fix = explainTLSFailure(f.Type, out.Domain)
		}
	}
	return err
}

// tlsExplanations are the meanings of failures (RFC 8460 section 4.3). $ is replaced by the domain.
var tlsExplanations = map[string]struct{ reason, fix string }{
	"starttls-not-supported": {"The mail server did not offer STARTTLS.",
		"Enable STARTTLS on every host in the MX record of $, and make sure that no firewall removes it."},
	"certificate-host-mismatch": {"The certificate is not valid for the name in the MX record.",
		"Install a certificate that contains the host name in the MX record of $."},
	"certificate-expired": {"The certificate of the mail server has expired.",
		"Renew the certificate, and have it renewed automatically."},
	"certificate-not-trusted": {"The sender does not trust the certificate of the mail server.",
		"Install a certificate of a public certificate authority along with its intermediate certificates."},
	"validation-failure": {"TLS failed for a reason that the sender did not classify.",
		"Check the certificate and the TLS versions of the hosts in the MX record: " +
			"openssl s_client -starttls smtp -connect HOST:25."},
	"tlsa-invalid": {"No TLSA record matches the certificate of the mail server.",
		"Publish TLSA records that match the certificate. Before you replace a certificate, publish the record of the new one."},
	"dnssec-invalid": {"DNSSEC validation failed, so the sender got no valid records.",
		"Repair DNSSEC: the DS record of the zone must match its keys, and its signatures must be current."},
	"dane-required": {"The sender requires DANE, but the MX hosts have no TLSA records that DNSSEC validates.",
		"Publish TLSA records for every MX host in a zone that is signed with DNSSEC, or ask the sender not to require DANE."},
	"sts-policy-fetch-error": {"The sender could not download the MTA-STS policy.",
		"Serve the policy at https://mta-sts.$/.well-known/mta-sts.txt, or remove the record _mta-sts.$."},
	"sts-policy-invalid": {"The MTA-STS policy has a syntax error.",
		"Correct the file https://mta-sts.$/.well-known/mta-sts.txt."},
	"sts-webpki-invalid": {"The certificate of the host that serves the MTA-STS policy is not valid.",
		"Install a certificate of a public certificate authority for mta-sts.$."},
	"unspecified": {"The sender reported these failures without a cause.",
		"Compare with the other failures. If there are none, ask the sender for details."},
	"other": {"The sender reported a cause that the standard does not define.",
		"Ask the sender for details."},
}

// explainTLSFailure returns the reason for a type of failure of a domain, and what to do.
func explainTLSFailure(kind, name string) (reason, fix string) {
	e := tlsExplanations[kind]
	return e.reason, strings.ReplaceAll(e.fix, "$", name)
}
