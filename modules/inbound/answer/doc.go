// Package answer says what a reply to a received email, or the email that is forwarded, looks like:
// whom it goes to, its subject, its place in the thread, its bodies and files. It stores and sends nothing.
package answer
