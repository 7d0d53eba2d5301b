// Package facts makes events of what happens to mail: $email.delivered, $email.opened,
// $email.clicked, $email.bounced, $email.received and $contact.unsubscribed. Automations
// listen to them as to any other event.
//
// A consumer of the bus stores such an event if a version of the account listens to its name,
// in the transaction of the bus. Its id is made of that of the fact, so that a fact that is
// handed out again stores nothing. A task then gives effect to the stored events in
// transactions of their own (ingest.TakeOwn): the locks of persons are no business of the
// bus's transaction, which many facts share.
//
// Each process knows from memory which accounts have an automation that listens to such
// events (bus.Interest). The facts of all others do not even go over the bus.
package facts
