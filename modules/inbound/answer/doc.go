// Package answer composes replies to received emails, and forwarded emails: recipients, subject, thread
// headers, bodies and files. It stores and sends nothing.
package answer
