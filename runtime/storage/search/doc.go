// Package search finds rows of a list by their content: emails, received mail.
//
// # Terms
//
// A document is a tsvector column with two kinds of lexemes. Words come from texts and match by prefix.
// Marks match exactly: one for the account, so that the index never scans the rows of another tenant, and
// one for each filter of a list. One GIN index over the document serves all filters.
//
// # How a page is found
//
// First the newest Window rows of the account are scanned, then the index is queried. Common terms are
// found quickly among the newest rows, and rare terms have few entries in the index. So a page costs the
// same however many rows there are, without relying on the planner's estimate of how common a word is.
package search
