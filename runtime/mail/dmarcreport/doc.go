// Package dmarcreport parses aggregate reports of DMARC (RFC 7489 appendix C, and its successor's format with the
// same elements under another namespace).
//
// Reports come from strangers. The cost of one is bounded before it is parsed: the size of the file, the size after
// decompression, the number of records and of distinct rows, the depth of the XML and the length of each token. A
// document type declaration is refused, so no entity can be declared. A report is accepted completely or not at all,
// and each refusal has a Reason of package reportfile.
//
// Receivers differ in what they omit and in how they write it. The parser therefore ignores namespaces, unknown
// elements and the order of elements, and requires only what the sums depend on: the organization, the report id, the
// period, the domain, and in each record the source address, the count and the evaluated results.
//
// Texts of a report are data of a stranger. They have no control characters and a bounded length, and may contain
// HTML: a page must escape them.
package dmarcreport
