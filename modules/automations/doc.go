// Package automations lets accounts describe what follows from events: sequences of steps that
// send emails, wait and decide, for one person each.
//
// # Words
//
// An automation (aut_…) is a draft that is edited, and versions that were activated of it. A
// custom event (ae_…) is what an account's own programs say has happened. It starts runs
// (run_…) of active automations, ends waits of live runs and cancels others. A run follows its
// version to the end, whatever becomes of the draft.
//
// # Rooms
//
//	definition  what an automation is made of, and every way in which one can be wrong
//	expression  conditions in CEL
//	clock       times of day in time zones
//	machine     what a run does next; pure
//	versions    compiled versions
//	runs        live runs in the database: lock, claim, settle, begin, cancel
//	ingest      POST /events
//	steps       the worker that takes steps that are due
//	facts       events of what happens to mail, as $email.clicked
//	proof       signatures of webhook steps, and causes
//	simulation  a run on a virtual clock, with nothing stored and nothing sent
//	figures     how many runs came to each step, and what became of them there
//	drain       live runs of whole automations, let go or cancelled in the background
//
// This package keeps automations: drafts, activation, and what was recorded of runs and events.
//
// # What is promised
//
//   - The counters of an event are true in the transaction that answers it.
//   - A run sends one mail for each send step, whatever dies when: the mail and the step are one
//     commit.
//   - From the commit of an event that cancels a run on, the run sends nothing.
//   - An event that a run waits for is not lost between the trigger and the wait: the wait looks
//     back to the start of its run.
//   - Facts (automation.started, step_completed, completed, failed) are written in the
//     transaction that makes them true, so each is there once.
package automations
