// Package guessing limits attempts at passwords and codes, and requests for mail that anonymous clients can make. All
// processes share the counters. An [Attempt] names its counters, such as an email from one network, the
// network, and the email. Unknown emails count like known ones.
package guessing
