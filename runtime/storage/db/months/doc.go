// Package months splits the tables that grow with mail into one table for each month, so that the
// indexes that new rows go into stay small, old months lie still, and the room of a month that nobody
// keeps goes back to the disk at once.
//
// # Words
//
// A table is plain, or split: then it is PostgreSQL's partitioned table, and its rows lie in months. A
// month is a range of ids, because ids begin with the time (runtime/base/id): the primary key stays (id), and
// foreign keys stay. Recipients and attempts have numbers of their own, which say nothing of the time: their months are ranges of their
// emails' ids, and statements that find them take those along. A bound is the least id of a month. The months before the first and after the last one
// that have a table of their own lie in the past and the rest: together they hold every id there can be, so no
// row is refused for its month.
//
// # Moving
//
// Move splits a plain table without moving a row: the table becomes the first month, which ends a month or two ahead. A
// constraint says that it holds no later id, which is checked beside the traffic; then one short transaction renames
// the table, makes the split one under its name and attaches the old one, whose indexes are taken over as they are. References to it are made
// anew in the same transaction and checked beside the traffic afterwards. Each step leaves the database whole, and Move goes on
// behind those that are done. Undo goes back while only the first month has rows.
//
// # Keeping
//
// Keep makes months ahead and drops those that are over and empty; how long rows are kept stays the
// affair of those who own them. Mostly they delete them one by one as in a plain table; where nobody needs any row
// of a month they can say so (Unneeded), and it is dropped with its rows. Both take locks that all
// requests of the table wait for, for a moment: who does not get them within lockWait lets the traffic go on and tries again.
// That is less than after which PostgreSQL looks for deadlocks, so it is never a request that is given up; nor is autovacuum then, which
// is asked away apart (runtime/storage/db/locks).
//
// A rest with rows (no process ran for months, or a clock is wrong) is taken for a month by Move; Keep
// leaves it alone and says so.
//
// # References
//
// PostgreSQL (up to 17) adds no reference to a split table without reading it under the lock. So what refers to a table that is exchanged
// while it is split itself has references of its parts for a time, each checked beside the traffic, and one as a whole in the end.
//
// # What stays unique
//
// An index of a split table is unique only with the column of its months in it. The keys of recipients and attempts have the email's id
// in them then; that keeps apart what it did before, as each has one email, and numbers come from one sequence that is handed over. The
// keys are made anew beside the traffic before the exchange, also on the way back. Indexes of the numbers alone stay, not unique: programs from before look by them, and operators.
//
// Deliveries to webhooks, which were unique by event and
// endpoint, have ids that follow from the two, so that the primary key does the same. Programs from before do not know
// that: they are refused from the move on, and the index is made anew without being unique.
package months
