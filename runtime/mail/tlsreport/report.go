package tlsreport

import (
	"cmp"
	"slices"
	"time"
)

// The results of rows that are not types of failures in RFC 8460 section 4.3.
const (
	Successful  = "successful"  // total of a policy
	Failed      = "failed"      // total of a policy, whatever its failures
	Unspecified = "unspecified" // failures in a total without a failure that explains them
	Other       = "other"       // unknown type of failure, or of policy
)

// PolicyTypes are the types of policies (RFC 8460 section 4.4).
var PolicyTypes = []string{"sts", "tlsa", "no-policy-found"}

// FailureTypes are the types of failures (RFC 8460 section 4.3).
var FailureTypes = []string{"starttls-not-supported", "certificate-host-mismatch", "certificate-expired",
	"certificate-not-trusted", "validation-failure", "tlsa-invalid", "dnssec-invalid", "dane-required",
	"sts-policy-fetch-error", "sts-policy-invalid", "sts-webpki-invalid"}

// Report is one report.
type Report struct {
	Organization string
	ID           string
	Domains      []string // of the policies, distinct, in lower case
	Begin, End   time.Time
	Rows         []Row // distinct, sorted
}

// Row counts the sessions with one result. The failures of a policy need not add up to its total.
type Row struct {
	Key

	Sessions int64
}

// Key is what the sessions of a row have in common.
type Key struct{ Policy, Result string }

func sortRows(rows []Row) {
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Result, b.Result))
	})
}
