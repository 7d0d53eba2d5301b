// Package bodies moves the bodies of finished emails to the object store, and reads them from there. It does
// so if the installation has a store (POSTRIDER_BLOBS) and asks for it (POSTRIDER_BLOBS_SENT_AFTER).
// Acceptance and delivery are unaffected.
//
// # Terms
//
// The body consists of html and text, or of the message as it was submitted over SMTP; it moves as one
// object, and each attachment as another. Custom header fields stay in the database. A finished email has
// nothing left to send (lifecycle.Finished), and never becomes unfinished again. A move is a row of
// body_moves: an object to be written or deleted. The walk creates moves for emails that are old enough, in
// id order, up to a mark.
//
// # Location of a body
//
// A body is either in the row of the email or under the key in that row, and one commit switches between
// them. A move with the key is committed before the first byte is sent. Then the object is written and read
// back. Then one transaction sets the key, empties the columns and deletes the move, if the email still
// exists, finished and not purged; otherwise the move becomes the deletion of its object. So a process that
// dies at any point loses nothing: its object is written again under the same key, or deleted.
//
// Deleting an email or its body schedules the deletion of the object in the same transaction (package
// records). Objects are deleted a minute later, because a reader may just have read the key, and because an
// upload whose lease has ended may still be running.
//
// # Objects
//
// The key is sent/<month>/<account>/<email>-<random>: the month in which the email was created, so that
// objects past every retention can be expired by prefix, and a random part, so that a copy of the database
// does not overwrite the objects of the original installation. Html and text are JSON under .json.gz, a
// relayed message is stored as is under .eml.gz, an attachment under its position and .gz.
//
// # Limits of the work
//
// The walk pauses while many moves are due. While the store is unavailable, only one move is tried from time
// to time. Both bound the number of moves, so that an outage of a week costs a table of a few thousand rows;
// the emails stay where they are.
//
// A version without this package would treat a moved email as one without a body. So the first walk makes the
// database refuse such versions, and no process walks while a process of another version is alive.
package bodies
