// Package guessing bounds how often somebody may try: passwords and codes, and mails that anybody can
// ask for. Attempts count in all processes together, by what an [Attempt] names: an email from one
// network, the network, the email. Those who are not known count as those who are.
package guessing
