// Package tlsreport parses reports about TLS in SMTP sessions (RFC 8460 section 4).
//
// Reports come from strangers. The size of the JSON, the number of policies and of failures, and every count are
// limited. A report is accepted completely or not at all, and each refusal has a Reason of package reportfile.
//
// The parser requires what the sums depend on: the organization, the report id, the period, and for each policy its
// domain, its type and the totals. It ignores unknown fields, the policies themselves, and the servers and messages in
// failures. A type that RFC 8460 does not define is counted as Other.
//
// Texts of a report are data of a stranger. They have no control characters and a bounded length, and may contain
// HTML: a page must escape them.
package tlsreport
