// Package ingest accepts custom events and applies them immediately: in one transaction with the event it
// cancels runs, ends waits and starts runs, in this order. The counters of the answer are therefore
// exact, and a run whose first step is a wait already waits.
//
// Waiting requests share a commit. In it, events take effect one after another: a later one can cancel or
// resume what an earlier one started.
//
// An event that no automation listens to is only a row. The others lock each name of their person before
// they read live runs, so that of two events of one person the second sees the effects of the first.
package ingest
