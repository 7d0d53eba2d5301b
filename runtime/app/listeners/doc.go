// Package listeners is the part of the assembly that receives mail over SMTP: the listener for other mail
// servers, the listeners of the relay, and their certificate.
package listeners
