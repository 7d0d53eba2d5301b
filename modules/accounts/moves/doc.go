// Package moves brings accounts to other installations, with their unfinished work.
//
//	source                                            target
//	  │ ExportMove                                      │
//	  │  T  freeze: frozen_at, move_id, move_code       │
//	  │  T  park the unfinished work, again and again,  │
//	  │     until nothing is in progress                │
//	  │  T  one snapshot ──────── file ───────────────▶ │ Import
//	  │  T  move_digest                                 │  T  a frozen copy with parked work and move_id
//	  │                                                 │
//	  │ Finish                                          │
//	  │  T  end the parked work, moved_to ── code ────▶ │ Start
//	  │     (or Cancel: unpark, frozen_at = NULL)       │  T  unpark, frozen_at = NULL
//
// Each T is one transaction, and each side can be killed between any two of them: the columns of the account show what
// can be done next (State).
//
// # Most of an account is copied while it works
//
// Move copies the large tables (those with units in package transfer) first, and freezes the account only for the rest:
//
//	source                                            target
//	  │ Move                                            │
//	  │  T  snapshot A of finished units ─── base ────▶ │ Import
//	  │     (temporary tables: units of A)              │  T  a frozen copy without work, in many transactions;
//	  │                                                 │     after the last one, move_id = id of the base
//	  │  T  find what has changed since A               │
//	  │  T  freeze, park, wait as above                 │
//	  │  T  snapshot B: find the rest                   │
//	  │     what has changed ─────────── difference ──▶ │ Import
//	  │                                                 │  T  only if move_id is still the base: replace what has
//	  │  T  move_digest                                 │     changed; move_id = id of the move
//	  │ Finish, Start as above                          │
//
// A unit is an email with its recipients, attempts and so on, a received message with its copies for each recipient, an
// event, a webhook delivery with its attempts, a day of a domain's DMARC counts. It is replaced as a whole, because the
// numbers of its rows differ at the target. Unfinished units are not in the base, and tables without units are in the
// difference only. Counts and reports refer to domains, so a base contains these too, but as pending ones that nothing
// uses, and the difference updates them.
//
// A unit has changed if a transaction that A may not contain has written one of its rows (xmin), or if it was
// unfinished in A. All other rows are those of A. To find deleted rows, the source compares their number with that of
// A, and compares each unit only if the numbers differ. This does not depend on the code that deletes rows. It may find
// too much, for example because a transaction of another account was open during A. To replace a unit that has not
// changed is correct, too.
//
// If the account has moved away from the target before, its row and its keys there remain with the base, so that
// clients are redirected until the difference replaces them.
//
// No code starts a base: its id is not a hash. The difference completes only the base with its id. The source must keep
// its connection, so a command that was killed begins again with another base, which replaces the one at the target.
//
// # The freeze ends early if every process confirms it
//
// A process caches accounts and keys for seconds. Each step of a move notifies the processes, which drop their caches
// or read them again (Follower), and store the snapshot from which they have read since. The export begins once the
// snapshot of every process contains the freeze, and requests that began before have had a second to end. If a process
// does not confirm, for example an older version, the export waits until all caches have ended.
//
// # No work is lost or doubled
//
// The file contains exactly the parked work. To park a row is to shift its due time by 200 years, so that no claim
// finds it. Claims and the accept path therefore do not know about moves. A row that a worker holds is parked once its
// attempt has ended, or taken from the worker by the fencing number. The snapshot is exported only if it contains no
// work that is not parked. A row that appears later, such as an email of a process that has not noticed the freeze, is
// not in the file, is not parked, and is therefore completed at the source even after the move.
//
// The copy starts only with the move code, of which the file contains the SHA-256. The source reveals the code when it
// has ended its own rows in one transaction, provided that they are still those of the file (move_digest). After that,
// the move cannot be canceled. A file of an earlier attempt has another code, so it never starts.
//
// Events can be later than the marks of the target, which would then handle and count them again. The import therefore
// records them as handled, and subtracts from the statistics those that the target counts later. The file also names
// the mark of the source, so that a copy of an account that works misses no event that the source had not counted.
//
// # What the source has signed
//
// The file also contains a key that both sides know afterwards (package origins). With it, the source signs the links
// and reports that it passes on, and the target signs the questions that it asks the source.
//
// # What is refused
//
// A frozen account answers reads; everything else is Unavailable with CodeAccountMoving. An account that has moved
// redirects requests with an API key, or forwards them if the operator chose so (admission.Forward). People and SMTP
// clients get an error with its new base URL (accounts.Residence).
// Test data stays at the source.
package moves
