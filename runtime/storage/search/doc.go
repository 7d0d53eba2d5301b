// Package search finds rows of a list by what stands in them: emails, received mail.
//
// # Words
//
// A document is a tsvector column with two kinds of lexemes. Words come from texts and
// are found by their beginning. Marks are exact: one of the account, so that the index
// never walks another tenant's rows, and one for each thing that a list is filtered by.
// One GIN index over the document serves all filters.
//
// # How a page is found
//
// First the newest Window rows of the account are looked at one by one, and then the
// index is asked. What many rows have is found at once among the newest; what few have is
// few in the index. So a page costs the same however many rows there are, without trust
// in the planner's guess of how common a word is.
package search
