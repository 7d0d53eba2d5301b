// Package linkcheck requests the links of an email that is checked before it is sent, and reports those that do not
// work.
//
// A link is requested with HEAD, which has no effect on a server that follows RFC 9110, and a redirect is not followed.
// The client must be that of package egress, which refuses private addresses. Requests are limited in number, time and
// concurrency, and outside of development only port 443 is used, so that a check cannot scan the ports of a host.
package linkcheck
