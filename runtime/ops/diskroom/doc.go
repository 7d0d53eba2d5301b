// Package diskroom watches the free space of the database's disk, so that writes stop before PostgreSQL can
// no longer write its WAL.
//
// The last part of the disk is reserved for essential work. The levels, by the free part of the disk:
//
//	below 20 %, and below 10 GB   PaidOnly: free accounts store nothing
//	below 14 %, and below 5 GB    MailOnly: only mail is stored
//	below  8 %, and below 2 GB    Full: nothing is accepted; delivery, webhooks and retention continue
//
// A level only ends when there is 2 % more free space than where it begins.
//
// The disk is measured if this process can see it: the embedded server's data directory, or that of a server
// on this machine if its role may read data_directory. Otherwise POSTRIDER_DATABASE_BYTES says how much space
// the database has, and the size of the database counts as used. If neither is known, the level is always
// Enough.
//
// Between two samples, bytes about to be written count three times: in the table, in the WAL, and once more
// for indexes and for the writes of other processes.
package diskroom
