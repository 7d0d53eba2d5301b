// Package ingest takes custom events and does at once what they mean: in one transaction with
// the event it cancels runs, ends waits and starts runs, in this order. So the counters of the
// answer are true when it is given, and a run whose first step is a wait already waits.
//
// Requests that wait share a commit. In it the events take effect one after another: what an
// earlier one started, a later one can cancel or resume.
//
// An event for which nobody listens is a row and nothing else. The others take a lock for
// each name of their person before they read live runs, so that of two events of one person
// the second sees what the first has done.
package ingest
