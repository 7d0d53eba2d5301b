// Package facts turns facts about mail into events: $email.delivered, $email.opened, $email.clicked,
// $email.bounced, $email.received and $contact.unsubscribed. Automations listen to them like to any other
// event.
//
// A consumer of the bus stores such an event if a version of the account listens to its name, in the
// transaction of the bus. Its id is derived from that of the fact, so a fact that is delivered again
// stores nothing. A task then applies the stored events in transactions of their own (ingest.TakeOwn),
// because the bus's transaction, which many facts share, must not hold locks on persons.
//
// Each process keeps in memory which accounts have an automation that listens to such events
// (bus.Interest). The facts of all others skip the bus.
package facts
