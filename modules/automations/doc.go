// Package automations runs sequences of steps that send messages, wait and decide, for one person at
// a time, when the account's events start them.
//
// # Terms
//
// An automation (aut_…) consists of a draft, which can be edited, and the versions that were activated
// from it. A custom event (ae_…) is something that the account's own programs report. It starts
// runs (run_…) of active automations, ends waits of live runs and cancels others. A run follows its
// version to the end, whatever happens to the draft.
//
// # Packages
//
//	definition  the JSON form of an automation and its validation
//	expression  conditions in CEL
//	clock       times of day in time zones
//	machine     the next action of a run, as a pure function
//	versions    compiled versions
//	runs        live runs in the database: lock, claim, settle, begin, cancel
//	ingest      POST /events
//	steps       the worker that takes due steps, and what steps do outside the run
//	facts       events about mail, such as $email.clicked
//	proof       signatures of webhook steps, and causes
//	simulation  a run on a virtual clock, which stores and sends nothing
//	figures     how many runs reached each step, and their outcomes there
//	drain       live runs of whole automations, released or cancelled in the background
//
// This package stores automations: drafts, activation, and the records of runs and events.
//
// # Guarantees
//
//   - The counters of an event are exact in the transaction that stores it.
//   - A run sends one message per send step, even after a crash, because one commit stores the
//     message and the step.
//   - Once an event that cancels a run is committed, the run sends nothing.
//   - An event that a run waits for is not lost between the trigger and the wait, because the wait
//     looks back to the start of its run.
//   - Facts (automation.started, step_completed, completed, failed) are written in the transaction
//     that makes them true, so each exists once.
package automations
