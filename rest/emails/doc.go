// Package emails serves the resource emails: sending, single or in batches, reading, rescheduling, and delivery
// states. Other resources that send (package received) share its request body and response.
package emails
