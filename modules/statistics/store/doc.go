// Package store stores rows of statistics: those of recent weeks in statistics_days, one per day, and older
// ones in statistics_months, one per month.
//
// # Terms
//
// A row (rollup.Row) contains the counts of one account for one kind and key. For each placement, a day row
// has a chunk of figures and one of latencies, by quarters of an hour. Counting reads, merges and rewrites
// them without changing an index. Month rows are written once the month has been over for Settle; later
// counts for the month are added occasionally. They also contain the same counts by hours and by days if that
// is shorter, so that a year can be read from few bytes.
//
// # Number of rows
//
// There may be as many tags and recipient domains as emails, so a day keeps only the largest few hundred of
// each. The others are not stored by name, but are included in the rows for the whole kind
// (rollup.RowKind.TotalKind). Up to Limit.Most rows, everything is exact. Beyond it the day is thinned: the largest
// Limit.Keep rows stay, and half as many of the others, chosen at random. A row that continues to grow is
// among the largest the next time, so that an important domain is stored by name soon after its first email.
//
// # Concurrency
//
// Apply is called by the holder of the statistics mark, and serially for each account by Keep (package
// statistics), so two callers never change the same row. Packing deletes day rows concurrently; Apply then
// starts a new row.
package store
