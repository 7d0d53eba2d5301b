package outbound

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/mjl-/mox/dns"
	"github.com/mjl-/mox/tlsrpt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/tlsreportcount"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// TLSReportQuery is the input of TLSReports.
type TLSReportQuery struct {
	Day          string // a UTC day such as 2026-11-22; empty for yesterday by the database clock
	Domain       string // empty means all
	Organization string // the reporting organization
	Contact      string // contact for questions
}

func (q TLSReportQuery) normalize() (TLSReportQuery, error) {
	wrong := fault.Fields{}
	if _, err := time.Parse(time.DateOnly, q.Day); q.Day != "" && err != nil {
		wrong.Add("day", "must be a day such as 2026-11-22")
	}
	if q.Domain != "" {
		name, err := address.ParseDomain(q.Domain)
		if err != nil {
			wrong.Add("domain", "%s", err)
		}
		q.Domain = name
	}
	return q, wrong.Err()
}

// TLSReports returns one report for each domain that received mail on the day, in the format of RFC 8460
// section 4, sorted by domain. Domain policies are not stored, so policy-string and mx-host are empty.
func (s *Service) TLSReports(ctx context.Context, q TLSReportQuery) ([]tlsrpt.ReportJSON, error) {
	q, err := q.normalize()
	if err != nil {
		return nil, err
	}
	if q.Day == "" {
		if err := s.db.SQL.QueryRowContext(ctx, `SELECT to_char(now() AT TIME ZONE 'UTC' - interval '1 day', 'YYYY-MM-DD')`).Scan(&q.Day); err != nil {
			return nil, fmt.Errorf("tls reports: %w", err)
		}
	}
	query := s.db.Ent.TLSReportCount.Query().Where(tlsreportcount.Day(q.Day)).
		Order(ent.Asc(tlsreportcount.FieldDomain, tlsreportcount.FieldPolicy, tlsreportcount.FieldHost,
			tlsreportcount.FieldResult, tlsreportcount.FieldTesting))
	if q.Domain != "" {
		query.Where(tlsreportcount.Domain(q.Domain))
	} else {
		query.Where(tlsreportcount.DomainNEQ(otherDomains)) // belongs to no single domain
	}
	rows, err := query.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("tls reports: %w", err)
	}
	return reportsOf(q, rows), nil
}

// reportsOf builds reports from counters sorted by domain.
func reportsOf(q TLSReportQuery, rows []*ent.TLSReportCount) []tlsrpt.ReportJSON {
	begin, _ := time.Parse(time.DateOnly, q.Day) // already validated, or from the database
	var reports []tlsrpt.ReportJSON
	var report tlsrpt.Report
	for i, c := range rows {
		if i == 0 || c.Domain != rows[i-1].Domain { //nolint:gosec // the first half rules the first one out
			report = tlsrpt.Report{OrganizationName: q.Organization, ContactInfo: q.Contact, ReportID: q.Day + "-" +
				c.Domain + "@" + cmp.Or(q.Organization, "localhost"),
				DateRange: tlsrpt.TLSRPTDateRange{Start: begin, End: begin.Add(24*time.Hour - time.Second)}}
		}
		report.Merge(resultOf(c))
		if i == len(rows)-1 || c.Domain != rows[i+1].Domain {
			reports = append(reports, report.Convert())
		}
	}
	return reports
}

// resultOf returns the result of one counter. DANE is a policy of the mail host; the others are policies of
// the domain.
func resultOf(c *ent.TLSReportCount) tlsrpt.Result {
	kind, of := tlsrpt.NoPolicyFound, c.Domain
	switch smtpclient.TLSPolicy(c.Policy) {
	case smtpclient.PolicyDANE:
		kind, of = tlsrpt.TLSA, cmp.Or(c.Host, c.Domain)
	case smtpclient.PolicySTS:
		kind = tlsrpt.STS
	default:
	}
	r := tlsrpt.MakeResult(kind, dns.Domain{ASCII: of})
	if c.Result == "" {
		r.Summary.TotalSuccessfulSessionCount = c.Sessions
		return r
	}
	r.Summary.TotalFailureSessionCount = c.Sessions
	r.FailureDetails = append(r.FailureDetails, tlsrpt.FailureDetails{ResultType: tlsrpt.ResultType(c.Result),
		ReceivingMXHostname: c.Host, FailedSessionCount: c.Sessions})
	return r
}
