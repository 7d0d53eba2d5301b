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
// same however many rows there are, without relying on the planner's estimate of how common a word is. The first
// window also shows which words of a search are common: the index is queried for the others only.
//
// # What a word matches
//
// In the newest PartsWindow rows, a word matches any part of a text. In older rows, it matches what the index can find:
// the beginning of a word, of an address or of a compound such as INV-2202, and complete parts of an address next to each
// other, such as its domain. In an account with manyRows rows, words that are all common are only searched in the next
// rows. A table without a document is searched for parts in its newest rows, and for what Lookups find in all of them.
package search
