// Package ingest accepts custom events and applies them immediately. In the transaction that stores an event,
// it cancels runs, ends waits and starts runs, in this order. The counters of the response are therefore exact,
// and a run whose first step is a wait is already waiting.
//
// Concurrent requests share a commit. Within it, events are applied one after another, so a later event can
// cancel or resume what an earlier one started.
//
// If no automation listens to an event, only its row is stored. For other events, each name of the person is
// locked before live runs are read. Of two events of one person, the second therefore sees the effects of the
// first.
package ingest
