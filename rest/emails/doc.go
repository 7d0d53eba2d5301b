// Package emails is the resource emails of the API: sending, alone and in batches, reading,
// rescheduling, and how the delivery of an email goes. Other resources that send
// (package received) share its body and its answer.
package emails
