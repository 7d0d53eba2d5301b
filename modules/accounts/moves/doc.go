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
// # What is refused
//
// A frozen account answers reads; everything else is Unavailable with CodeAccountMoving. An account that has moved
// redirects requests with an API key; people and SMTP clients get an error with its new base URL (accounts.Residence).
// Test data stays at the source.
package moves
