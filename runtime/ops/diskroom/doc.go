// Package diskroom watches how much room the database's disk has left, so that writes stop before
// PostgreSQL cannot write its log.
//
// The last part of the disk is kept for what must go on. The levels, by the free part of the disk:
//
//	below 20 %, and below 10 GB   PaidOnly: free accounts store nothing
//	below 14 %, and below 5 GB    MailOnly: nobody stores anything but mail
//	below  8 %, and below 2 GB    Full: nothing is accepted; delivery, webhooks and retention go on
//
// A level ends once there is 2 % more room than where it begins. Nothing else ends it.
//
// The disk is measured where this process can see it: the embedded server's data directory, or that of
// a server on this machine if its role may read data_directory. Otherwise POSTRIDER_DATABASE_BYTES says
// how much room the database has, and the size of the database counts as used. If neither is known,
// the level is always Enough.
//
// Between two samples, the bytes that are about to be written count three times: in the table, in the
// log of the database, and once more for indexes and for what other processes write.
package diskroom
