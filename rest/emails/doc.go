// Package emails serves the resource emails: sending them singly or in batches, reading and rescheduling them, and
// their delivery states. Other resources that send (package received) share its request body and response.
package emails
