// Package listeners is the part of the assembly where mail comes in by SMTP: the listener
// for other mail servers, those of the relay, and the certificate that they show.
package listeners
