package smtpclient

import (
	"errors"

	"github.com/mjl-/mox/tlsrpt"

	"github.com/postrider/postrider/runtime/mail/mtasts"
)

// TLSReport is what TLS-RPT (RFC 8460) would report to a receiving domain about one session with its mail
// hosts, or about one policy that could not be used.
type TLSReport struct {
	Domain  string    // of the recipient
	Host    string    // empty if no host was contacted
	Policy  TLSPolicy // under which the session was opened
	Testing bool      // the policy only asks for reports: the message was delivered anyway
	Result  string    // empty for success; else a result type of RFC 8460, 4.3
}

// TLSReports counts reports. It is called from many goroutines.
type TLSReports interface {
	Report(r TLSReport)
}

func (t *Transport) reportTLS(r TLSReport) {
	if t.cfg.Reports != nil {
		t.cfg.Reports.Report(r)
	}
}

// sessionResults are mox's results for one session: for the public certificate authorities, and for TLSA
// records.
type sessionResults struct{ pkix, dane tlsrpt.Result }

// reportSession reports the TLS result. Sessions that ended before TLS are not reported.
func (t *Transport) reportSession(rt route, host target, d tlsDemand, r *sessionResults, notOffered bool) {
	if rt.smarthost != nil {
		return
	}
	report := TLSReport{Domain: rt.domain.ASCII, Host: host.name, Policy: d.policy}
	result := &r.dane // without records: whether TLS was used
	if d.policy == PolicyOpportunistic && rt.sts != nil {
		report.Policy, report.Testing = PolicySTS, true
	}
	if d.verify || report.Testing {
		result = &r.pkix
	}
	switch {
	case notOffered:
		report.Result = string(tlsrpt.ResultSTARTTLSNotSupported)
	case len(result.FailureDetails) > 0:
		report.Result = string(result.FailureDetails[0].ResultType)
	case result.Summary.TotalFailureSessionCount > 0:
		report.Result = string(tlsrpt.ResultValidationFailure)
	case result.Summary.TotalSuccessfulSessionCount <= 0:
		return
	}
	t.reportTLS(report)
}

func resultOf(err error) string {
	var failure *mtasts.FetchFailure
	if errors.As(err, &failure) {
		return string(failure.Problem)
	}
	return string(mtasts.FetchError)
}
