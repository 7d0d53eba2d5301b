// Package clientip tells where an HTTP request comes from: the address of the client, also behind trusted proxies, and
// whether the client runs on this machine.
//
// The peer's address alone does not prove the latter. A page of a stranger, open in a browser on this machine, can use
// a host name that resolves to 127.0.0.1 (DNS rebinding), and a proxy on this machine forwards requests from anywhere.
// So the Host header and the headers that proxies add count too.
package clientip
