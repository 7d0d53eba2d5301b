// Package bodies moves the bodies of finished emails to the object store, and reads them
// there. It does so where the installation has a store (POSTRIDER_BLOBS) and wants it
// (POSTRIDER_BLOBS_SENT_AFTER); nothing on the way from acceptance to delivery knows of it.
//
// # Words
//
// The body that moves is html and text, or the message as it came over SMTP, as one object, and
// each file as one. Custom header fields stay in the database. A finished email is one of which nothing is sent any
// more (lifecycle.Finished); a finished email never becomes an unfinished one. A move is a
// row of body_moves: an object to be written, or one to be deleted. The walk is what makes
// moves for the emails that are old enough, in the order of their ids, up to a mark.
//
// # Where a body is
//
// It is in the row of the email, or under the key in that row, and the step from one to the
// other is one commit. A move with the key is committed before the first octet is sent. Then the
// object is written and read back. Then one transaction sets the key, empties the columns and
// deletes the move, if the email is still there, finished and not purged; otherwise the move
// becomes the deletion of its object. So a process that dies anywhere in between loses
// nothing, and what it wrote is written again under the same key, or deleted.
//
// Whoever deletes an email, or its body, makes the deletion of the object in the same
// transaction (package records). An object is deleted a minute later, because somebody may
// have read the key just before, and because an upload whose lease has ended may still run.
//
// # Objects
//
// The key is sent/<month>/<account>/<email>-<random>: the month in which the email was made, so
// that what is past every retention can be expired by prefix, and something random, so that a copy of
// the database does not write over the objects of the installation that it was copied from.
// Html and text are JSON under .json.gz, a message that came over SMTP is itself under .eml.gz, a file under its
// position and .gz.
//
// # Limits of the work
//
// The walk makes no more moves while many are due; while the store is away nothing is tried
// but one move from time to time. Moves to be written are bounded by that, so a store that is
// away for a week costs a table of some thousand rows; the emails wait where they are.
//
// A program of before this package would take an email that was moved for one without a body.
// So the first walk has the database refuse such programs, and no process walks while one of another
// version lives.
package bodies
