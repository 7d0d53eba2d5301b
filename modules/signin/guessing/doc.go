// Package guessing limits attempts: at passwords and codes, and requests for mails that anyone can make. All
// processes share the counts, by what an [Attempt] names: an email from one network, the network, the email.
// Unknown emails count like known ones.
package guessing
