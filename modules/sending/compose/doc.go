// Package compose turns an accepted email into the bytes to send: it loads the email, composes the message,
// inserts the unsubscribe link and tracking, and signs it with DKIM.
//
// An email composed by its sender (submitted over SMTP) keeps its fields and its body byte for byte, except for
// changes by the link and by tracking (relayed.go).
//
// A message is composed once for all recipients of a claim. A heavy one is composed in a spool file under the
// budget of package intake, and the file is released after its last use (heavy_message.go).
//
// This package changes no rows. It uses the network only to read bodies from the object store.
package compose
