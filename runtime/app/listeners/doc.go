// Package listeners is the part of the assembly that receives mail over SMTP: the listener for other mail
// servers, those of the relay, and their certificate.
package listeners
