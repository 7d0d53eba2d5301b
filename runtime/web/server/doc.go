// Package server serves HTTP to untrusted clients: it limits clients that do not send or read, shares
// connections fairly among networks, lets requests finish when it stops, and writes Server-Sent Events (HTML
// Living Standard, section 9.2) as long as the client reads them.
package server
