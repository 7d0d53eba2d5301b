// Package bodies moves the bodies of finished emails to the object store and reads them from there. It requires
// that the installation has a store (POSTRIDER_BLOBS) and enables moves (POSTRIDER_BLOBS_SENT_AFTER).
// Acceptance and delivery are unaffected.
//
// # Terms
//
// The body consists of html and text, or of the message as it was submitted over SMTP. It moves as one object,
// and each attachment as another. Custom header fields stay in the database. A finished email has nothing left
// to send (lifecycle.FinishedStatuses), and never becomes unfinished again. A move is a row of body_moves: an object to
// be written or deleted. The walk creates moves for emails that are old enough, in id order, up to a mark.
//
// # Location of a body
//
// A body is either in the row of the email or in the store under the key in that row; one commit switches
// between them. A move with the key is committed before the first byte is sent. Next, the object is written and
// read back. Finally, one transaction sets the key, empties the columns and deletes the move, provided that the
// email still exists, finished and not purged; otherwise the move becomes the deletion of its object. A process
// that dies at any point therefore loses nothing: its object is written again under the same key, or deleted.
//
// Deleting an email or its body schedules the deletion of the object in the same transaction (package records).
// Objects are deleted one minute later, because a reader may just have read the key, and because an upload
// whose lease has expired may still be running.
//
// # Objects
//
// The key is sent/<month>/<account>/<email>-<random>. The month in which the email was created allows objects
// past every retention to be expired by prefix. The random part prevents a copy of the database from
// overwriting the objects of the original installation. Html and text are JSON under .json.gz, a relayed
// message is stored unchanged under .eml.gz, an attachment under its position and .gz.
//
// # Limits of the work
//
// The walk pauses while many moves are due. While the store is unavailable, only one move is tried from time to
// time. Both limit the number of moves, so that an outage of a week costs a table of a few thousand rows; the
// bodies stay where they are.
//
// A version without this package would read a moved email as one without a body. Therefore the first walk makes
// the database reject such versions, and no process walks while a process of another version is alive.
package bodies
