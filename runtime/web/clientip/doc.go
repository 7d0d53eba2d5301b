// Package clientip determines the origin of an HTTP request: the address of the client, even behind trusted
// proxies, and whether the client runs on this machine.
//
// The address of the peer alone does not prove the latter. A malicious page in a browser on this machine can
// use a host name that resolves to 127.0.0.1 (DNS rebinding), and a proxy on this machine forwards requests
// from anywhere. So the Host header and the headers added by proxies count as well.
package clientip
