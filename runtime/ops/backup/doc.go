// Package backup writes the database of an installation to a folder, and makes a database of
// such a folder again.
//
// A backup is a folder with two files: database.dump, which pg_dump has written in its custom
// format, and backup.json, which says what it is of. backup.json is written last: a folder
// without one is a backup that did not end. The master key is in neither.
//
// The rows of a backup are those of one moment. Mail that left after that moment waits in
// them, so a restored database is held (runtime/work/hold): the row of the hold is written in the
// transaction that restores all others, and no process can see the database without it.
package backup
