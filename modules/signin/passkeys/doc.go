// Package passkeys keeps the passkeys of people and judges what browsers make of them (WebAuthn Level
// 3): discoverable credentials with user verification, which count as both factors.
//
// A challenge is not stored: the browser brings it back sealed, so strangers who ask for thousands
// write no row. One that has let somebody in is stored until it has expired, and lets nobody in again.
package passkeys
