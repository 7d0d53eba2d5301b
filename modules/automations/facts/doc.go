// Package facts turns facts about mail into events: $email.delivered, $email.opened, $email.clicked,
// $email.bounced, $email.received and $contact.unsubscribed. Automations listen to them as to any other event.
//
// If a version of the account listens to such an event, a consumer of the bus stores it in the transaction of
// the bus. Its id is derived from that of the fact, so a repeated fact stores nothing. A task then applies the
// stored events in separate transactions (ingest.ApplyBuiltInEvents), because the bus transaction is shared by
// many facts and must not hold locks on persons.
//
// Each process keeps in memory which accounts have an automation that listens to such events (bus.Interest).
// The facts of all other accounts skip the bus.
package facts
