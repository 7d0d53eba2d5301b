// Package backup writes the database of an installation to a folder, and restores it from such a folder.
//
// A backup is a folder with two files: database.dump, written by pg_dump in its custom format, and
// backup.json, which describes it. backup.json is written last: a folder without it is an incomplete backup.
// Neither contains the master key.
//
// The rows of a backup are a snapshot of one moment. Mail that was sent after that moment is still queued in
// them, so a restored database is held (runtime/work/node). The row of the hold is written in the transaction
// that restores all other rows, so no process can see the database without it.
package backup
